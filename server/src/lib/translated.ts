/** Texts of a reply in another language, by a table of the English ones. Pure. */

/** English texts with their translation. */
export type Translations = Readonly<Record<string, string>>

/** The members that are texts for people: of kinds, and of the JSON Schemas of their settings. */
const TEXTS = new Set(['label', 'description', 'title', 'sentence'])
/** What is data, whatever its members are called. */
const DATA = new Set(['example', 'examples', 'default', 'const', 'enum'])

/** A copy of JSON with its texts for people translated. A text that the table lacks stays. */
export function translated<T>(value: T, table: Translations): T {
  if (Array.isArray(value)) return value.map((one) => translated(one, table)) as T
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => {
    if (DATA.has(name)) return [name, member]
    if (typeof member === 'string' && TEXTS.has(name)) return [name, Object.hasOwn(table, member) ? table[member] : member]
    return [name, translated(member, table)]
  })
  return Object.fromEntries(members) as T
}
