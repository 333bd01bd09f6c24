/** Applies what happened in a wave to the journeys of a project, in the transaction that applies the items. */
import type { Db } from '../../../infra/postgres/db.ts'
import type { Partition } from '../../../infra/queue/partitions.ts'
import { afterCommit, type InTx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import type { StoredEvent } from '../../events/index.ts'
import { type MessageIntent, statesByCause, TIMED } from '../../messages/index.ts'
import { deleteTimers, type EntranceRow, entrancesOf, type TimerRow } from '../../positions/index.ts'
import { type Entrance, hasLeftEarly, park, visitOf } from '../engine/entrance.ts'
import { dependenciesOf, type Occasion } from '../engine/facts.ts'
import { activeOf, instantOf, openRun, type Run } from '../engine/run.ts'
import { applyWave } from '../engine/walk.ts'
import { factAgeMaxMsOf } from '../fact-age.ts'
import type { JourneyItem } from '../queue-items.ts'
import { applyEffects } from './effects.ts'
import type { Published } from './graphs.ts'
import { noteParked } from './parked-alarm.ts'
import { entranceOf } from './rows.ts'
import { causeOf, save } from './save.ts'
import { type LiveWorld, openWorld } from './world.ts'

/** Where a wave is applied. `outside` is for statements that are not part of the transaction. */
export type Place = { outside: Db; partition: Partition }

/** What a wave leaves to be done after it: events of steps that may trigger campaigns, and messages. */
export type Applied = { events: StoredEvent[]; intents: MessageIntent[] }

const NOTHING: Applied = { events: [], intents: [] }

/** Does anything of this concern a journey? */
const isRelevant = ({ watches }: Published, { facts, timers, items }: Occasion): boolean =>
  timers.length > 0 ||
  items.length > 0 ||
  facts.some((fact) => (fact.is === 'changed' && fact.isNew) || dependenciesOf(fact).some((what) => watches.has(what)))

/** Applies one occasion of each user. `rows` are entrances that were read before, by user; others are read. */
export async function applyOccasions(
  ctx: InTx,
  place: Place,
  published: Published,
  occasions: Occasion[],
  rows?: ReadonlyMap<UserId, EntranceRow[]>,
): Promise<Applied> {
  const relevant = occasions.filter((occasion) => isRelevant(published, occasion))
  if (relevant.length === 0) return NOTHING
  const ids = relevant.map(({ userId }) => userId)
  const unread = ids.filter((id) => !rows?.has(id))
  const found = [...ids.flatMap((id) => rows?.get(id) ?? []), ...(await entrancesOf(ctx, unread))]
  const world = openWorld(ctx, place.outside, place.partition, applyEffects)
  const run = openRun(
    { world, graphs: published, now: ctx.clock.now(), factAgeMaxMs: factAgeMaxMsOf(ctx), onFailure: reportParked(ctx, place) },
    inMemory(ctx, published, found),
  )
  await dropOrphans(ctx, run, relevant)
  // Before an outcome takes the place of a retry.
  const asked = usersAsked(relevant)
  await readOutcomes(ctx, run, relevant)
  await applyWave(run, relevant)
  await save(ctx, run)
  return { events: world.stored, intents: intentsOf(world, asked) }
}

/** Converts stored rows to the entrances that the engine works on. */
export function inMemory(ctx: InTx, published: Published, rows: EntranceRow[]): Entrance[] {
  return rows.flatMap((row) => {
    const graph = published.version(row.journey_id, row.version)
    const entrance = graph && entranceOf(row, graph)
    if (!entrance) ctx.log.error({ journey_id: row.journey_id, version: row.version }, 'an entrance is at a step that is not published')
    return entrance ?? []
  })
}

const reportParked =
  (ctx: InTx, { outside }: Place) =>
  (entrance: Entrance, error: unknown) => {
    afterCommit(ctx, () => noteParked(ctx, outside))
    ctx.log.error({ err: error, project_id: ctx.projectId, journey_id: entrance.journeyId }, 'a decision of a journey failed; it is parked')
  }

/** Is an item a request about one user? Others come from sweeps, messages and calls, which follow from timers too. */
const isRequest = (item: JourneyItem): boolean =>
  item.do === 'enter' ? item.cause.startsWith('api:') : item.do === 'move' || item.do === 'skip' || item.do === 'retry'

/** The users with an event or a request. */
function usersAsked(occasions: Occasion[]): ReadonlySet<UserId> {
  const isAsked = ({ facts, items, isOfTime }: Occasion) => (facts.length > 0 && !isOfTime) || items.some(isRequest)
  return new Set(occasions.filter(isAsked).map(({ userId }) => userId))
}

/**
 * The messages of a wave, without those whose users left while they waited for them, or left early. Those that follow from neither an event nor a
 * request have a priority of their own: a million reminders at nine o’clock do not delay a password reset, and a campaign does not delay them.
 */
const intentsOf = ({ intended }: LiveWorld, asked: ReadonlySet<UserId>): MessageIntent[] =>
  intended
    .filter(({ asked: { entrance } }) => !hasLeftEarly(entrance))
    .filter(({ asked: { entrance, visit } }) => entrance.outcome === null || entrance.visit !== visit || visitOf(entrance).path !== null)
    .map(({ intent }) => (asked.has(intent.user_id) ? intent : { ...intent, priority: TIMED }))

/** Deletes timers that are due and belong to no entrance, so that they are not found again. */
async function dropOrphans(ctx: InTx, run: Run, occasions: Occasion[]): Promise<void> {
  const orphans = occasions.flatMap(({ userId, timers }) =>
    timers.flatMap(({ entranceId, journeyId, dueAt }) => {
      const entrance = activeOf(run, userId).find(({ id }) => id === entranceId)
      if (entrance?.dueAt?.getTime() === dueAt.getTime()) return []
      return [{ journey_id: journeyId, user_id: userId, entrance_id: entranceId, due_at: dueAt }]
    }),
  )
  if (orphans.length > 0) await deleteTimers(ctx, orphans)
}

/** The timer of a user who waits for a message, or the retry of one that failed, is the last resort: the message may have its outcome. */
async function readOutcomes(ctx: InTx, run: Run, occasions: Occasion[]): Promise<void> {
  const waiting = occasions.flatMap((occasion) =>
    activeOf(run, occasion.userId)
      .filter(({ step }) => step.type === 'action')
      .filter((entrance) => isTimed(entrance, occasion) || occasion.items.some((item) => retriesTimer(entrance, item)))
      .map((entrance) => ({ occasion, entrance })),
  )
  if (waiting.length === 0) return
  const causes = waiting.map(({ entrance: { userId, id, visit } }) => ({ user_id: userId, cause: causeOf(id, visit) }))
  const states = new Map((await statesByCause(ctx, causes)).map((row) => [`${row.user_id} ${row.cause}`, row]))
  for (const { occasion, entrance } of waiting) {
    const message = states.get(`${entrance.userId} ${causeOf(entrance.id, entrance.visit)}`)
    if (!message) continue
    occasion.timers = occasion.timers.filter(({ entranceId }) => entranceId !== entrance.id)
    occasion.items = occasion.items.filter((item) => !retriesTimer(entrance, item))
    const { state, reason } = message
    const about = { journey_id: entrance.journeyId, user_id: entrance.userId, entrance_id: entrance.id, visit: entrance.visit }
    occasion.items.push({ ...about, do: 'outcome', state, reason })
  }
}

const isTimed = ({ id, until }: Entrance, { at, timers }: Occasion): boolean =>
  (until === null || until <= at) && timers.some(({ entranceId }) => entranceId === id)

const retriesTimer = ({ id, parked }: Entrance, item: JourneyItem): boolean =>
  item.do === 'retry' && item.entrance_id === id && parked?.startsWith('timer:') === true

const timerOf = ({ entrance_id, visit, journey_id, due_at }: Omit<TimerRow, 'user_id'>) => ({
  entranceId: entrance_id,
  visit,
  journeyId: journey_id,
  dueAt: due_at,
})

/** Applies timers that are due, in the order of their instants. Several timers of one user are applied one after the other. */
export async function applyTimers(ctx: InTx, place: Place, published: Published, timers: TimerRow[]): Promise<Applied> {
  const all: Applied = { events: [], intents: [] }
  const byUser = [...Map.groupBy(timers, ({ user_id }) => user_id)]
  const now = ctx.clock.now()
  for (let wave = 0; byUser.some(([, own]) => own.length > wave); wave++) {
    const occasions = byUser.flatMap(([userId, own]): Occasion[] => {
      const timer = own[wave]
      if (!timer) return []
      return [{ userId, at: instantOf(timer.due_at, now), depth: 0, facts: [], timers: [timerOf(timer)], items: [] }]
    })
    const { events, intents } = await applyOccasions(ctx, place, published, occasions)
    all.events.push(...events)
    all.intents.push(...intents)
  }
  return all
}

/** An entrance has a further timer that is due by then at most so often: each is at least a minute after the last. */
const TIMERS_MAX = 50

/**
 * Applies the timers of each user that are due before the next item of this user. Returns the entrances of these users, and the events and
 * messages that are left to be handled.
 */
export async function applyTimersBefore(
  ctx: InTx,
  place: Place,
  published: Published,
  nextItems: ReadonlyMap<UserId, Date>,
): Promise<{ rows: Map<UserId, EntranceRow[]>; applied: Applied }> {
  const rows = byUserOf([...nextItems.keys()], await entrancesOf(ctx, [...nextItems.keys()]))
  const applied: Applied = { events: [], intents: [] }
  const fired = new Map<string, number>()
  const firedOf = (timer: TimerRow) => fired.get(entranceKey(timer)) ?? 0
  for (;;) {
    const due = [...nextItems].flatMap(([id, at]) => dueBefore(published, rows.get(id) ?? [], at))
    const left = due.filter((timer) => firedOf(timer) < TIMERS_MAX)
    if (left.length === 0) break
    const first = [...Map.groupBy(left, ({ user_id }) => user_id)].map(([, own]) => own[0] as TimerRow)
    for (const timer of first) fired.set(entranceKey(timer), firedOf(timer) + 1)
    const { events, intents } = await applyTimers(ctx, place, published, first)
    applied.events.push(...events)
    applied.intents.push(...intents)
    const ids = first.map(({ user_id }) => user_id)
    for (const [id, own] of byUserOf(ids, await entrancesOf(ctx, ids))) rows.set(id, own)
  }
  return { rows, applied }
}

const entranceKey = ({ user_id, entrance_id }: TimerRow): string => `${user_id} ${entrance_id}`

const byUserOf = (ids: UserId[], rows: EntranceRow[]): Map<UserId, EntranceRow[]> => {
  const byUser = Map.groupBy(rows, ({ user_id }) => user_id)
  return new Map(ids.map((id) => [id, byUser.get(id) ?? []]))
}

const dueBefore = ({ isHeld }: Published, rows: EntranceRow[], at: Date): TimerRow[] =>
  rows
    .flatMap(({ journey_id, user_id, entrance_id, visit, due_at }) =>
      due_at !== null && due_at < at && !isHeld(journey_id) ? [{ journey_id, user_id, entrance_id, visit, due_at }] : [],
    )
    .sort((a, b) => a.due_at.getTime() - b.due_at.getTime())

/** Parks the entrance of a timer that could not be applied. */
export async function parkTimer(ctx: InTx, place: Place, published: Published, timer: TimerRow, reason: string): Promise<void> {
  const rows = (await entrancesOf(ctx, [timer.user_id])).filter(({ entrance_id }) => entrance_id === timer.entrance_id)
  const world = openWorld(ctx, place.outside, place.partition, applyEffects)
  const run = openRun(
    { world, graphs: published, now: ctx.clock.now(), factAgeMaxMs: factAgeMaxMsOf(ctx), onFailure: reportParked(ctx, place) },
    inMemory(ctx, published, rows),
  )
  await dropOrphans(ctx, run, [{ userId: timer.user_id, at: run.now, depth: 0, facts: [], timers: [timerOf(timer)], items: [] }])
  for (const entrance of activeOf(run, timer.user_id)) park(entrance, `timer: ${reason}`, run.now)
  afterCommit(ctx, () => noteParked(ctx, place.outside))
  await save(ctx, run)
}
