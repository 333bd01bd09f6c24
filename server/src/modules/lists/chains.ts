/** Lists that mention lists: no list may lead back to itself, and no chain of them may be long. */
import type { Fault } from '../../lib/errors.ts'
import type { ListId } from '../../lib/ids.ts'

/** The most lists of which each mentions the next. */
export const CHAIN_MAX = 10

/** Which lists the rules of each list mention. Holds no loop. */
export type References = ReadonlyMap<ListId, ReadonlySet<ListId>>

/** A list that a new rule mentions, and where. */
export type Named = { id: ListId; param: string }

/**
 * What is wrong with a rule that mentions these lists. `list` is the one it is for, null when that is only about to be made;
 * `nameOf` says what a list is called.
 */
export function chainFaults(references: References, list: ListId | null, named: Named[], nameOf: (id: ListId) => string): Fault[] {
  const above = list === null ? 0 : longestFrom(list, inverse(references)) - 1
  return named.flatMap(({ id, param }): Fault[] => {
    const loop = list === null ? null : pathTo(list, id, references)
    if (loop)
      return [
        broken(
          param,
          `\`${param}\` leads back to the list itself: ${[list as ListId, ...loop].map(nameOf).join(' mentions ')}. Leave it out.`,
        ),
      ]
    if (above + 1 + longestFrom(id, references) <= CHAIN_MAX) return []
    return [broken(param, `With \`${param}\`, more than ${CHAIN_MAX} lists would mention each other in a row. Mention one further down.`)]
  })
}

const MESSAGE_LENGTH_MAX = 400

const broken = (param: string, message: string): Fault => ({
  code: 'validation_failed',
  param,
  message: message.length <= MESSAGE_LENGTH_MAX ? message : `${message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()}…`,
})

/** How many lists the longest chain that begins with `list` has. */
function longestFrom(list: ListId, references: References, known = new Map<ListId, number>()): number {
  const found = known.get(list)
  if (found !== undefined) return found
  const below = [...(references.get(list) ?? [])].map((next) => longestFrom(next, references, known))
  const longest = 1 + Math.max(0, ...below)
  known.set(list, longest)
  return longest
}

/** The lists on the way from one to another, both included; null when there is no way. */
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
