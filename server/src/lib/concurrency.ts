/**
 * Runs `work` for every item, at most `limit` at a time. The results are in the order of the items.
 * If a call rejects, the others still finish, and then the first error is thrown.
 */
export async function mapWithConcurrency<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = Array.from<R>({ length: items.length })
  const failures: { index: number; error: unknown }[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      try {
        results[index] = await work(items[index] as T)
      } catch (error) {
        failures.push({ index, error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  const [first] = failures.sort((a, b) => a.index - b.index)
  if (first) throw first.error
  return results
}
