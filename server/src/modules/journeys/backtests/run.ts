/** The job that computes backtests: users are read in chunks, and each is simulated alone. */
import { randomUUID } from 'node:crypto'
import type { Db } from '../../../infra/postgres/db.ts'
import type { Started } from '../../../infra/queue/jobs.ts'
import { type Ctx, inClaim, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf } from '../../../lib/channels.ts'
import { ApiError } from '../../../lib/errors.ts'
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { own } from '../../../lib/own.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { type PastEvent, pastEventsOf, usersWithPastEvents } from '../../events/index.ts'
import { audienceAfter } from '../../lists/index.ts'
import { outcomesOf } from '../../messages/index.ts'
import { countInsideAt, entrancesSince, usersEnteredSince } from '../../positions/index.ts'
import { inProject } from '../../projects/index.ts'
import { consentsSince, suppressedSince } from '../../subscriptions/index.ts'
import { findUsers, lockLiveUsers, mergesSince, type UserRow } from '../../users/index.ts'
import type { Graph } from '../engine/graph.ts'
import { factAgeMaxMsOf } from '../fact-age.ts'
import { type Needed, neededBy, simulatedUsers } from '../simulation/facts.ts'
import type { Given, MessagePlan } from '../simulation/given.ts'
import { graphFor, linkedGraphs } from '../simulation/graphs.ts'
import { answerOf, givenOf, graphsOf, pauseAfter, reasonFor, renderIn } from '../simulation/service.ts'
import { simulateUser } from '../simulation/simulate.ts'
import type { ScheduleParams } from '../sweeps/kinds.ts'
import { sweepsOf } from '../sweeps/queries.ts'
import { historyOf, type Stored } from './history.ts'
import * as queries from './queries.ts'
import { SharedRates } from './rates.ts'
import { type Scheduled, scheduledOf, startKey, withScheduled } from './schedules.ts'
import type { BacktestResult } from './schema.ts'
import { BacktestSums } from './sums.ts'

const AT_ONCE = 2
const LEASE_MS = 2 * MINUTE_MS
/** A backtest that took its process with it so often has failed. */
const ATTEMPTS_MAX = 3
const CHUNK_USERS = 500
const VISITS_MAX = 500

/** How many backtests this process computes on a database: the job begins others before they are finished. */
const inFlight = new WeakMap<Db, number>()
const count = (db: Db, by: number): number => {
  const now = (inFlight.get(db) ?? 0) + by
  inFlight.set(db, now)
  return now
}

/** Computes backtests that no other process computes, so many at a time. The end of one wakes the job. */
export async function backtestDue(ctx: Ctx): Promise<Started> {
  const room = AT_ONCE - count(ctx.db, 0)
  if (room <= 0) return { done: 0, finished: Promise.resolve(), nextAt: null }
  const leaseUntil = new Date(ctx.clock.now().getTime() + LEASE_MS)
  const claimed = await inClaim(ctx, (ctx) => queries.claimBacktests(ctx, room, randomUUID(), leaseUntil))
  count(ctx.db, claimed.length)
  const finished = Promise.all(claimed.map((due) => compute(ctx, due).finally(() => count(ctx.db, -1)))).then(() => undefined)
  return { done: claimed.length, finished }
}

const compute = (ctx: Ctx, due: queries.DueBacktest): Promise<void> =>
  inProject(ctx, due.project_id, async (ctx) => {
    if (due.attempts > ATTEMPTS_MAX) {
      await queries.endBacktest(ctx, due, null)
      return
    }
    try {
      const result = await backtest(ctx, due.journey_id, due.params, (done, total) =>
        queries.saveProgress(ctx, due, done, total, new Date(ctx.clock.now().getTime() + LEASE_MS)),
      )
      if (result !== null) await finish(ctx, due, result)
    } catch (error) {
      // The journey, a version or a list may be gone by now.
      if (!(error instanceof ApiError)) throw error
      await queries.endBacktest(ctx, due, null)
    }
  })

/**
 * Ends a backtest with its result, without examples of users who were erased or merged while it ran. The others are locked, so that an erasure
 * of one of them comes after it, and finds it.
 */
const finish = (ctx: ProjectCtx, due: queries.DueBacktest, result: BacktestResult): Promise<number> =>
  inTx(ctx, async (ctx) => {
    const ids = result.examples.map(({ user_id }) => user_id as UserId)
    const live = new Set((await lockLiveUsers(ctx, ids)).map(({ id }) => id))
    return queries.endBacktest(ctx, due, { ...result, examples: result.examples.filter(({ user_id }) => live.has(user_id as UserId)) })
  })

type Params = queries.DueBacktest['params']

/** Runs a graph over a window. `report` returns false to stop; then there is no result. */
async function backtest(
  ctx: ProjectCtx,
  id: JourneyId,
  { version, steps, since: start, until: end, limit }: Params,
  report: (done: number, total: number) => Promise<boolean>,
): Promise<BacktestResult | null> {
  const graph = await graphFor(ctx, id, { version, steps })
  const window = { journeyId: id, since: new Date(start), until: new Date(end) }
  const needed = await neededBy(ctx, graph)
  const linked = await linkedGraphs(ctx, graph)
  const ids = await candidatesOf(ctx, graph, window, limit)
  const scheduled = await scheduledOf(graph, window, ctx.project.timezone, await startsOf(ctx, id))
  const rates = new SharedRates()
  const runAll = async (): Promise<BacktestSums | null> => {
    const sums = new BacktestSums(window.until)
    for (let at = 0; at < ids.length; at += CHUNK_USERS) {
      if (!(await report(at, ids.length))) return null
      await runChunk(ctx, { graph, linked, needed, window, scheduled, rates, sums }, ids.slice(at, at + CHUNK_USERS))
    }
    return sums
  }
  let sums = await runAll()
  if (sums !== null && rates.isUsed) {
    rates.share()
    sums = await runAll()
    sums?.flags.add('balancer')
  }
  if (sums === null || !(await report(ids.length, ids.length))) return null
  return sums.result(await countInsideAt(ctx, id, window.since))
}

type Window = { journeyId: JourneyId; since: Date; until: Date }

/** The users who may have entered, by id. */
async function candidatesOf(ctx: ProjectCtx, { entrances }: Graph, { journeyId, since, until }: Window, limit?: number): Promise<UserId[]> {
  const names = entrances.flatMap(({ settings: { trigger, event_name } }) => (trigger === 'event' && event_name ? [event_name] : []))
  const lists = entrances.flatMap(({ settings: { list_id } }) => (list_id === undefined ? [] : [list_id as ListId]))
  const found = [
    ...(await usersWithPastEvents(ctx, names, lists, since, until)),
    ...(await usersEnteredSince(ctx, journeyId, since)),
    ...(await usersOfSchedules(ctx, entrances)),
  ]
  const ids = [...new Set(found.map(({ user_id }) => user_id))].sort((a, b) => a - b)
  return limit === undefined ? ids : ids.slice(0, limit)
}

async function startsOf(ctx: ProjectCtx, id: JourneyId): Promise<Map<string, Date>> {
  const schedules = (await sweepsOf(ctx, id, ['schedule'])).map(({ params }) => params as ScheduleParams)
  return new Map(schedules.map(({ step, schedule, since }) => [startKey(step, schedule), new Date(since)]))
}

const SCHEDULED_AT_ONCE = 10_000

/** The members of the lists of schedules, as they are now. Those who left since are known by that. */
async function usersOfSchedules(ctx: ProjectCtx, entrances: Graph['entrances']): Promise<{ user_id: UserId }[]> {
  const lists = entrances.flatMap(({ settings: { trigger, list_id } }) => (trigger === 'schedule' && list_id ? [list_id as ListId] : []))
  if (lists.length === 0) return []
  const found: { user_id: UserId }[] = []
  for (let after = 0 as UserId; ; ) {
    const ids = await audienceAfter(ctx, lists, after, SCHEDULED_AT_ONCE)
    found.push(...ids.map((user_id) => ({ user_id })))
    const last = ids.at(-1)
    if (last === undefined || ids.length < SCHEDULED_AT_ONCE) return found
    after = last
  }
}

type Run = { graph: Graph; linked: Graph[]; needed: Needed; window: Window; scheduled: Scheduled[]; rates: SharedRates; sums: BacktestSums }

const SYSTEM_EVENTS = ['user_created', 'user_updated', 'list_entered', 'list_left']
const EVENT = 'event:'

/** Simulates some users, each alone. */
async function runChunk(ctx: ProjectCtx, { graph, linked, needed, window, scheduled, rates, sums }: Run, ids: UserId[]): Promise<void> {
  const { journeyId, since, until } = window
  const merges = new Set((await mergesSince(ctx, ids, since)).flatMap(({ id, merged_into }) => [id, merged_into]))
  const rows = (await findUsers(ctx, ids)).filter(({ id }) => !merges.has(id))
  const known = new Set(rows.map(({ id }) => id))
  for (const id of ids) if (!known.has(id)) sums.excluded.add(merges.has(id) ? 'merged' : 'erased')
  const watched = [...graph.watches].filter((what) => what.startsWith(EVENT)).map((what) => what.slice(EVENT.length))
  const names = [...new Set([...SYSTEM_EVENTS, ...watched, ...needed.eventNames])]
  const own = rows.map(({ id }) => id)
  const by = <T extends { user_id: UserId }>(found: T[]) => Map.groupBy(found, ({ user_id }) => user_id)
  const events = by(await pastEventsOf(ctx, own, names, ctx.clock.now()))
  const recorded = by(await entrancesSince(ctx, journeyId, own, since, until))
  const outcomes = by(await outcomesOf(ctx, journeyId, own))
  const consents = by(needed.subscriptionIds.length > 0 ? await consentsSince(ctx, own, needed.subscriptionIds, since) : [])
  const suppressed = await suppressionsOf(ctx, needed, rows, [...events.values()].flat())
  for (const user of await simulatedUsers(ctx, needed, rows, () => [])) {
    const { id } = user.user
    const stored: Stored = {
      events: events.get(id) ?? [],
      recorded: recorded.get(id) ?? [],
      outcomes: outcomes.get(id) ?? [],
      consents: consents.get(id) ?? [],
    }
    const history = historyOf(user, stored, window)
    for (const flag of history.flags) sums.flags.add(flag)
    user.events = history.events
    const result = await simulateUser({
      ...{ journeyId, user, until, visitsMax: VISITS_MAX, watches: graph.watches, factAgeMaxMs: factAgeMaxMsOf(ctx) },
      graphs: graphsOf(graph, linked),
      given: givenFor(ctx, needed, stored, rates, suppressed),
      items: await withScheduled(history.items, scheduled, user, journeyId, ctx.project.timezone),
      pause: pauseAfter(ctx, USER_TIME_MAX_MS),
    })
    sums.add(id, result, stored.recorded)
  }
}

const latest = (a: Date, b: Date): Date => new Date(Math.max(a.getTime(), b.getTime()))

const USER_TIME_MAX_MS = 10_000

/** Since when addresses of users, those of before included, get no messages of campaigns: by campaign and address. */
async function suppressionsOf(ctx: ProjectCtx, { campaigns }: Needed, rows: UserRow[], events: PastEvent[]): Promise<Map<string, Date>> {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const former = events.flatMap(({ user_id, name, source, data }) => {
    const row = byId.get(user_id)
    const was = name === 'user_updated' && source === 'system' ? (data.was as Partial<UserRow> | undefined) : undefined
    return row && was ? [{ ...row, ...was }] : []
  })
  const found = new Map<string, Date>()
  for (const { campaign, type } of campaigns.values()) {
    const addresses = [...new Set([...rows, ...former].flatMap((user) => addressOf(campaign.channel, user) ?? []))]
    const isTransactional = type?.is_transactional ?? false
    for (const [address, since] of await suppressedSince(ctx, campaign.channel, addresses, { isTransactional }))
      found.set(`${campaign.id} ${address}`, since)
  }
  return found
}

/** A world in which messages and calls end as they did, as far as that is known. */
function givenFor(
  ctx: ProjectCtx,
  needed: Needed,
  { recorded, outcomes }: Stored,
  rates: SharedRates,
  suppressed: ReadonlyMap<string, Date>,
): Given {
  return {
    ...givenOf(ctx, needed),
    evaluates: false,
    planMessage({ entrance, visit, at }, campaignId, user): MessagePlan | null {
      const isSuppressed = (name: string) => (suppressed.get(name)?.getTime() ?? Number.POSITIVE_INFINITY) <= at.getTime()
      const found = reasonFor(needed, campaignId, user, { has: isSuppressed })
      if (!found) return null
      const deadline = new Date(at.getTime() + found.campaign.expires_after_hours * HOUR_MS)
      const live = outcomes.find((one) => one.entrance_id === entrance.id && one.visit === visit)
      if (live) {
        const reason = live.state === 'skipped' ? live.reason : null
        return { reason, deadline, outcome: [{ state: live.state, reason: live.reason, at: latest(live.at, at) }] }
      }
      const state = found.reason === null ? 'sent' : 'skipped'
      return { reason: found.reason, deadline, outcome: [{ state, reason: found.reason, at }] }
    },
    answerOf({ entrance, visit, step, at }) {
      const live = recorded.find(({ entrance_id }) => entrance_id === entrance.id)
      const made = live?.trail.find((one) => one.visit === visit && one.step === step.key && one.left_at !== null)
      const answer = live && own(live.answers, step.key)
      if (!made || !answer) return { ...answerOf(undefined), at }
      const problem = made.path === 'success' || made.reason === 'answered' ? null : made.reason
      return { answer, problem, at: new Date(made.left_at as string) }
    },
    reserve: rates.reserve,
    render: renderIn(ctx),
  }
}
