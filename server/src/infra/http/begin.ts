/** Parts whose first one was read. Callers that do not read the rest must call `return`. */
type Begun<T> = {
  [Symbol.asyncIterator](): Begun<T>
  next(): Promise<IteratorResult<T, undefined>>
  return(): Promise<IteratorResult<T, undefined>>
}

/** Reads the first part before returning, so that an early failure can still be sent as an error reply. */
export async function begin<T>(parts: AsyncIterable<T>): Promise<Begun<T>> {
  const iterator = parts[Symbol.asyncIterator]()
  let first: IteratorResult<T, undefined> | undefined = await iterator.next()
  const begun: Begun<T> = {
    [Symbol.asyncIterator]: () => begun,
    async next() {
      const given = first
      first = undefined
      return given ?? iterator.next()
    },
    async return() {
      await iterator.return?.()
      return { done: true, value: undefined }
    },
  }
  return begun
}
