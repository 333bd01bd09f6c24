import type { HtmlToken } from '../../lib/markup/html-reader.ts'
import { type MaskedText, piecesIn } from '../../lib/markup/liquid-mask.ts'

/** Elements that a parser puts into the head although no tag of it surrounds them, and whether they have content. */
const HEAD_ELEMENTS: ReadonlyMap<string, boolean> = new Map([
  ['base', false],
  ['link', false],
  ['meta', false],
  ['script', true],
  ['style', true],
  ['title', true],
])

const OPENING = ['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'raw']
/** Tags that print nothing by themselves. */
const SILENT = [...OPENING, ...OPENING.map((name) => `end${name}`), 'else', 'elsif', 'when', 'assign', 'comment', '#']

/**
 * Where the head ends in masked HTML: after the last of the elements at the beginning that belong to it, and outside of the conditions
 * that they are in. The beginning is after the token with this index.
 */
export function headEnds(masked: MaskedText, tokens: readonly HtmlToken[], from: number): number {
  let end = tokens[from]?.end ?? 0
  let [depth, isInside, isPast] = [0, false, false]
  for (const token of tokens.slice(from + 1)) {
    if (token.kind === 'tag') {
      const hasContent = HEAD_ELEMENTS.get(token.name)
      if (hasContent === undefined && token.name !== 'head') break
      isInside = hasContent === true && !token.isEnd
      isPast ||= hasContent !== undefined && !isInside
    } else if (token.kind === 'text' && !isInside) {
      const change = depthOfSilent(masked, masked.text.slice(token.begin, token.end))
      if (change === null || depth + change < 0) break
      depth += change
    }
    if (depth === 0 && isPast) end = token.end
    if (depth === 0) isPast = false
  }
  return end
}

/** How many more blocks of Liquid are open after a text than before; null if the text prints something. */
function depthOfSilent(masked: MaskedText, text: string): number | null {
  const names = piecesIn(masked, text).map((number) => masked.pieces[number]?.name ?? '')
  if (text.replace(masked.placeholder, '').trim() !== '' || !names.every((name) => SILENT.includes(name))) return null
  return names.reduce((depth, name) => depth + (OPENING.includes(name) ? 1 : name.startsWith('end') ? -1 : 0), 0)
}
