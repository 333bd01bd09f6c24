/** A part of a sentence of the server: words, a name in backquotes, or an instant. */
export type SentencePart = { kind: 'words' | 'name' | 'instant'; text: string }

const PARTS = /`([^`]+)`|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)/

/** The parts of a sentence in their order. */
export function partsOf(sentence: string): SentencePart[] {
  const parts: SentencePart[] = []
  let rest = sentence
  for (let found = PARTS.exec(rest); found; found = PARTS.exec(rest)) {
    if (found.index > 0) parts.push({ kind: 'words', text: rest.slice(0, found.index) })
    parts.push(found[1] === undefined ? { kind: 'instant', text: found[0] } : { kind: 'name', text: found[1] })
    rest = rest.slice(found.index + found[0].length)
  }
  return rest === '' ? parts : [...parts, { kind: 'words', text: rest }]
}
