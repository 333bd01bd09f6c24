/** Groups of what belongs together. */

/** The group of each item, as the index of one of its items: items that share a key, directly or through others, are in one group. */
export function groupsOf(keys: string[][]): number[] {
  const parents = keys.map((_, index) => index)
  const root = (index: number): number => {
    let at = index
    while (parents[at] !== at) {
      parents[at] = parents[parents[at] as number] as number
      at = parents[at] as number
    }
    return at
  }
  const firstWith = new Map<string, number>()
  for (const [index, own] of keys.entries()) {
    for (const key of own) {
      const first = firstWith.get(key)
      if (first === undefined) firstWith.set(key, index)
      else parents[root(index)] = root(first)
    }
  }
  return keys.map((_, index) => root(index))
}
