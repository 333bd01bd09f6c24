/**
 * Liquid inside markup. Readers of markup know nothing of Liquid, and Liquid contains what means something to them: quotes, `<`.
 * So every tag is replaced by a word that means nothing to anybody, and put back when the markup was read or rewritten.
 */
import { type LiquidTag, liquidTags } from '../../../lib/liquid.ts'

export type Shielded = {
  /** The text with a mark in place of each Liquid tag. */
  text: string
  tags: LiquidTag[]
  /** Matches any mark; its group is the number of the tag. */
  mark: RegExp
  /** Puts the tags back. */
  restore(text: string): string
  /** The line of the original on which a line of `text` begins: tags of several lines have become words. */
  lineOf(line: number): number
}

/** Replaces the tags of a text that is Liquid. */
export function maskLiquid(text: string): Shielded {
  const tags = liquidTags(text)
  const prefix = unusedPrefix(text)
  let shielded = ''
  let at = 0
  tags.forEach((tag, number) => {
    shielded += `${text.slice(at, tag.begin)}${prefix}${number}z`
    at = tag.end
  })
  const mark = new RegExp(`${prefix}(\\d+)z`, 'g')
  return {
    text: shielded + text.slice(at),
    tags,
    mark,
    restore: (text) => text.replace(mark, (_, number: string) => tags[Number(number)]?.text ?? ''),
    lineOf: lineMap(tags),
  }
}

// Lower case, because readers of markup change the case of some names.
function unusedPrefix(text: string): string {
  const lower = text.toLowerCase()
  let prefix = 'lqtag'
  for (let number = 0; lower.includes(prefix); number++) prefix = `lq${number.toString(36)}tag`
  return `${prefix}x`
}

function lineMap(tags: LiquidTag[]): (line: number) => number {
  const tall = tags.flatMap(({ text, line }) => {
    const height = text.split('\n').length - 1
    return height > 0 ? [{ line, height }] : []
  })
  return (line) => {
    let original = line
    for (const tag of tall) if (tag.line < original) original += tag.height
    return original
  }
}

/** The numbers of the tags whose marks stand in a piece of shielded text, in order. */
export const marksIn = ({ mark }: Pick<Shielded, 'mark'>, text: string): number[] =>
  [...text.matchAll(mark)].map(([, number]) => Number(number))
