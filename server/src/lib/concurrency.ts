/**
 * Does the work for every item, at most `atOnce` at a time, and answers in the order of the items.
 * When some of it throws, the rest is finished before the first error is thrown on.
 */
export async function mapWithConcurrency<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: PromiseSettledResult<R>[] = []
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) [results[index]] = (await Promise.allSettled([work(item)])) as [PromiseSettledResult<R>]
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
