/** Changes in SQL. The SQL is split into words and brackets, which is enough to find clauses and conditions. */

/** A change: the text from `start` to `end` is replaced. */
export type Edit = { kind: string; start: number; end: number; replacement: string }

type Word = { text: string; start: number; end: number; depth: number }

/** The text between two positions. */
type Range = { start: number; end: number }

/** The changes of a `sql` template. `holes` are the positions of its `${}`, each of which counts as a word. */
export function editsOfSql(text: string, holes: Range[]): Edit[] {
  const words = wordsOf(masked(text, holes))
  const regions = [...clausesOf(words), ...bracketsOf(words), ...fragmentOf(words)]
  return [
    ...regions.flatMap(({ first, last, keyword }) => dropsOf(text, words.slice(first, last), keyword)),
    ...words.flatMap((_, at) => WORD_MAKERS.flatMap((make) => make(words, at, text))),
  ]
}

/** Replaces each hole and each quoted text with one word of the same length. */
function masked(text: string, holes: Range[]): string {
  let result = text
  for (const { start, end } of holes) result = result.slice(0, start) + 'p'.repeat(end - start) + result.slice(end)
  return result.replace(/'[^']*'/g, (quoted) => `'${'q'.repeat(quoted.length - 2)}'`)
}

/** The words, with their depth in brackets and in `case … end`. */
function wordsOf(text: string): Word[] {
  let depth = 0
  return [...text.matchAll(/'q*'|[a-z_][\w.]*|\d[\d.]*|::|[-<>=!@#|&?+*/%~^]+|\S/gi)].map(({ 0: word, index }) => {
    const lower = word.toLowerCase()
    if (lower === ')' || lower === 'end') depth--
    const found = { text: lower, start: index, end: index + word.length, depth }
    if (lower === '(' || lower === 'case') depth++
    return found
  })
}

type Region = { first: number; last: number; keyword: string }

const CLAUSES = new Set(['where', 'on', 'having', 'when'])
const ENDS = new Set(
  'group order limit offset returning for on where having union except intersect window join cross inner full set then do'.split(' '),
)

/** The conditions after `where`, `on`, `having` and `when`, as positions of words. */
function clausesOf(words: Word[]): Region[] {
  return words.flatMap(({ text, depth }, at) => {
    const isOther = text === 'on' && (words[at + 1]?.text === 'conflict' || words[at - 1]?.text === 'distinct')
    if (!CLAUSES.has(text) || isOther) return []
    const first = at + 1
    const end = words.findIndex((word, index) => index >= first && (word.depth < depth || (word.depth === depth && isEnd(words, index))))
    return [{ first, last: end === -1 ? words.length : end, keyword: text }]
  })
}

function isEnd(words: Word[], at: number): boolean {
  const { text } = words[at] as Word
  const isSide = text === 'left' || text === 'right'
  return ENDS.has(text) || (isSide && ['join', 'outer'].includes(words[at + 1]?.text ?? ''))
}

const isJunction = ({ text }: Word) => text === 'and' || text === 'or'

/** Brackets that contain only conditions. */
function bracketsOf(words: Word[]): Region[] {
  return words.flatMap(({ text, depth }, at) => {
    if (text !== '(') return []
    const end = words.findIndex((word, index) => index > at && word.depth <= depth)
    const inside = words.slice(at + 1, end).filter((word) => word.depth === depth + 1)
    const isCondition = inside.some(isJunction) && !inside.some((word) => CLAUSES.has(word.text) || word.text === 'select')
    return isCondition ? [{ first: at + 1, last: end, keyword: '' }] : []
  })
}

const STATEMENTS = new Set(['select', 'insert', 'update', 'delete', 'with', 'from', 'where', 'when', 'join', 'set'])

/** A template that is only a condition. */
function fragmentOf(words: Word[]): Region[] {
  const own = words.filter(({ depth }) => depth === 0)
  return own.some(isJunction) && !own.some(({ text }) => STATEMENTS.has(text)) ? [{ first: 0, last: words.length, keyword: '' }] : []
}

/** Removes each part of a condition. A single part is replaced by true, or by false after `when`. */
function dropsOf(text: string, words: Word[], keyword: string): Edit[] {
  const [first] = words
  if (!first) return []
  const parts = partsOf(words)
  const kind = 'condition dropped'
  const [only] = parts
  if (parts.length === 1 && only) return onlyCondition(text, only, keyword)
  return parts.map((part, index) => {
    const [before, next] = [parts[index - 1], parts[index + 1]]
    if (before) return { kind, start: before.end, end: part.end, replacement: '' }
    return { kind, start: part.start, end: next ? next.start : part.end, replacement: '' }
  })
}

function onlyCondition(text: string, { start, end }: Range, keyword: string): Edit[] {
  const condition = text.slice(start, end)
  if (keyword === '' || condition === 'true') return []
  return [{ kind: 'condition dropped', start, end, replacement: keyword === 'when' ? 'false' : 'true' }]
}

/** The parts between `and` and `or`, but not the `and` of a `between`. */
function partsOf(words: Word[]): Range[] {
  const depth = Math.min(...words.map((word) => word.depth))
  const parts: Range[] = []
  let from = 0
  let isBetween = false
  for (const [at, word] of words.entries()) {
    if (word.depth !== depth) continue
    if (word.text === 'between') isBetween = true
    else if (word.text === 'and' && isBetween) isBetween = false
    else if (isJunction(word)) {
      parts.push(rangeOf(words.slice(from, at)))
      from = at + 1
    }
  }
  return [...parts, rangeOf(words.slice(from))]
}

const rangeOf = (words: Word[]): Range => ({ start: words[0]?.start ?? 0, end: words.at(-1)?.end ?? 0 })

type Make = (words: Word[], at: number, text: string) => Edit[]

const COMPARISONS: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '<>': '=' }
const SWAPPED: Record<string, string> = { least: 'greatest', greatest: 'least', min: 'max', max: 'min' }

const word = (words: Word[], at: number): string => words[at]?.text ?? ''

const replaced = (kind: string, from: Word, replacement: string, to: Word = from): Edit => ({
  kind,
  start: from.start,
  end: to.end,
  replacement,
})

/** Removes the words from `at` to `to`, with the space before them. */
const removed = (kind: string, words: Word[], at: number, to: number): Edit => ({
  kind,
  start: words[at - 1]?.end ?? words[at]?.start ?? 0,
  end: words[to]?.end ?? 0,
  replacement: '',
})

const comparisons: Make = (words, at) => {
  const own = words[at] as Word
  const replacement = COMPARISONS[own.text]
  return replacement ? [replaced('boundary', own, replacement)] : []
}

const negations: Make = (words, at) => {
  const own = words[at] as Word
  const next = words[at + 1]
  if (own.text === 'is' && next?.text === 'null') return [replaced('negated', next, 'not null')]
  if (own.text !== 'not' || !next || next.text === 'materialized') return []
  return [{ kind: 'negation removed', start: own.start, end: next.start, replacement: '' }]
}

const literals: Make = (words, at) => {
  const own = words[at] as Word
  if (own.text === 'true') return [replaced('literal', own, 'false')]
  if (own.text === 'false') return [replaced('literal', own, 'true')]
  const isAnyNumber = ['select', 'by', 'limit', '.'].includes(word(words, at - 1))
  return /^\d+$/.test(own.text) && !isAnyNumber ? [replaced('literal', own, String(Number(own.text) + 1))] : []
}

const sums: Make = (words, at) => {
  const own = words[at] as Word
  const isSum = (own.text === '+' || own.text === '-') && /[\w.)']$/.test(word(words, at - 1))
  return isSum ? [replaced('arithmetic', own, own.text === '+' ? '-' : '+')] : []
}

const functions: Make = (words, at, text) => {
  const own = words[at] as Word
  if (word(words, at + 1) !== '(') return []
  const swapped = SWAPPED[own.text]
  if (swapped) return [replaced('function', own, swapped)]
  if (own.text !== 'coalesce') return []
  const items = itemsOf(words, at + 2, own.depth + 1)
  const close = words.find(({ depth, start }) => start > own.start && depth === own.depth && start > (items.at(-1)?.end ?? 0) - 1)
  return close ? items.map((item) => replaced('default', own, text.slice(item.start, item.end), close)) : []
}

/** The comma-separated items from a word to the end of the list. */
function itemsOf(words: Word[], first: number, depth: number, ends: readonly string[] = []): Range[] {
  const items: Range[] = []
  let from = first
  for (let at = first; at <= words.length; at++) {
    const own = words[at]
    const isOver = !own || own.depth < depth || (own.depth === depth && ends.includes(own.text))
    const isComma = own?.depth === depth && own.text === ','
    if (!isOver && !isComma) continue
    if (at > from) items.push(rangeOf(words.slice(from, at)))
    from = at + 1
    if (isOver) break
  }
  return items
}

/** Removes each item with one comma, if there are several. */
const eachLeftOut = (kind: string, items: Range[]): Edit[] =>
  items.flatMap((item, index) => {
    const [before, next] = [items[index - 1], items[index + 1]]
    if (before) return [{ kind, start: before.end, end: item.end, replacement: '' }]
    return next ? [{ kind, start: item.start, end: next.start, replacement: '' }] : []
  })

const lists: Make = (words, at) => {
  const own = words[at] as Word
  if (own.text === 'set') return eachLeftOut('assignment dropped', itemsOf(words, at + 1, own.depth, ['from', 'where', 'returning']))
  const isOfTexts = own.text === 'in' && word(words, at + 1) === '(' && word(words, at + 2).startsWith("'")
  return isOfTexts ? eachLeftOut('value dropped', itemsOf(words, at + 2, own.depth + 1)) : []
}

const NO_TERM = new Set([')', ',', 'limit', 'offset', 'for', 'returning', 'rows', 'nulls', 'asc', 'desc'])

const orders: Make = (words, at) => {
  const own = words[at] as Word
  if (own.text === 'desc') return [removed('order', words, at, at)]
  if (own.text !== 'by' || word(words, at - 1) !== 'order') return []
  const found = words.findIndex(
    (next, index) => index > at && (next.depth < own.depth || (next.depth === own.depth && NO_TERM.has(next.text))),
  )
  const end = found === -1 ? words.length : found
  const last = words[end - 1] as Word
  return word(words, end) === 'desc' ? [] : [{ kind: 'order', start: last.end, end: last.end, replacement: ' desc' }]
}

const LOCKS = new Set(['update', 'share', 'key', 'no'])
const OF_LOCKS = /^(update|share|key|no|of|nowait|skip|locked|[a-z_]\w*)$/

const locks: Make = (words, at) => {
  const own = words[at] as Word
  if (own.text === 'skip' && word(words, at + 1) === 'locked') return [removed('lock', words, at, at + 1)]
  if (own.text !== 'for' || !LOCKS.has(word(words, at + 1))) return []
  const end = words.findIndex(({ text, depth }, index) => index > at && (depth < own.depth || !OF_LOCKS.test(text) || text === 'on'))
  return [removed('lock', words, at, (end === -1 ? words.length : end) - 1)]
}

const clauses: Make = (words, at) => {
  const own = words[at] as Word
  const next = words[at + 1]
  if (own.text === 'limit' && next) return [replaced('limit', next, 'all', lastOfLimit(words, at))]
  if (own.text === 'left' && next?.text === 'join') return [removed('outer join', words, at, at)]
  if (own.text === 'distinct' && next?.text !== 'on' && next?.text !== 'from') return [removed('distinct', words, at, at)]
  const nothing = words.findIndex(({ text, depth }, index) => index > at && depth === own.depth && text === 'nothing')
  if (own.text === 'on' && next?.text === 'conflict' && nothing !== -1) return [removed('conflict', words, at, nothing)]
  return []
}

/** A limit is one word, or a function with its arguments. */
const lastOfLimit = (words: Word[], at: number): Word => {
  const own = words[at] as Word
  const end = words.findIndex(({ depth }, index) => index > at + 1 && depth <= own.depth)
  return word(words, at + 1) === '(' && end !== -1 ? (words[end] as Word) : (words[at + 1] as Word)
}

const WORD_MAKERS = [comparisons, negations, literals, sums, functions, lists, orders, locks, clauses]
