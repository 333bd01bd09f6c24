/**
 * Converts the HTML of an email to plain text. Invisible content is left out, and links keep their address. Liquid is kept, so that the
 * text is converted once and rendered for each user: outputs stay in their place, and other tags are kept even from comments and
 * attributes, because they affect the text too.
 */
import { compile, type DomNode, type FormatCallback } from 'html-to-text'
import { isLiquid } from '../liquid/liquid.ts'
import { trimEndMatching } from '../text.ts'
import { type MaskedText, maskLiquid, maskNothing } from './liquid-mask.ts'
import { BLOCKS, reduceHtml } from './reduce-html.ts'

/** Tags that quote the words between them. They are left out, because every word is written as it is. */
const QUOTING = new Set(['raw', 'endraw'])

// Items of ordered lists have a dash too, because items that a loop repeats would all have the same number.
const formatBlock: FormatCallback = (element, walk, builder) => {
  const name = element.name ?? ''
  builder.openBlock({ leadingLineBreaks: lineBreaksBefore(element), isPre: name === 'pre' })
  walk(element.children, builder)
  builder.closeBlock({
    trailingLineBreaks: BLOCKS.get(name) ?? 0,
    blockTransform: name === 'li' ? (text) => `- ${text}` : undefined,
  })
}

/** The line breaks of all blocks that begin here. The converter would use those of the innermost only. */
function lineBreaksBefore(element: DomNode): number {
  const breaks = BLOCKS.get(element.name ?? '') ?? 0
  const { parent } = element
  const first = parent?.children.find(({ type, data }) => type !== 'text' || /[^ \t\r\n\f]/.test(data ?? ''))
  return parent && first === element ? Math.max(breaks, lineBreaksBefore(parent)) : breaks
}

const textOf = compile({
  wordwrap: false,
  whitespaceCharacters: ' \t\r\n\f',
  formatters: { formatBlock },
  selectors: [...[...BLOCKS.keys()].map((selector) => ({ selector, format: 'formatBlock' }))],
})

/**
 * Returns plain text with `\n` between lines, at most one empty line in a row, and `(address)` after links. `html` must be valid Liquid,
 * and so is the result.
 */
export function plainTextOf(html: string): string {
  const masked = maskLiquid(html)
  const text = unmasked(masked, converted(masked))
  if (isLiquid(text)) return text
  // Part of a condition was in an address that is left out. The text without its conditions is better than no text.
  const withoutTags = masked.text.replace(masked.placeholder, (word, number: string) =>
    masked.pieces[Number(number)]?.name === null ? word : '',
  )
  const all = unmasked(masked, converted({ ...masked, text: withoutTags }))
  return isLiquid(all) ? all : ''
}

/** Returns the plain text of HTML that is no template, and so has no Liquid. */
export const plainTextOfRendered = (html: string): string => converted(maskNothing(html))

/** Masked plain text. */
function converted(masked: MaskedText): string {
  const { html, leading, tightLoops } = reduceHtml(masked)
  const lines = trimmed(
    textOf(html)
      .split('\n')
      .map((line, at, lines) => (at < lines.length - 1 ? trimEndMatching(line, /^[ \t\u00A0\u2007]$/) : line))
      .join('\n')
      .replace(/\n{3,}/g, '\n\n'),
  )
  // A loop repeats the line breaks after its start, so one of the two of an empty line moves before it.
  const tight = lines.replace(new RegExp(`(${masked.placeholder.source})\n\n`, 'g'), (whole, placeholder: string) =>
    tightLoops.has(placeholder) ? `\n${placeholder}\n` : whole,
  )
  return leading + tight
}

/**
 * Restores the Liquid. Words can have braces that would begin Liquid, and did not before their references were decoded and the tags between
 * them left out: these are written by an output.
 */
function unmasked({ unmask, placeholder, pieces }: MaskedText, text: string): string {
  const unquoted = text.replace(placeholder, (word, number: string) => (QUOTING.has(pieces[Number(number)]?.name ?? '') ? '' : word))
  return unmask(unquoted.replace(new RegExp(`\\{(?=[{%]|${placeholder.source})`, 'g'), '{{ "{" }}'))
}

function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && /[ \t\n\u00A0\u2007]/.test(text[from] as string)) from++
  while (from < to && /[ \t\n\u00A0\u2007]/.test(text[to - 1] as string)) to--
  return text.slice(from, to)
}
