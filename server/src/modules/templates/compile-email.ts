/** Compiles an email when it is saved: MJML to HTML, the preheader, the plain text. */
import type { Fault } from '../../lib/errors.ts'
import { readHtml } from '../../lib/markup/html-reader.ts'
import { maskLiquid } from '../../lib/markup/liquid-mask.ts'
import { plainTextOf } from '../../lib/markup/plain-text.ts'
import { compileMjml } from './mjml/compile-mjml.ts'

type Mail = { html?: string; mjml?: string; text?: string; preheader?: string }
type CompiledMail = { html: string; text: string }

/** Compiles an email. Never throws for a checked template. */
export async function compileEmail(mail: Mail): Promise<{ compiled: CompiledMail } | { faults: Fault[] }> {
  if (mail.mjml === undefined) return { compiled: compileHtml({ ...mail, html: mail.html ?? '' }) }
  const made = await compileMjml(mail.mjml)
  return 'faults' in made ? made : { compiled: compileHtml({ ...mail, html: made.html }) }
}

/** Compiles an email whose body is HTML. */
export const compileHtml = ({ html, text, preheader }: Mail & { html: string }): CompiledMail => ({
  html: withPreheader(html, preheader ?? ''),
  text: text || plainTextOf(html),
})

/** Mail programs show the first words of an email beside its subject. The preheader is put there, hidden in the email itself. */
function withPreheader(html: string, preheader: string): string {
  if (preheader.trim() === '') return html
  const words = maskLiquid(preheader)
  const escaped = words.unmask(words.text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`))
  const hidden = `<div style="display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all">${escaped}</div>`
  const masked = maskLiquid(html)
  const before = readHtml(masked).find(
    (token) => token.kind === 'tag' && ((token.name === 'body' && !token.isEnd) || (token.name === 'head' && token.isEnd)),
  )
  const at = before ? masked.sourceOffset(before.end) : 0
  return html.slice(0, at) + hidden + html.slice(at)
}
