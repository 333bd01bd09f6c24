/**
 * At every instant, a list has the users that a query over all stored events finds, whatever the order and the delay of changes. Rules,
 * histories, merges and instants are random. The gate uses one seed;
 * `LISTS_SEED` and `LISTS_RUNS` try others.
 */

import fc from 'fast-check'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { type Json, rules, users } from '../../../../test/arbitrary-rules.ts'
import { seedFrom } from '../../../../test/random.ts'
import { type World, world } from '../../../../test/world.ts'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { type Job, runToEnd } from '../../../infra/queue/jobs.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { allJobs } from '../../../workers.ts'
import { createInboxStreams } from '../../inbox/index.ts'
import { compileRule } from '../../rules/compile.ts'
import type { Rule } from '../../rules/rule.ts'
import { ruleSql } from '../../rules/sql.ts'
import { createListBuilder } from '../building/build.ts'
import { ruleTables } from '../rule-tables.queries.ts'
import { loadFacts } from './load-facts.ts'

const SEED = seedFrom('LISTS_SEED')
const RUNS = Number(process.env.LISTS_RUNS ?? 6)
const START = new Date('2026-11-23T09:00:00.000Z').getTime()
const RULES = 4
/** More runs than of the other test, because each is short. */
const MERGE_RUNS_FACTOR = 3

/** With an external id, an anonymous id, or both, which merges the users. */
type Guise = 'person' | 'visitor' | 'both'

type Step =
  | { is: 'events'; items: { user: number; name: string; data: Json; agoMs: number; as: Guise }[] }
  | { is: 'change'; user: number; data: Json; how: 'batch' | 'patch' }
  | { is: 'merge'; user: number }
  | { is: 'subscribe'; user: number; state: 0 | 1 | 2 }
  | { is: 'member'; user: number; add: boolean }
  | { is: 'wait'; ms: number }
  | { is: 'list' }
  | { is: 'forget'; user: number }
  | { is: 'build' }
  | { is: 'apply' }

const USERS = 4

const steps = (references: { lists: number[]; subscriptions: number[]; campaigns: number[] }): fc.Arbitrary<Step[]> => {
  const user = fc.nat(USERS - 1)
  const event = fc
    .tuple(user, users(START, references), fc.oneof(fc.nat(40 * 24 * 2), fc.constant(-1)), fc.constantFrom<Guise>('person', 'visitor'))
    .chain(([who, made, halfHours, as]) =>
      // Some devices are up to five minutes ahead.
      fc.constant(
        made.history.map(({ name, data }, index) => {
          const agoMs = halfHours < 0 ? -Math.min(5, index + 1) * MINUTE_MS : (halfHours * HOUR_MS) / 2
          return { user: who, name, data, agoMs, as }
        }),
      ),
    )
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: event.map((items): Step => ({ is: 'events', items })) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(user, users(START, references), fc.constantFrom('batch' as const, 'patch' as const))
        .map(([who, { data }, how]): Step => ({ is: 'change', user: who, data, how })),
    },
    { weight: 1, arbitrary: user.map((who): Step => ({ is: 'merge', user: who })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(user, fc.constantFrom(0 as const, 1 as const, 2 as const))
        .map(([who, state]): Step => ({ is: 'subscribe', user: who, state })),
    },
    { weight: 1, arbitrary: fc.tuple(user, fc.boolean()).map(([who, add]): Step => ({ is: 'member', user: who, add })) },
    {
      weight: 3,
      arbitrary: fc.integer({ min: 1, max: 20 * 24 }).map((hours): Step => ({ is: 'wait', ms: hours * HOUR_MS - (hours % 2) })),
    },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }).map((minutes): Step => ({ is: 'wait', ms: minutes * MINUTE_MS })) },
    { weight: 2, arbitrary: fc.constant<Step>({ is: 'list' }) },
    { weight: 1, arbitrary: user.map((who): Step => ({ is: 'forget', user: who })) },
  )
  return fc.array(step, { minLength: 6, maxLength: 16 }).map((actions) => [{ is: 'list' }, { is: 'list' }, ...actions])
}

/** Adds a build step, a batch of the consumer and another build step after each step, so that they interleave. */
const interleaved = (actions: Step[]): Step[] => actions.flatMap((step) => [step, { is: 'build' }, { is: 'apply' }, { is: 'build' }])

/** Lists are built a few users at a time between other steps. Past events are read page by page, as in a large project, or by user. */
type BuildSizes = { scanFromUsers: number; chunkUsers: number; halvedFromIds: number }

const buildSizes: fc.Arbitrary<BuildSizes> = fc.record({
  scanFromUsers: fc.constantFrom(0, Number.MAX_SAFE_INTEGER),
  chunkUsers: fc.constantFrom(1, 1, 2, 3),
  halvedFromIds: fc.constantFrom(0, Number.POSITIVE_INFINITY),
})

const did = (user: number, as: Guise, name: string): Step => ({ is: 'events', items: [{ user, name, data: {}, agoMs: 0, as }] })
const couples = [0, 1].flatMap((user) => (['person', 'visitor'] as const).map((as) => ({ user, as })))
const names = fc.constantFrom('purchase', 'login')
const still = <K extends 'build' | 'apply' | 'list'>(is: K) => fc.constant<Step>({ is })

/** Only what matters for merges during a build: which user came first, the events of each, and the order of the steps. */
const mergeSteps: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc
      .shuffledSubarray(couples, { minLength: 3 })
      .chain((came) => fc.tuple(...came.map(({ user, as }) => names.map((name) => did(user, as, name))))),
    fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...couples), names).map(([{ user, as }, name]) => did(user, as, name)) },
        { weight: 2, arbitrary: fc.tuple(fc.nat(1), names).map(([user, name]) => did(user, 'both', name)) },
        { weight: 2, arbitrary: fc.nat(1).map((user): Step => ({ is: 'merge', user })) },
        { weight: 5, arbitrary: still('build') },
        { weight: 4, arbitrary: still('apply') },
        { weight: 1, arbitrary: still('list') },
      ),
      { minLength: 10, maxLength: 30 },
    ),
  )
  .map(([came, actions]) => [...came, { is: 'apply' }, { is: 'list' }, { is: 'list' }, ...actions])

const countingRules: fc.Arbitrary<Rule> = fc.record({
  event: fc.constantFrom('purchase', 'login'),
  exactly: fc.integer({ min: 1, max: 4 }),
})

test('stored memberships equal those that SQL and memory evaluate from all events at that instant', {
  timeout: 240_000,
}, async () => {
  await using w = await world()
  const seed = await createReferences(w)
  const story = fc.tuple(
    fc.array(rules(START, seed), { minLength: RULES, maxLength: RULES }),
    steps(seed),
    fc.option(buildSizes, { freq: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(story, async ([given, actions, sizes]) => {
      const tenant = await w.other()
      const own = await createReferences(w, tenant.keys.secret)
      const rules = given.map((rule) => renamed(rule, seed, own))
      await runSteps(
        w,
        tenant,
        sizes ? { rules, actions: interleaved(actions), own, sizes, checkedEvery: 32 } : { rules, actions, own, sizes, checkedEvery: 2 },
      )
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: process.env.LISTS_SHRINK === undefined },
  )
})

test('users who are merged during a build count as one, whichever was evaluated before', {
  timeout: 240_000,
}, async () => {
  await using w = await world()
  const own = await createReferences(w)
  const story = fc.tuple(fc.array(countingRules, { minLength: RULES, maxLength: RULES }), mergeSteps, buildSizes)
  await fc.assert(
    fc.asyncProperty(story, async ([given, actions, sizes]) => {
      await runSteps(w, await w.other(), { rules: given, actions, own, sizes, checkedEvery: Number.POSITIVE_INFINITY })
    }),
    { numRuns: RUNS * MERGE_RUNS_FACTOR, seed: SEED, endOnFailure: process.env.LISTS_SHRINK === undefined },
  )
})

type Tenant = Awaited<ReturnType<World['other']>>
type References = { lists: number[]; subscriptions: number[]; campaigns: number[] }

async function createReferences(w: World, key = w.keys.secret): Promise<References> {
  const list = async (name: string) => (await w.post('/api/client/lists', { name, type: 'static' }, { key })).body.id
  const types = (await w.get('/api/client/subscriptions', { key })).body.results
  const campaign = await w.post('/api/client/campaigns', { type: 'blast', name: 'Spring', subscription_id: types[0].id }, { key })
  return { lists: [await list('One')], subscriptions: [types[0].id], campaigns: [campaign.body.id] }
}

/** Replaces the references of a rule by those of another project. */
function renamed(rule: Json, from: References, to: References): Rule {
  const at = (name: keyof References) => (id: unknown) => to[name][from[name].indexOf(id as number)] ?? id
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const isListId = 'attribute' in node && node.attribute === 'data.list_id'
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => {
        if (key === 'list') return [key, at('lists')(value)]
        if (key === 'subscription') return [key, at('subscriptions')(value)]
        if (key === 'campaign') return [key, at('campaigns')(value)]
        return [key, isListId && key === 'is' ? at('lists')(value) : walk(value)]
      }),
    )
  }
  return walk(rule) as Rule
}

type Story = { rules: Rule[]; actions: Step[]; own: References; sizes: BuildSizes | null; checkedEvery: number }

async function runSteps(w: World, { keys, ctx }: Tenant, { rules, actions, own, sizes, checkedEvery }: Story): Promise<void> {
  const key = keys.secret
  const ok = async (reply: Promise<{ status: number; text: string }>) => {
    const { status, text } = await reply
    if (status >= 300 && status !== 404) throw new Error(text)
  }
  w.clock.set(new Date(START))
  const left = [...rules]
  const lists: { id: number; rule: Rule }[] = []
  const makeList = async () => {
    const rule = left.shift()
    if (!rule) return
    const { status, body, text } = await w.post('/api/client/lists', { name: 'List', type: 'dynamic', rule }, { key })
    if (status !== 201) throw new Error(text)
    lists.push({ id: body.id, rule })
  }
  const build = createListBuilder(sizes ?? {})
  const name = (user: number) => `person-${user}`
  for (const [index, step] of actions.entries()) {
    switch (step.is) {
      case 'events':
        if (step.items.length > 0)
          await ok(
            w.post(
              '/api/client/events',
              step.items.map(({ user, name: event, data, agoMs, as }) => ({
                ...(as !== 'visitor' && { external_id: name(user) }),
                ...(as !== 'person' && { anonymous_id: `visitor-${user}` }),
                name: event,
                data,
                created_at: new Date(w.clock.now().getTime() - agoMs).toISOString(),
              })),
              { key },
            ),
          )
        break
      case 'change':
        await ok(
          step.how === 'batch'
            ? w.post('/api/client/users/batch', [{ external_id: name(step.user), data: step.data }], { key })
            : w.patch('/api/client/users', [{ external_id: name(step.user), data: step.data }], { key }),
        )
        break
      case 'merge':
        await ok(w.post('/api/client/users/batch', [{ external_id: name(step.user), anonymous_id: `visitor-${step.user}` }], { key }))
        break
      case 'subscribe':
        await ok(
          w.patch(`/api/client/users/${name(step.user)}/subscriptions`, [{ subscription_id: own.subscriptions[0], state: step.state }], {
            key,
          }),
        )
        break
      case 'member':
        await ok(
          w.request(step.add ? 'POST' : 'DELETE', `/api/client/lists/${own.lists[0]}/users`, { external_ids: [name(step.user)] }, { key }),
        )
        break
      case 'wait':
        w.advance(step.ms)
        break
      case 'list':
        await makeList()
        break
      case 'forget':
        await ok(w.delete(`/api/client/users/${name(step.user)}`, { key }))
        break
      case 'build':
        await build(w.ctx)
        break
      case 'apply':
        await apply(w)
        break
      default:
        step satisfies never
    }
    // Not after each step, so that a batch has several changes, and a build lasts for several steps.
    if (index % checkedEvery === 1 || index === actions.length - 1) {
      await w.drain()
      for (const list of lists) await expectExact({ ...ctx, db: w.db }, list, `LISTS_SEED=${SEED}`)
    }
  }
}

async function apply(w: World): Promise<void> {
  const job = allJobs(createInboxStreams()).find(({ name }) => name === 'ingest.apply') as Job
  await runToEnd(job, w.ctx, new AbortController().signal)
}

const Member = Type.Object({ id: Type.Integer() })

async function expectExact(ctx: Tenant['ctx'], { id, rule }: { id: number; rule: Rule }, about: string): Promise<void> {
  const now = ctx.clock.now()
  const compiled = compileRule(rule)
  const ids = async (statement: Sql) => (await ctx.db.many(Member, statement)).map((row) => row.id)
  const { columns, holds } = ruleSql(compiled, { projectId: ctx.projectId, now, source: { from: 'events' }, tables: ruleTables })
  const all = await ids(
    sql`select id from users where project_id = ${ctx.projectId} and merged_into is null and erase_requested_at is null`,
  )
  const bySql = await ids(
    sql`select p.id from (select u.id, ${columns} from users u
          where u.project_id = ${ctx.projectId} and u.merged_into is null and u.erase_requested_at is null) p where ${holds} order by 1`,
  )
  const facts = await loadFacts(ctx, compiled, 'events', all as never[])
  const inMemory = all.filter((user) => compiled.holds(facts.get(user as never) as never, now.getTime())).sort((a, b) => a - b)
  const kept = await ids(
    sql`select p.user_id as id from list_memberships p join lists l on l.live_version_id = p.version_id
        where l.project_id = ${ctx.projectId} and l.id = ${id} and p.is_member order by 1`,
  )
  const [count] = await ids(
    sql`select coalesce(sum(c.members), 0)::bigint as id from list_counts c join lists l on l.live_version_id = c.version_id
        where l.project_id = ${ctx.projectId} and l.id = ${id}`,
  )
  const where = `${about}; ${JSON.stringify(rule)} at ${now.toISOString()}`
  expect(inMemory, `memory equals SQL; ${where}`).toEqual(bySql)
  expect(kept, `stored memberships equal SQL; ${where}`).toEqual(bySql)
  expect(count, `the count equals the number of members; ${where}`).toBe(kept.length)
}
