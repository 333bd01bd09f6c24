/**
 * Runs `work` for every item, at most `limit` at a time. The results are in the order of the items.
 * If a call rejects, the others still finish, and then the first error is thrown.
 */
export async function mapWithConcurrency<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: PromiseSettledResult<R>[] = []
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) [results[index]] = (await Promise.allSettled([work(item)])) as [PromiseSettledResult<R>]
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
