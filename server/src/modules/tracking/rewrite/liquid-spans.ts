/** Where Liquid stands in a text, by the rules of the engine: only what is outside of it is markup. */

/** Where the Liquid that begins at `at` ends, or -1 when none begins there. Asked from left to right. */
export type LiquidSpans = (at: number) => number

const TAG_NAME = /\{%-?\s{0,100}(\w*)/y
const END_OF_COMMENT = /\{%-?\s{0,100}endcomment\s{0,100}-?%\}/g
const END_OF_RAW = /\{%-?\s{0,100}endraw\s{0,100}-?%\}/g

/** The spans of one text. What is never closed is no Liquid: the engine refuses such a template. */
export function liquidSpans(text: string): LiquidSpans {
  // Within `raw` braces are text.
  let rawUntil = 0
  // Looked for once: a text full of braces that nobody closes must not cost its length for each.
  const unclosed = { output: false, tag: false, comment: false, raw: false }

  const outputEnd = (at: number) => {
    if (unclosed.output) return -1
    const end = endOfOutput(text, at + 2)
    unclosed.output = end < 0
    return end
  }
  const tagEnd = (at: number) => {
    const delimiter = unclosed.tag ? -1 : text.indexOf('%}', at + 2)
    unclosed.tag ||= delimiter < 0
    if (delimiter < 0) return -1
    TAG_NAME.lastIndex = at
    const name = TAG_NAME.exec(text)?.[1]
    const end = delimiter + 2
    if (name !== 'comment' && name !== 'raw') return end
    const close = unclosed[name] ? undefined : next(name === 'raw' ? END_OF_RAW : END_OF_COMMENT, text, end)
    unclosed[name] ||= close === undefined
    if (name === 'raw') rawUntil = close?.start ?? end
    return name === 'comment' && close ? close.end : end
  }
  return (at) => {
    if (text[at] !== '{' || at < rawUntil) return -1
    if (text[at + 1] === '{') return outputEnd(at)
    return text[at + 1] === '%' ? tagEnd(at) : -1
  }
}

function next(pattern: RegExp, text: string, from: number): { start: number; end: number } | undefined {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found ? { start: found.index, end: pattern.lastIndex } : undefined
}

/** Strings in an output may hold what would close it; in a tag they may not. */
function endOfOutput(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || character === "'") at = endOfString(text, at)
    else if (character === '}' && text[at + 1] === '}') return at + 2
  }
  return -1
}

/** Where the closing quote is, or the end of the text. */
function endOfString(text: string, from: number): number {
  const quote = text[from]
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at
  }
  return text.length
}
