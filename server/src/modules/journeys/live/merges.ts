/** Users of journeys who were merged or erased. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { skipJourneyMessages } from '../../messages/index.ts'
import { type EntranceRow, entrancesOf, erasePositions, movePositions } from '../../positions/index.ts'
import type { UserMerge } from '../../users/index.ts'
import { exit, openRun } from '../engine/run.ts'
import { factAgeMaxMsOf } from '../fact-age.ts'
import { queuedVisits } from '../steps/action.ts'
import { eraseExamples } from '../user-data.queries.ts'
import { inMemory, type Place } from './apply.ts'
import { applyEffects } from './effects.ts'
import type { Published } from './graphs.ts'
import * as queries from './queries.ts'
import { causeOf, save } from './save.ts'
import { openWorld } from './world.ts'

/**
 * Gives the remaining user of each merge what both did in journeys, also while all journeys are archived and `published` is null. If two
 * entrances have the same slot, the one that began earlier stays and the other exits, in whatever order the users were merged.
 */
export async function mergeJourneys(ctx: InTx, place: Place, published: Published | null, merges: UserMerge[]): Promise<void> {
  if (merges.length === 0) return
  // A journey with a user inside is published.
  if (published) await endLaterOfTwo(ctx, place, published, merges)
  else if (!(await queries.hasJourneys(ctx))) return
  await movePositions(ctx, merges)
  await queries.moveKeysAndCalls(ctx, merges)
}

async function endLaterOfTwo(ctx: InTx, place: Place, published: Published, merges: UserMerge[]): Promise<void> {
  const mergedInto = new Map(merges.map(({ from_id, into_id }) => [from_id, into_id]))
  const rows = await entrancesOf(ctx, [...new Set([...mergedInto.keys(), ...mergedInto.values()])])
  const slots = Map.groupBy(rows, ({ user_id, journey_id, slot }) => JSON.stringify([mergedInto.get(user_id) ?? user_id, journey_id, slot]))
  const lost = [...slots.values()].flatMap((of) => [...of].sort(byEntry).slice(1))
  if (lost.length > 0) await end(ctx, place, published, lost, mergedInto)
}

const byEntry = (a: EntranceRow, b: EntranceRow): number => a.entered_at.getTime() - b.entered_at.getTime() || a.entrance_id - b.entrance_id

async function end(ctx: InTx, place: Place, published: Published, rows: EntranceRow[], mergedInto: ReadonlyMap<UserId, UserId>) {
  // The messages of merged users are those of the remaining one already.
  const messages = rows.flatMap(({ user_id, entrance_id, visit, trail }) =>
    [...queuedVisits(trail), visit].map((one) => ({
      user_id: mergedInto.get(user_id) ?? user_id,
      cause: causeOf(entrance_id, one),
    })),
  )
  await skipJourneyMessages(ctx, messages)
  const world = openWorld(ctx, place.outside, place.partition, applyEffects)
  const run = openRun(
    { world, graphs: published, now: ctx.clock.now(), factAgeMaxMs: factAgeMaxMsOf(ctx), onFailure: () => undefined },
    inMemory(ctx, published, rows),
  )
  for (const entrance of [...run.entrances.values()].flat()) exit(run, entrance, 'merged', run.now)
  await save(ctx, run)
}

/** Deletes what journeys store about users. Counts are kept, and users who were inside are counted as exited. */
export async function eraseJourneys(ctx: InTx, ids: UserId[]): Promise<void> {
  if (ids.length === 0) return
  const left = await erasePositions(ctx, ids)
  await queries.eraseKeysAndCalls(ctx, ids)
  await eraseExamples(ctx, ids)
  const counts = left.flatMap(({ users, ...at }) => {
    const count = { ...at, path: null, reason: 'erased', arm: null, users }
    return [
      { ...count, what: 'exited' as const },
      { ...count, what: 'left' as const },
    ]
  })
  if (counts.length > 0) await queries.appendCounts(ctx, counts)
}
