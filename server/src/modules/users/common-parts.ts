/**
 * The trigram index takes time for each part of a term that many users have: to find the email address of one among a million users, it would read
 * the entries of `exa`, `com` and the like, each with a million users. Only the parts that few have are looked up in it: a tenth of a second becomes a few
 * milliseconds.
 */

/** Each part is counted in the sample. Without the others of a long term, the index only finds more to be checked. */
const PARTS_MAX = 48

const LENGTH = 3

/** The parts of a term that the index has entries for, in lower case. */
export const indexedParts = (q: string): string[] => [...new Set(partsOf(q).map(({ part }) => part))].slice(0, PARTS_MAX)

function partsOf(q: string): { part: string; at: number }[] {
  const lower = q.toLowerCase()
  // Otherwise positions would differ.
  if (lower.length !== q.length) return []
  return [...lower.matchAll(/(?=([a-z0-9]{3}))/g)].map(({ 1: part = '', index: at }) => ({ part, at }))
}

/** From this many sampled users on, a part of a term is common. */
const COMMON_FROM = 12

/** So many parts without a sampled user leave few users to be checked. */
const ABSENT_ENOUGH = 2
const ABSENT_MAX = 3

/**
 * The parts of a term that the index is searched for. `sampled` has the number of sampled users for each part. Parts that no sampled user has
 * are enough by themselves; of these, only some that do not overlap, because the index takes time for each. Otherwise, all that are not common.
 */
export function rarePartsOf(q: string, sampled: ReadonlyMap<string, number>): ReadonlySet<string> {
  const parts = partsOf(q)
  const apart: string[] = []
  let end = 0
  for (const { part, at } of parts) {
    if (at < end || sampled.get(part) !== 0) continue
    apart.push(part)
    end = at + LENGTH
  }
  if (apart.length >= ABSENT_ENOUGH) return new Set(apart.slice(0, ABSENT_MAX))
  return new Set(parts.map(({ part }) => part).filter((part) => (sampled.get(part) ?? COMMON_FROM) < COMMON_FROM))
}

/**
 * A pattern for `like` that has only the parts of a term in `rare`, in their order, so that every text that contains the term matches it.
 * Null if all parts of the term are in `rare`, or none.
 */
export function withoutCommonParts(q: string, rare: ReadonlySet<string>): string | null {
  const parts = partsOf(q)
  const kept = parts.filter(({ part }) => rare.has(part))
  if (kept.length === 0 || kept.length === parts.length) return null
  let pattern = '%'
  let end = 0
  for (const { at } of kept) {
    // One that follows at once adds a character. One that begins within those before would bring back the parts in between.
    if (at === end - LENGTH + 1) pattern += q[at + LENGTH - 1]
    else if (at >= end) pattern += `${end === 0 ? '' : '%'}${q.slice(at, at + LENGTH)}`
    else continue
    end = at + LENGTH
  }
  return `${pattern}%`
}
