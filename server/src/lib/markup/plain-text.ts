/**
 * The plain text of an email that came without one, made from its HTML. What is not shown is left out, and links keep their address.
 * Liquid stays as it is, so that the text is made once and rendered for every user: outputs stay in their place, and every other tag
 * is kept, also out of comments and attributes, because what it decides applies to the text too.
 */
import { compile, type DomNode, type FormatCallback } from 'html-to-text'
import { hasLiquid, LiquidError, parseTemplate } from '../liquid.ts'
import { type MaskedText, maskLiquid } from './liquid-mask.ts'
import { BLOCKS, reduceHtml } from './reduce-html.ts'

/** Tags without which the text between them would be Liquid. */
const QUOTING = new Set(['raw', 'endraw', 'comment'])

// Items of ordered lists have a dash too: one that a loop repeats would have the same number each time.
const formatBlock: FormatCallback = (element, walk, builder) => {
  const name = element.name ?? ''
  builder.openBlock({ leadingLineBreaks: lineBreaksBefore(element), isPre: name === 'pre' })
  walk(element.children, builder)
  builder.closeBlock({
    trailingLineBreaks: BLOCKS.get(name) ?? 0,
    blockTransform: name === 'li' ? (text) => `- ${text}` : undefined,
  })
}

/** Of all blocks that begin here: for the converter it would be those of the innermost. */
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
  selectors: [
    ...[...BLOCKS.keys()].map((selector) => ({ selector, format: 'formatBlock' })),
    { selector: 'a', options: { linkBrackets: ['(', ')'], hideLinkHrefIfSameAsText: true } },
  ],
})

/**
 * Plain text with `\n` between lines and at most one empty line in a row; linked words are followed by `(address)`.
 * `html` must be Liquid, and so is the answer.
 */
export function plainTextOf(html: string): string {
  const masked = maskLiquid(html)
  const text = converted(masked)
  if (!hasLiquid(html) || isLiquid(text)) return text
  // Half of a condition was in an address that is not shown. Better all of the text than none.
  const withoutTags = masked.text.replace(masked.placeholder, (word, number: string) => {
    const name = masked.pieces[Number(number)]?.name ?? null
    return name === null || QUOTING.has(name) ? word : ''
  })
  const all = converted({ ...masked, text: withoutTags })
  return isLiquid(all) ? all : ''
}

function isLiquid(text: string): boolean {
  try {
    parseTemplate(text, { escape: false })
    return true
  } catch (error) {
    if (error instanceof LiquidError) return false
    throw error
  }
}

function converted(masked: MaskedText): string {
  const { html, leading, tightLoops } = reduceHtml(masked)
  const lines = trimmed(
    textOf(html)
      .replace(/(?<![ \t])[ \t]+\n/g, '\n')
      .replace(/\n{3,}/g, '\n\n'),
  )
  // What a loop begins with is repeated: half of an empty line behind it is moved in front of it.
  const tight = lines.replace(new RegExp(`(${masked.placeholder.source})\n\n`, 'g'), (whole, placeholder: string) =>
    tightLoops.has(placeholder) ? `\n${placeholder}\n` : whole,
  )
  return masked.unmask(leading + tight)
}

function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && /[ \t\n]/.test(text[from] as string)) from++
  while (from < to && /[ \t\n]/.test(text[to - 1] as string)) to--
  return text.slice(from, to)
}
