const ENTRIES_MAX = 2000

/** The function, with its results for the last texts cached. For slow lookups that are repeated for every row of an import. */
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
