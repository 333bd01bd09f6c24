/** Lists that depend on lists: no list may depend on itself, and the length of a chain is limited. */
import type { Fault } from '../../lib/errors.ts'
import type { ListId } from '../../lib/ids.ts'

/** The highest number of lists in a chain, of which each depends on the next. */
export const CHAIN_MAX = 10

/** The lists that the rules of each list refer to. Has no cycle. */
export type References = ReadonlyMap<ListId, ReadonlySet<ListId>>

/** A list that a new rule refers to, and the path of the condition. */
export type Named = { id: ListId; param: string }

/**
 * Finds cycles and chains that are too long in a rule that refers to these lists. `list` is the list that the rule is for, null when it
 * does not exist yet.
 */
export function chainFaults(references: References, list: ListId | null, named: Named[], nameOf: (id: ListId) => string): Fault[] {
  const above = list === null ? 0 : longestFrom(list, inverse(references)) - 1
  return named.flatMap(({ id, param }): Fault[] => {
    const loop = list === null ? null : pathTo(list, id, references)
    if (loop)
      return [
        broken(
          param,
          `\`${param}\` makes the list depend on itself: ${[list as ListId, ...loop].map(nameOf).join(' → ')}. Remove this condition.`,
        ),
      ]
    if (above + 1 + longestFrom(id, references) <= CHAIN_MAX) return []
    return [
      broken(
        param,
        `\`${param}\` makes a chain of more than ${CHAIN_MAX} lists that depend on each other. Refer to a list further down the chain.`,
      ),
    ]
  })
}

const MESSAGE_LENGTH_MAX = 400

const broken = (param: string, message: string): Fault => ({
  code: 'validation_failed',
  param,
  message: message.length <= MESSAGE_LENGTH_MAX ? message : `${message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()}…`,
})

/** The length of the longest chain that begins with `list`. */
function longestFrom(list: ListId, references: References, known = new Map<ListId, number>()): number {
  const found = known.get(list)
  if (found !== undefined) return found
  const below = [...(references.get(list) ?? [])].map((next) => longestFrom(next, references, known))
  const longest = 1 + Math.max(0, ...below)
  known.set(list, longest)
  return longest
}

/** The lists on a path from `from` to `end`, both included; null without a path. */
function pathTo(end: ListId, from: ListId, references: References, seen = new Set<ListId>()): ListId[] | null {
  if (from === end) return [end]
  if (seen.has(from)) return null
  seen.add(from)
  for (const next of references.get(from) ?? []) {
    const path = pathTo(end, next, references, seen)
    if (path) return [from, ...path]
  }
  return null
}

function inverse(references: References): References {
  const referrersOf = new Map<ListId, Set<ListId>>()
  for (const [list, others] of references) {
    for (const other of others) referrersOf.set(other, (referrersOf.get(other) ?? new Set()).add(list))
  }
  return referrersOf
}
