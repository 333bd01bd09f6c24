const ENTRIES_MAX = 2000

/** The function, which remembers what it found for the last texts. For lookups that take long and come again for every row of an import. */
export function knownTexts<T>(find: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined || known.has(text)) return found as T
    if (known.size >= ENTRIES_MAX) known.clear()
    const result = find(text)
    known.set(text, result)
    return result
  }
}
