/** Limits an LRU cache to a number of entries. Its own option `max` allocates all of them when the cache is created; this one allocates none. */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 })
