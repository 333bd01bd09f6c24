/** Divides the messages of a provider into slices, which are rendered and sent one after the other. */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../../lib/cache-limit.ts'

const SLICE_MESSAGES = 100
/** What the rendered messages of a slice take at most, as far as is known from the ones before. */
const SLICE_BYTES_MAX = 8_000_000
/** So many are in a slice whose template has not been rendered yet. */
const SLICE_MESSAGES_UNKNOWN = 10
const TEMPLATES_MAX = 10_000

export type SliceSizes = {
  /** How many messages of these templates, from the first one, are the next slice. */
  lengthOf(templates: Iterable<number>): number
  /** Records how large the messages of a template are. */
  record(template: number, bytes: number): void
}

export function createSliceSizes(): SliceSizes {
  const known = new LRUCache<number, number>(atMost(TEMPLATES_MAX))
  return {
    lengthOf(templates) {
      let [length, bytes] = [0, 0]
      for (const template of templates) {
        bytes += known.get(template) ?? SLICE_BYTES_MAX / SLICE_MESSAGES_UNKNOWN
        if (length === SLICE_MESSAGES || (length > 0 && bytes > SLICE_BYTES_MAX)) break
        length++
      }
      return length
    },
    // A large message shrinks the slices at once, small ones let them grow again.
    record: (template, bytes) => void known.set(template, Math.max(bytes, Math.floor((known.get(template) ?? 0) * SHRINK))),
  }
}

const SHRINK = 0.9

/** Cuts `items` into slices, one at a time, so that the length of each slice depends on the memory that earlier messages took. */
export function* slicesOf<T>(items: readonly T[], sizes: SliceSizes, templateOf: (item: T) => number): Generator<T[], void> {
  for (let from = 0; from < items.length; ) {
    const length = sizes.lengthOf(items.slice(from, from + SLICE_MESSAGES).map(templateOf))
    yield items.slice(from, from + length)
    from += length
  }
}
