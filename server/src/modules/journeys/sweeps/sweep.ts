/**
 * The job that works through many users of a journey. It appends items to the ingest queue, 1,000 users at a time, and notes how far it is
 * in the same transaction, so that a crash repeats nothing and leaves no user out.
 */
import { hasBacklogOver } from '../../../infra/queue/backlog.ts'
import { type Ctx, type InTx, inClaim, inTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import { usableTimeZone } from '../../../lib/time-zones.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'
import { audienceAfter, findList, membersAfter, membersInZones } from '../../lists/index.ts'
import { type EntranceFilter, entrancesAfter, setBackJourneyUsers } from '../../positions/index.ts'
import { eachAlone, failedIn, findProject, onItsOwn } from '../../projects/index.ts'
import { appendJourneyItems } from '../append-items.ts'
import { causes } from '../engine/ids.ts'
import { LATE_MS } from '../engine/run.ts'
import { SWEEP } from '../job-names.ts'
import { findJourney } from '../queries.ts'
import type { JourneyItem } from '../queue-items.ts'
import { freeAllPlaces } from '../rates.queries.ts'
import type { Cursor, ScheduleParams, SweepWork } from './kinds.ts'
import { claimSweep, deleteSweep, dueSweeps, insertSweep, NEVER, noteMissed, publishedAt, type SweepRow, saveSweep } from './queries.ts'
import { type RestingProjects, restingProjectsOf } from './resting.ts'
import { type Due, dueAt, nextInstant, zonesAt } from './schedules.ts'

const SWEEPS_AT_ONCE = 10
const USERS_AT_ONCE = 1000
const HISTORIES_AT_ONCE = 5000
/** Sweeps rest while more items of their project wait. */
const WAITING_MAX = 50_000
/** After how long a list that was being built is looked at again. */
const LIST_AGAIN_MS = 5 * SECOND_MS

const FIRST: Cursor = { user_id: 0 as UserId, entrance_id: -1 }

/** A run of the job: which projects rest, and how many sweeps it has claimed. */
type Run = { resting: RestingProjects; claimed: number }

/** Does one batch of sweeps that are due. Returns the number of users. Sweeps that rest or fail take no place in it, and are reported. */
export async function sweepDue(ctx: Ctx): Promise<number> {
  const run: Run = { resting: restingProjectsOf(ctx), claimed: 0 }
  const looked: number[] = []
  let done = 0
  for (;;) {
    const leftOut = { projects: run.resting.now(), sweeps: [...failedIn(ctx, SWEEP), ...looked] }
    const due = await inClaim(ctx, (ctx) => dueSweeps(ctx, SWEEPS_AT_ONCE, leftOut))
    looked.push(...due.map(({ id }) => id))
    done += await eachAlone(ctx, SWEEP, due.map(onItsOwn), (ctx, { id }) => inTx(ctx, (ctx) => sweepOnce(ctx, id, run)))
    if (due.length < SWEEPS_AT_ONCE || run.claimed >= SWEEPS_AT_ONCE) return done
  }
}

async function sweepOnce(ctx: InTx, id: number, run: Run): Promise<number> {
  if (run.resting.has(ctx.projectId)) return 0
  if (await hasBacklogOver(ctx, ctx.projectId, WAITING_MAX)) {
    run.resting.add(ctx.projectId)
    return 0
  }
  const sweep = await claimSweep(ctx, id)
  if (!sweep) return 0
  const done = Math.max(1, await advance(ctx, sweep))
  run.claimed++
  return done
}

async function advance(ctx: InTx, sweep: SweepRow): Promise<number> {
  const work = sweep as SweepWork
  switch (work.kind) {
    case 'publish':
      return overTwice(ctx, sweep, work, await leftBehind(ctx, sweep, work.params), { do: 'plan', version: work.params.version })
    case 'exit':
      return letExit(ctx, sweep, work)
    case 'resume':
      return overTwice(ctx, sweep, work, { held: true }, { do: 'wake' })
    case 'clock':
      return overFuture(ctx, sweep, new Date(work.params.after))
    case 'existing':
      return overMembers(ctx, sweep, work)
    case 'schedule':
      return overSchedule(ctx, sweep, work.params)
    default:
      return work satisfies never
  }
}

type Params<K extends SweepWork['kind']> = Extract<SweepWork, { kind: K }>['params']

/**
 * The users whom a publication moves. Later only those who may have entered behind the sweep are looked for, because users who stay on
 * their version may have gone on to a step whose users move.
 */
async function leftBehind(ctx: InTx, { journey_id }: SweepRow, { version, isAgain }: Params<'publish'>): Promise<EntranceFilter> {
  if (!isAgain) return { notOn: version, since: null }
  const at = (await publishedAt(ctx, journey_id, version)) ?? ctx.clock.now()
  return { notOn: version, since: new Date(at.getTime() - LATE_MS - MINUTE_MS) }
}

/** Up to which entry users exit. In a journey that is off they still enter by a batch that began before, as late as it is applied. */
const lastEntry = (ctx: InTx, { before, isAgain, isRestored }: Params<'exit'>): Date =>
  isAgain && !isRestored ? ctx.clock.now() : new Date(before)

type TwiceWork = Extract<SweepWork, { kind: 'publish' | 'exit' | 'resume' | 'existing' }>

/**
 * Does a sweep, and once more a minute later: a batch that was being applied when the journey was switched off, resumed or published may
 * let users enter, or hold them, behind the sweep.
 */
async function overTwice(ctx: InTx, sweep: SweepRow, work: TwiceWork, filter: EntranceFilter, action: Action): Promise<number> {
  const done = await overEntrances(ctx, sweep, filter, action)
  if (done < USERS_AT_ONCE && !work.params.isAgain) await onceMore(ctx, sweep, work)
  return done
}

async function onceMore(ctx: InTx, { journey_id }: SweepRow, work: TwiceWork): Promise<void> {
  const again = { kind: work.kind, params: { ...work.params, isAgain: true } } as TwiceWork
  await insertSweep(ctx, journey_id, again, new Date(ctx.clock.now().getTime() + MINUTE_MS))
}

/**
 * Lets users exit. Their places at balancers are free when all of them exit: before, some may stay if the journey is switched on again.
 * In a restored journey the places are those of users who entered since, because archiving it has freed the others.
 */
async function letExit(ctx: InTx, sweep: SweepRow, work: Extract<SweepWork, { kind: 'exit' }>): Promise<number> {
  const { reason, isAgain, isRestored } = work.params
  const done = await overTwice(ctx, sweep, work, { enteredBefore: lastEntry(ctx, work.params) }, { do: 'exit', reason })
  if (done < USERS_AT_ONCE && !isAgain && !isRestored) await freeAllPlaces(ctx, sweep.journey_id)
  return done
}

type Action = { do: 'plan'; version: number } | { do: 'exit'; reason: string } | { do: 'wake' } | { do: 'clock' }

async function overEntrances(ctx: InTx, sweep: SweepRow, filter: EntranceFilter, action: Action): Promise<number> {
  const { user_id, entrance_id = -1 } = sweep.cursor ?? FIRST
  const places = await entrancesAfter(ctx, sweep.journey_id, filter, { user_id, entrance_id }, USERS_AT_ONCE)
  await appendJourneyItems(
    ctx,
    places.map((place): JourneyItem => ({ journey_id: sweep.journey_id, ...place, ...action })),
  )
  const last = places.at(-1)
  if (last && places.length === USERS_AT_ONCE) await saveSweep(ctx, sweep.id, last, sweep.next_at)
  else await deleteSweep(ctx, sweep.id)
  return places.length
}

/** The history of all users, those who have left included, is read for instants in the future. Then the entrances follow that acted there. */
async function overFuture(ctx: InTx, sweep: SweepRow, after: Date): Promise<number> {
  const now = ctx.clock.now()
  const cursor = sweep.cursor ?? { ...FIRST, isHistory: true }
  if (!cursor.isHistory) return overEntrances(ctx, sweep, { actedAfter: after }, { do: 'clock' })
  const range = { after: cursor.user_id, limit: HISTORIES_AT_ONCE }
  const { users, last } = await setBackJourneyUsers(ctx, sweep.journey_id, now > after ? now : after, range)
  await saveSweep(ctx, sweep.id, last !== null && users === HISTORIES_AT_ONCE ? { user_id: last, isHistory: true } : FIRST, sweep.next_at)
  return users
}

const isLive = async (ctx: InTx, { journey_id }: SweepRow): Promise<boolean> => (await findJourney(ctx, journey_id))?.status === 'live'

/**
 * A journey that is off takes no entrances: the sweep of a version that was published while it was off waits, and every other one ends. Members may
 * have entered by joining, also those who joined before the sweep started, because their joining may wait in the queue. Who has is known only
 * when the item is applied, after all that waited before it. A minute later the members are read once more: a batch that was being applied when the
 * journey went live may add some behind the sweep, who do not enter by joining. While the list is being built, which brings no events of joining,
 * it has the members of its former rule or none, and the sweep waits.
 */
async function overMembers(ctx: InTx, sweep: SweepRow, work: Extract<SweepWork, { kind: 'existing' }>): Promise<number> {
  const { step, list_id, version, waits, since, isAgain } = work.params
  const live = await isLive(ctx, sweep)
  if (!live && waits) {
    await saveSweep(ctx, sweep.id, null, new Date(ctx.clock.now().getTime() + DAY_MS))
    return 0
  }
  if (live && (await isBeingBuilt(ctx, list_id))) {
    await saveSweep(ctx, sweep.id, sweep.cursor, new Date(ctx.clock.now().getTime() + LIST_AGAIN_MS))
    return 0
  }
  const members = live ? await membersAfter(ctx, list_id, (sweep.cursor ?? FIRST).user_id, USERS_AT_ONCE) : []
  const cause = causes.list(list_id, `existing-${version}`)
  const unless = since !== undefined && { unless_entered_since: since }
  await appendJourneyItems(
    ctx,
    members
      .filter(({ changed_at }) => mayEnter(work.params, changed_at))
      .map(({ user_id }): JourneyItem => ({ do: 'enter', journey_id: sweep.journey_id, user_id, entrance: step, cause, ...unless })),
  )
  const last = members.at(-1)
  if (last && members.length === USERS_AT_ONCE) await saveSweep(ctx, sweep.id, { user_id: last.user_id }, sweep.next_at)
  else {
    await deleteSweep(ctx, sweep.id)
    if (live && !isAgain) await onceMore(ctx, sweep, work)
  }
  return members.length
}

/** While a list is being built, its newest version is not the live one. An archived list is not built. */
async function isBeingBuilt(ctx: InTx, id: ListId): Promise<boolean> {
  const list = await findList(ctx, id)
  return list !== undefined && list.version_id !== list.live_version_id
}

/** The second sweep takes only those who became members around the first one or after it: about all others, the first has decided. */
const mayEnter = ({ isAgain, since }: Params<'existing'>, memberSince: Date): boolean =>
  !isAgain || since === undefined || memberSince.getTime() > new Date(since).getTime() - LATE_MS - MINUTE_MS

/** The instant of a schedule, `next_at`: its users are read page by page, and then the next instant is looked up. */
async function overSchedule(ctx: InTx, sweep: SweepRow, params: ScheduleParams): Promise<number> {
  // Read while the sweep is locked: a change of the zone comes before that, or finds what is saved here.
  const { timezone: current } = await findProject(ctx, ctx.projectId)
  const timezone = usableTimeZone(params.due_zone ?? null, current)
  // An occurrence that has begun is not missed because the next one has come meanwhile.
  const { user_id: after, begunAt = ctx.clock.now().toISOString() } = sweep.cursor ?? FIRST
  const due = await dueAt(params, sweep.next_at, new Date(begunAt), timezone)
  const live = await isLive(ctx, sweep)
  if (live && params.zone === 'project' && due(timezone).is === 'missed') await noteMissed(ctx, sweep.journey_id)
  const page = live ? await pageOf(ctx, params, sweep.next_at, timezone, due, after) : []
  const items = page.flatMap(({ user_id, timezone: own }): JourneyItem[] => {
    const found = due(usableTimeZone(own, timezone))
    if (found.is !== 'run') return []
    const cause = causes.schedule(params.step, found.local)
    return [{ do: 'enter', journey_id: sweep.journey_id, user_id, entrance: params.step, cause }]
  })
  await appendJourneyItems(ctx, items)
  const last = page.at(-1)
  if (last !== undefined && page.length === USERS_AT_ONCE) await saveSweep(ctx, sweep.id, { user_id: last.user_id, begunAt }, sweep.next_at)
  else await finishInstant(ctx, sweep, params, current)
  return page.length
}

/** The next users of a schedule. In the zones of users, those in whose zone it comes at this instant: the others are not read. */
async function pageOf(ctx: InTx, params: ScheduleParams, at: Date, timezone: string, due: (zone: string) => Due, after: UserId) {
  if (params.zone === 'user') return membersInZones(ctx, params.list_id, await zonesAt(params, at, timezone), after, USERS_AT_ONCE)
  if (due(timezone).is !== 'run') return []
  return (await audienceAfter(ctx, [params.list_id], after, USERS_AT_ONCE)).map((user_id) => ({ user_id, timezone: null }))
}

async function finishInstant(ctx: InTx, sweep: SweepRow, params: ScheduleParams, timezone: string): Promise<void> {
  await saveSweep(ctx, sweep.id, null, (await nextInstant(params, sweep.next_at, timezone)) ?? NEVER)
}
