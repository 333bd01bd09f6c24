import fc from 'fast-check'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  histories,
  instants,
  type Json,
  type MadeUpEvent,
  type MadeUpUser,
  type ReferenceIds,
  rules,
  users,
} from '../../../test/arbitrary-rules.ts'
import { type World, world } from '../../../test/world.ts'
import { raw, sql } from '../../infra/postgres/db.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import { ruleTables } from '../lists/rule-tables.queries.ts'
import { checkRule } from './check.ts'
import { type CompiledRule, compileRule, matchesTracker, type Tracker, type UserFacts } from './compile.ts'
import { explainRule } from './explain.ts'
import type { Rule } from './rule.ts'
import { matchesEventSql, ruleSql } from './sql.ts'

/** More with `RULES_RUNS`. */
const RUNS = Number(process.env.RULES_RUNS ?? 30)
const NOW_MS = Date.parse('2026-11-23T09:00:00.000Z')
const NOW = new Date(NOW_MS)
const CAMPAIGNS = [9, 10]
const FIRST_ID = 1000

let w: World
let referenceIds: ReferenceIds
let versions: number[]
let defaults: (0 | 1)[]

const Id = Type.Object({ id: Type.Integer() })

beforeAll(async () => {
  w = await world()
  const subscriptions = await w.db.many(Id, sql`select id from subscriptions where project_id = ${w.projectId} order by id limit 2`)
  await w.db.run(sql`update subscriptions set default_state = 0 where id = ${subscriptions[0]?.id}`)
  defaults = [0, 1]
  const lists = await w.db.many(
    Id,
    sql`insert into lists (project_id, name, type, created_at, updated_at)
        select ${w.projectId}, 'List ' || n, 'static', ${NOW}, ${NOW} from generate_series(1, 2) n returning id`,
  )
  // Each list has two versions; the first one is live.
  const made = await w.db.many(
    Id,
    sql`insert into list_versions (project_id, list_id, status, created_at)
        select ${w.projectId}, l.id, s.status, ${NOW}
        from unnest(${lists.map(({ id }) => id)}::bigint[]) l(id), (values ('live'), ('building')) s(status) order by s.status desc, l.id returning id`,
  )
  versions = made.map(({ id }) => id)
  await w.db.run(
    sql`update lists l set live_version_id = (select id from list_versions v where v.list_id = l.id and v.status = 'live') where project_id = ${w.projectId}`,
  )
  referenceIds = { lists: lists.map(({ id }) => id), subscriptions: subscriptions.map(({ id }) => id), campaigns: CAMPAIGNS }
})
afterAll(() => w[Symbol.asyncDispose]())

beforeEach(clear)

async function clear(): Promise<void> {
  await w.db.run(sql`truncate users, events, tracked_times, list_memberships, user_subscriptions, devices`)
}

type Saved = { id: number; facts: UserFacts; history: MadeUpEvent[] }

const externalId = (user: MadeUpUser, id: number) => (user.has_external_id ? `user-${id}` : null)

/** The facts of a user for evaluation in memory. Times are set for each rule. */
function factsOf(user: MadeUpUser, id: number): UserFacts {
  const { email, phone, timezone, locale, anonymous_id, data, has_push_device, createdAtMs, devices } = user
  return {
    id,
    user: {
      email,
      phone,
      timezone,
      locale,
      anonymous_id,
      data,
      has_push_device,
      external_id: externalId(user, id),
      created_at: new Date(createdAtMs),
    },
    times: () => [],
    journey: () => undefined,
    isIn: (list) => user.lists.includes(referenceIds.lists.indexOf(list)),
    subscription: (type) => {
      const place = referenceIds.subscriptions.indexOf(type)
      return user.states[place] ?? (defaults[place] as 0 | 1)
    },
    devices,
  }
}

/** Saves users, each with a merged user who has the merged history. */
async function save(madeUp: MadeUpUser[]): Promise<Saved[]> {
  const ids = madeUp.map((_, index) => FIRST_ID + 2 * index)
  const users = madeUp.map((user, index) => ({
    ...factsOf(user, ids[index] as number).user,
    id: ids[index],
    created_at: new Date(user.createdAtMs).toISOString(),
  }))
  const { projectId } = w
  await w.db.run(
    sql`insert into users (id, project_id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at, updated_at)
        select i.id, ${projectId}, i.external_id, i.anonymous_id, i.email, i.phone, i.timezone, i.locale, i.data, i.has_push_device, i.created_at, ${NOW}
        from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as i(id bigint, external_id text, anonymous_id text, email text, phone text,
          timezone text, locale text, data jsonb, has_push_device boolean, created_at timestamptz)`,
  )
  await w.db.run(
    sql`insert into users (id, project_id, merged_into, created_at, updated_at)
        select id + 1, ${projectId}, id, ${NOW}, ${NOW} from unnest(${ids}::bigint[]) id`,
  )
  await saveEvents(
    madeUp.flatMap(({ history, mergedHistory }, index) => [
      ...history.map((event) => ({ ...event, user_id: ids[index] as number })),
      ...mergedHistory.map((event) => ({ ...event, user_id: (ids[index] as number) + 1 })),
    ]),
  )
  await saveRest(madeUp, ids)
  return madeUp.map((user, index) => ({
    id: ids[index] as number,
    facts: factsOf(user, ids[index] as number),
    history: [...user.history, ...user.mergedHistory],
  }))
}

async function saveEvents(events: (MadeUpEvent & { user_id: number })[]): Promise<void> {
  await w.db.run(
    sql`insert into events (project_id, user_id, name, source, data, created_at, received_at)
        select ${w.projectId}, i.user_id, i.name, nullif(i.source, 'api'), i.data, 'epoch'::timestamptz + i."atMs" * interval '1 millisecond', ${NOW}
        from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as i(user_id bigint, name text, source text, data jsonb, "atMs" bigint)`,
  )
}

async function saveRest(madeUp: MadeUpUser[], ids: number[]): Promise<void> {
  const { projectId } = w
  const devices = madeUp.flatMap((user, index) =>
    user.devices.map((device, at) => ({ ...device, user_id: ids[index], device_id: `${index}-${at}` })),
  )
  const states = madeUp.flatMap((user, index) =>
    Object.entries(user.states).map(([place, state]) => ({ user_id: ids[index], id: referenceIds.subscriptions[Number(place)], state })),
  )
  // In the other versions the memberships are the opposite.
  const members = madeUp.flatMap((user, index) =>
    referenceIds.lists.flatMap((_, place) => [
      { user_id: ids[index], version_id: versions[place], is_member: user.lists.includes(place) },
      { user_id: ids[index], version_id: versions[place + 2], is_member: !user.lists.includes(place) },
    ]),
  )
  await w.db.run(
    sql`insert into devices (project_id, user_id, device_id, os, os_version, model, app_version, app_build, created_at, updated_at)
        select ${projectId}, i.user_id, i.device_id, i.os, i.os_version, i.model, i.app_version, i.app_build, ${NOW}, ${NOW}
        from jsonb_to_recordset(${JSON.stringify(devices)}::jsonb)
          as i(user_id bigint, device_id text, os text, os_version text, model text, app_version text, app_build text)`,
  )
  await w.db.run(
    sql`insert into user_subscriptions (project_id, user_id, subscription_id, state, updated_at)
        select ${projectId}, i.user_id, i.id, i.state, ${NOW}
        from jsonb_to_recordset(${JSON.stringify(states)}::jsonb) as i(user_id bigint, id bigint, state smallint)`,
  )
  await w.db.run(
    sql`insert into list_memberships (project_id, version_id, user_id, is_member, changed_at)
        select ${projectId}, i.version_id, i.user_id, i.is_member, ${NOW}
        from jsonb_to_recordset(${JSON.stringify(members)}::jsonb) as i(user_id bigint, version_id bigint, is_member boolean)`,
  )
}

/** The times that a tracker keeps of a history, computed in the simplest way: those after now, and as many of the others as it needs. */
function timesOf(tracker: Tracker, history: MadeUpEvent[], nowMs: number): number[] {
  const times = history
    .filter(({ name, source, data, atMs }) => matchesTracker(tracker, { name, source, data, createdAtMs: atMs }, nowMs))
    .map(({ atMs }) => atMs)
  if (tracker.keep === 'earliest') return times.sort((a, b) => a - b).slice(0, tracker.count)
  const latest = times.filter((ms) => ms <= nowMs).sort((a, b) => b - a)
  return [...times.filter((ms) => ms > nowMs).sort((a, b) => b - a), ...latest.slice(0, tracker.count)]
}

/** The events that count at an instant. */
const countsUpTo = (history: MadeUpEvent[], nowMs: number) => history.filter(({ atMs }) => atMs <= nowMs)

function withTimes(compiled: CompiledRule, { facts, history }: Saved, nowMs: number): UserFacts {
  const times = compiled.trackers.map((tracker) => timesOf(tracker, history, nowMs))
  return { ...facts, times: (tracker) => times[tracker] as number[] }
}

type Answer = { id: number; conditions: boolean[]; holds: boolean; nextChangeAt: number | null }

const Row = Type.Object({
  id: Type.Integer(),
  holds: Type.Boolean(),
  nextChangeAt: Type.Unsafe<Date | null>({}),
  conditions: Type.Array(Type.Boolean()),
})

async function askSql(compiled: CompiledRule, now: Date, trackerIds: number[] | null): Promise<Answer[]> {
  const source =
    trackerIds === null ? { from: 'events' as const } : { from: 'times' as const, trackerIds, after: 0, last: Number.MAX_SAFE_INTEGER }
  const { columns, joins, holds, nextChangeAt } = ruleSql(compiled, { projectId: w.projectId, now, source, tables: ruleTables })
  const each = raw(compiled.conditions.map((_, index) => `p.c${index}`).join(', '))
  const rows = await w.db.many(
    Row,
    sql`select p.id, ${holds} as holds, ${nextChangeAt} as "nextChangeAt", array[${each}] as conditions
        from (select u.id, ${columns} from users u ${joins} where u.project_id = ${w.projectId} and u.merged_into is null) p order by p.id`,
  )
  return rows.map((row) => ({ ...row, nextChangeAt: row.nextChangeAt?.getTime() ?? null }))
}

async function saveTimes(compiled: CompiledRule, saved: Saved[], nowMs: number): Promise<number[]> {
  await w.db.run(sql`delete from tracked_times`)
  const rows = compiled.trackers.flatMap((tracker, index) =>
    saved.map(({ id, history }) => ({ tracker_id: index + 1, user_id: id, times: timesOf(tracker, history, nowMs) })),
  )
  await w.db.run(
    sql`insert into tracked_times (project_id, tracker_id, user_id, times)
        select ${w.projectId}, i.tracker_id, i.user_id, i.times
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as i(tracker_id bigint, user_id bigint, times bigint[]) where cardinality(i.times) > 0`,
  )
  return compiled.trackers.map((_, index) => index + 1)
}

test('evaluation in memory, on events and on tracked times has the same results', async () => {
  const made = fc.record({
    madeUp: fc.array(users(NOW_MS, referenceIds), { minLength: 4, maxLength: 8 }),
    written: fc.array(rules(NOW_MS, referenceIds), { minLength: 3, maxLength: 6 }),
    nowMs: fc.oneof(fc.constant(NOW_MS), instants(NOW_MS)),
  })
  const totals = { true: 0, false: 0, changes: 0, leftOut: 0 }
  await fc.assert(
    fc.asyncProperty(made, async ({ madeUp, written, nowMs }) => {
      await clear()
      const saved = await save(madeUp)
      for (const value of written) {
        expect(checkRule(value, 'rule')).toEqual([])
        const compiled = compileRule(value as Rule)
        const expected = saved.map((user): Answer => {
          const facts = withTimes(compiled, user, nowMs)
          const holds = compiled.holds(facts, nowMs)
          // Events of the future might as well not be stored.
          const past = { ...user, history: countsUpTo(user.history, nowMs) }
          expect(compiled.holds(withTimes(compiled, past, nowMs), nowMs)).toBe(holds)
          const nextChangeAt = compiled.nextChangeAt(facts, nowMs)
          totals[`${holds}`]++
          if (nextChangeAt !== null) totals.changes++
          return { id: user.id, conditions: compiled.conditions.map((one) => one.compiled.holds(facts, nowMs)), holds, nextChangeAt }
        })
        const now = new Date(nowMs)
        const onTimes = await askSql(compiled, now, await saveTimes(compiled, saved, nowMs))
        const found = new Set(onTimes.map(({ id }) => id))
        expect(onTimes).toEqual(expected.filter(({ id }) => found.has(id)))
        for (const [at, { id, holds, nextChangeAt }] of expected.entries()) {
          if (found.has(id)) continue
          // Whoever is left out matches neither now nor when time passes.
          const facts = withTimes(compiled, saved[at] as Saved, nowMs)
          expect([holds, nextChangeAt !== null && compiled.holds(facts, nextChangeAt)]).toEqual([false, false])
          totals.leftOut++
        }
        const withoutChange = (answers: Answer[]) => answers.map(({ nextChangeAt: _, ...answer }) => answer)
        expect(withoutChange(await askSql(compiled, now, null))).toEqual(withoutChange(expected))
      }
    }),
    { numRuns: RUNS },
  )
  for (const count of Object.values(totals)) expect(count).toBeGreaterThan(50)
}, 120_000)

test.each<[Json, Json, number, boolean]>([
  [{}, {}, 0, true],
  [{ event: 'login' }, {}, 0, false],
  [{ since: NOW.toISOString() }, {}, 0, true],
  [{ since: NOW.toISOString() }, {}, -1, false],
  [{ until: NOW.toISOString() }, {}, 0, false],
  [{ until: NOW.toISOString() }, {}, -1, true],
  // The window is checked when the times are read.
  [{ within: '1h' }, {}, -HOUR_MS, true],
  [{ where: [{ attribute: 'data.total', at_least: 5 }] }, { total: 5 }, 0, true],
  [{ where: [{ attribute: 'data.total', at_least: 5 }] }, {}, 0, false],
  [
    {
      where: [
        { attribute: 'data.a', is_not: 1 },
        { attribute: 'data.b', is: 1 },
      ],
    },
    { b: 1 },
    0,
    true,
  ],
  [
    {
      where: [
        { attribute: 'data.a', is_not: 1 },
        { attribute: 'data.b', is: 1 },
      ],
    },
    { a: 1, b: 1 },
    0,
    false,
  ],
])('whether a tracker with %j keeps a purchase with %j after %i ms is %s, in SQL too', async (members, data, afterMs, kept) => {
  const [tracker] = compileRule({ event: 'purchase', ...members } as Rule).trackers
  const event = { name: 'purchase', source: 'api' as const, data, atMs: NOW_MS + afterMs }
  expect(matchesTracker(tracker as Tracker, { ...event, createdAtMs: event.atMs }, NOW_MS)).toBe(kept)
  await saveEvents([{ ...event, user_id: 1 }])
  const rows = await w.db.many(
    Id,
    sql`select e.user_id as id from events e where e.project_id = ${w.projectId} and ${matchesEventSql(tracker as Tracker)}`,
  )
  expect(rows.length === 1).toBe(kept)
})

test('a tracker keeps the same events in SQL and in memory', async () => {
  const made = fc.record({
    history: histories(NOW_MS, referenceIds, 30),
    written: fc.array(rules(NOW_MS, referenceIds), { minLength: 5, maxLength: 10 }),
  })
  const Place = Type.Object({ place: Type.Integer() })
  await fc.assert(
    fc.asyncProperty(made, async ({ history, written }) => {
      await clear()
      await saveEvents(history.map((event, index) => ({ ...event, data: { ...event.data, place: index }, user_id: 1 })))
      for (const tracker of written.flatMap((rule) => compileRule(rule as Rule).trackers)) {
        const rows = await w.db.many(
          Place,
          sql`select (e.data -> 'place')::int as place from events e where e.project_id = ${w.projectId} and ${matchesEventSql(tracker)} order by 1`,
        )
        const kept = history.flatMap(({ name, source, data, atMs }, index) =>
          matchesTracker(tracker, { name, source, data, createdAtMs: atMs }, 0) ? [index] : [],
        )
        expect(rows.map(({ place }) => place)).toEqual(kept)
      }
    }),
    { numRuns: 25 },
  )
}, 60_000)

test('no result changes before the next change because time passes', () => {
  const made = fc.record({
    user: users(NOW_MS, referenceIds),
    rule: rules(NOW_MS, referenceIds),
    startMs: instants(NOW_MS),
    laterMs: fc.array(fc.oneof(instants(NOW_MS), instants(NOW_MS + 40 * DAY_MS)), { minLength: 20, maxLength: 20 }),
  })
  let changes = 0
  fc.assert(
    fc.property(made, ({ user, rule, startMs, laterMs }) => {
      const compiled = compileRule(rule as Rule)
      const saved = { id: 1, facts: factsOf(user, 1), history: [...user.history, ...user.mergedHistory] }
      const facts = withTimes(compiled, saved, startMs)
      const holds = compiled.holds(facts, startMs)
      const next = compiled.nextChangeAt(facts, startMs) ?? Number.POSITIVE_INFINITY
      expect(next).toBeGreaterThan(startMs)
      for (const ms of [...laterMs, next - 1].filter((at) => at > startMs && Number.isFinite(at))) {
        if (compiled.holds(facts, ms) === holds) continue
        changes++
        expect(next).toBeLessThanOrEqual(ms)
      }
      // There are no more changes than the conditions can have: two for each, and one for each event that is yet to come.
      const changesMax = (2 + saved.history.length) * compiled.conditions.length
      let changeCount = 0
      for (
        let at: number | null = next;
        changeCount <= changesMax && at !== null && Number.isFinite(at);
        at = compiled.nextChangeAt(facts, at)
      )
        changeCount++
      expect(changeCount).toBeLessThanOrEqual(changesMax)
    }),
    { numRuns: 3000 },
  )
  expect(changes).toBeGreaterThan(500)
})

test('the explanation has the result of the evaluation', () => {
  const made = fc.record({ user: users(NOW_MS, referenceIds), rule: rules(NOW_MS, referenceIds) })
  fc.assert(
    fc.property(made, ({ user, rule }) => {
      const compiled = compileRule(rule as Rule)
      const facts = withTimes(compiled, { id: 1, facts: factsOf(user, 1), history: user.history }, NOW_MS)
      const explained = explainRule(compiled, facts, NOW_MS)
      expect(explained.passes).toBe(compiled.holds(facts, NOW_MS))
      expect(JSON.parse(JSON.stringify(explained))).toEqual(explained)
    }),
    { numRuns: 500 },
  )
})
