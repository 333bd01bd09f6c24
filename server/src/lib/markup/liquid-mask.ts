/**
 * Masks Liquid inside markup. Parsers of markup do not know Liquid, which contains characters with a meaning in markup, such as quotes and
 * `<`. So each piece of Liquid is replaced by a placeholder and restored afterwards.
 */
import { LiquidError, type LiquidTag, liquidTags } from '../liquid/liquid.ts'

export type MaskedText = {
  /** The text with a placeholder for each piece of Liquid. */
  text: string
  /** The replaced pieces by the number in their placeholder. A comment is one piece with its content. */
  pieces: LiquidTag[]
  /** Matches any placeholder. The group is its number. */
  placeholder: RegExp
  /** Restores the Liquid in the text, or in text that was derived from it. */
  unmask(text: string): string
  /** Maps a position of `text` to the source. */
  sourceOffset(at: number): number
  /** Maps a line of `text` to the source, because a placeholder can stand for Liquid of several lines. */
  sourceLine(line: number): number
}

/** Masks the Liquid of a text. Throws `LiquidError` if it is invalid. */
export const maskLiquid = (text: string): MaskedText => masked(text, piecesOf(text))

/** Masks nothing, for text that is no template: braces in what was rendered are words. */
export const maskNothing = (text: string): MaskedText => masked(text, [])

/** Masks the Liquid of unchecked text. Masks nothing if the Liquid is invalid. */
export function maskValidLiquid(text: string): MaskedText {
  try {
    return maskLiquid(text)
  } catch (error) {
    if (error instanceof LiquidError) return maskNothing(text)
    throw error
  }
}

/** The numbers of the placeholders in a piece of masked text, in order. */
export const piecesIn = ({ placeholder }: Pick<MaskedText, 'placeholder'>, text: string): number[] =>
  [...text.matchAll(placeholder)].map(([, number]) => Number(number))

/** The tags as the engine reads them. It ignores the content of comments. */
function piecesOf(text: string): LiquidTag[] {
  const pieces: LiquidTag[] = []
  let comment: LiquidTag | null = null
  for (const tag of liquidTags(text)) {
    if (comment === null) {
      if (tag.name === 'comment') comment = tag
      else pieces.push(tag)
    } else if (tag.name === 'endcomment') {
      pieces.push({ ...comment, text: text.slice(comment.begin, tag.end), end: tag.end })
      comment = null
    }
  }
  if (comment !== null) throw new LiquidError(new Error('tag comment not closed'))
  return pieces
}

function masked(source: string, pieces: LiquidTag[]): MaskedText {
  const prefix = unusedPrefix(source)
  const ends: number[] = []
  let text = ''
  let at = 0
  for (const [number, { begin, end }] of pieces.entries()) {
    text += `${source.slice(at, begin)}${prefix}${number}z`
    ends.push(text.length)
    at = end
  }
  const placeholder = new RegExp(`${prefix}(\\d+)z`, 'g')
  return {
    text: text + source.slice(at),
    pieces,
    placeholder,
    unmask: (text) => text.replace(placeholder, (word, number: string) => pieces[Number(number)]?.text ?? word),
    sourceOffset: offsetMap(pieces, ends),
    sourceLine: lineMap(pieces),
  }
}

/**
 * The start of placeholders. It is no letter, because `<{{ x }}` is not a tag, and no digit, because a converter might read a number. It is
 * in lower case, because parsers of markup change the case of names.
 */
function unusedPrefix(text: string): string {
  const used = new Set([...text.matchAll(/_lq(\d+)tag/gi)].map(([, number]) => Number(number)))
  let number = 0
  while (used.has(number)) number++
  return `_lq${number}tag`
}

/** `ends` are the ends of the placeholders. */
function offsetMap(pieces: LiquidTag[], ends: number[]): (at: number) => number {
  return (at) => {
    let [before, after] = [-1, ends.length]
    while (after - before > 1) {
      const middle = (before + after) >> 1
      if ((ends[middle] as number) <= at) before = middle
      else after = middle
    }
    return before === -1 ? at : at - (ends[before] as number) + (pieces[before] as LiquidTag).end
  }
}

function lineMap(pieces: LiquidTag[]): (line: number) => number {
  const tall = pieces.flatMap(({ text, line }) => {
    const height = text.split('\n').length - 1
    return height > 0 ? [{ line, height }] : []
  })
  return (line) => {
    let original = line
    for (const piece of tall) if (piece.line < original) original += piece.height
    return original
  }
}
