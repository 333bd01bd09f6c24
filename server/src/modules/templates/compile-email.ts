/** Compiles an email when it is saved: MJML to HTML, its language, the preheader, the plain text (D-TPL-2). */
import type { Fault } from '../../lib/errors.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { encodeAttribute } from '../../lib/markup/attribute-text.ts'
import { type HtmlTag, type HtmlToken, readHtml } from '../../lib/markup/html-reader.ts'
import { type MaskedText, maskLiquid } from '../../lib/markup/liquid-mask.ts'
import { plainTextOf } from '../../lib/markup/plain-text.ts'
import { headEnds } from './head-end.ts'
import { compileMjml } from './mjml/compile-mjml.ts'

type Mail = { html?: string; mjml?: string; text?: string; preheader?: string }
type CompiledMail = { html: string; text: string }

/** Compiles an email in a locale. Never throws for a checked template. */
export async function compileEmail(mail: Mail, locale: string): Promise<{ compiled: CompiledMail } | { faults: Fault[] }> {
  if (mail.mjml === undefined) return { compiled: compileHtml({ ...mail, html: mail.html ?? '' }, locale) }
  const made = await compileMjml(withLanguage(mail.mjml, 'mjml', locale))
  return 'faults' in made ? made : { compiled: compileHtml({ ...mail, html: made.html }, locale) }
}

/** Compiles an email whose body is HTML. */
export const compileHtml = ({ html, text, preheader }: Mail & { html: string }, locale: string): CompiledMail => ({
  html: withPreheader(withLanguage(html, 'html', locale), preheader ?? ''),
  text: text || plainTextOf(html),
})

const UNDETERMINED = ['', 'und']

/**
 * Sets `lang` on the root elements that have none, which screen readers and translators need. HTML without a root element gets one. It has
 * no other tags, so that a `style` at the beginning stays where mail programs look for it: in the head, which a parser opens for it.
 */
function withLanguage(text: string, root: 'html' | 'mjml', locale: string): string {
  const masked = maskLiquid(text)
  const lang = ` lang="${encodeAttribute(normaliseLocale(locale))}"`
  const roots = startTagsOf(masked, root)
  if (roots.length === 0 && root === 'html') {
    const doctype = doctypeOf(masked)
    const at = doctype ? masked.sourceOffset(doctype.end) : 0
    return edited(text, [{ begin: at, end: at, text: `<html${lang}>` }])
  }
  return edited(
    text,
    roots.flatMap((tag): Edit[] => {
      const own = tag.attributes.find(({ name }) => name === 'lang')
      const afterName = masked.sourceOffset(tag.begin + '<'.length + root.length)
      if (!own) return [{ begin: afterName, end: afterName, text: lang }]
      if (!UNDETERMINED.includes(own.value.trim())) return []
      return [{ begin: masked.sourceOffset(own.begin), end: masked.sourceOffset(own.end), text: lang.trimStart() }]
    }),
  )
}

/** So that the preview in an inbox shows no words of the body after a short preheader. Mail programs show up to about 200 characters. */
const PADDING = '&#847;&zwnj;&nbsp;'.repeat(150)

/** Mail programs show the first words of the body beside the subject. The preheader is put there, hidden in the email itself. */
function withPreheader(html: string, preheader: string): string {
  if (preheader.trim() === '') return html
  const words = maskLiquid(preheader)
  const escaped = words.unmask(words.text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`))
  const hidden = `<div style="display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all">${escaped}${PADDING}</div>`
  return edited(
    html,
    bodyBegins(maskLiquid(html)).map((at) => ({ begin: at, end: at, text: hidden })),
  )
}

/** Where the body begins: after its start tags, of which a condition can have several, or else where a parser would open it. */
function bodyBegins(masked: MaskedText): number[] {
  const bodies = startTagsOf(masked, 'body')
  if (bodies.length > 0) return bodies.map(({ end }) => masked.sourceOffset(end))
  const tokens = readHtml(masked)
  const isTag = (name: string, isEnd: boolean) => (token: HtmlToken) => token.kind === 'tag' && token.name === name && token.isEnd === isEnd
  const headEnd = tokens.findIndex(isTag('head', true))
  return [masked.sourceOffset(headEnds(masked, tokens, headEnd === -1 ? tokens.findIndex(isTag('html', false)) : headEnd))]
}

const doctypeOf = (masked: MaskedText) =>
  readHtml(masked).find((token) => token.kind === 'comment' && /^<!doctype/i.test(masked.text.slice(token.begin, token.end)))

const startTagsOf = (masked: MaskedText, name: string): HtmlTag[] =>
  readHtml(masked).filter((token): token is HtmlTag => token.kind === 'tag' && token.name === name && !token.isEnd)

type Edit = { begin: number; end: number; text: string }

/** The text with these edits, which are in order. */
function edited(text: string, edits: Edit[]): string {
  let [result, at] = ['', 0]
  for (const edit of edits) {
    result += text.slice(at, edit.begin) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}
