/** Which entries of a log were moved: also when the log has lost its end, and gives the same positions to other entries. */
import type { AcceptedLog, LogExtent } from '../../runtime/accepted-log.ts'
import type { Position } from './position.ts'

/** The same instant, as it comes with a batch and with a single entry. */
const ROUNDING_MS = 1

/**
 * The position up to which everything that is in a log was moved, by how far it was moved and what it holds now. A crash of its machine or a
 * restored disk may have taken its last entries; what was appended since has positions up to the stored one, and was stored after what was moved.
 */
export async function movedUpTo(log: AcceptedLog, moved: Position, extent: LogExtent): Promise<number> {
  if (!(await hasFallenBack(log, moved, extent))) return Math.max(moved.position, extent.first - 1)
  return (await firstAfter(log, moved.stored_at ?? moved.complete_to, extent)) - 1
}

/** Entries are deleted when they have been moved. One that is still there is either the one that was moved, or another one. */
async function hasFallenBack(log: AcceptedLog, { position, stored_at }: Position, { first, last }: LogExtent): Promise<boolean> {
  if (last < position) return true
  if (first > position || !stored_at) return false
  const found = await log.read(position)
  return found !== null && Math.abs(found.storedAt.getTime() - stored_at.getTime()) > ROUNDING_MS
}

/** The first position whose entry was stored after an instant; the next one if there is none. */
async function firstAfter(log: AcceptedLog, at: Date, { first, last }: LogExtent): Promise<number> {
  let [from, to] = [first, last + 1]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const found = await log.read(middle)
    if (found && found.storedAt > at) to = middle
    else from = middle + 1
  }
  return from
}
