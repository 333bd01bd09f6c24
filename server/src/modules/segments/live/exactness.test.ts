/**
 * Whatever happens to people, in whatever order and however late, a list holds whom a brute-force query over all events finds, at
 * every instant. Random rules, histories, merges and instants; the seed of a failure is printed, `LISTS_SEED` repeats it.
 */
import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { type Json, people, rules } from '../../../../test/arbitrary-rules.ts'
import { type World, world } from '../../../../test/world.ts'
import { type Sql, sql } from '../../../infra/db.ts'
import { allJobs } from '../../../workers.ts'
import { createBuilder } from '../building/build.ts'
import { compileRule } from '../rules/compile.ts'
import type { Rule } from '../rules/rule.ts'
import { ruleSql } from '../rules/sql.ts'
import { loadFacts } from './facts.ts'

const SEED = Number(process.env.LISTS_SEED ?? randomInt(2 ** 31))
const RUNS = Number(process.env.LISTS_RUNS ?? 16)
const HOUR_MS = 3_600_000
const START = new Date('2026-11-23T09:00:00.000Z').getTime()
const RULES = 4

/** One thing that happens. */
type Step =
  | { is: 'events'; items: { person: number; name: string; data: Json; agoMs: number; visitor: boolean }[] }
  | { is: 'change'; person: number; data: Json; how: 'batch' | 'patch' }
  | { is: 'merge'; person: number }
  | { is: 'subscribe'; person: number; state: 0 | 1 | 2 }
  | { is: 'member'; person: number; add: boolean }
  | { is: 'wait'; ms: number }
  | { is: 'list' }
  | { is: 'forget'; person: number }

const PEOPLE = 4

const steps = (mentionable: { lists: number[]; subscriptions: number[]; campaigns: number[] }): fc.Arbitrary<Step[]> => {
  const person = fc.nat(PEOPLE - 1)
  const event = fc
    .tuple(person, people(START, mentionable), fc.nat(40 * 24 * 2), fc.boolean())
    .chain(([who, made, halfHours, visitor]) =>
      fc.constant(made.history.map(({ name, data }) => ({ person: who, name, data, agoMs: (halfHours * HOUR_MS) / 2, visitor }))),
    )
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: event.map((items): Step => ({ is: 'events', items })) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(person, people(START, mentionable), fc.constantFrom('batch' as const, 'patch' as const))
        .map(([who, { data }, how]): Step => ({ is: 'change', person: who, data, how })),
    },
    { weight: 1, arbitrary: person.map((who): Step => ({ is: 'merge', person: who })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(person, fc.constantFrom(0 as const, 1 as const, 2 as const))
        .map(([who, state]): Step => ({ is: 'subscribe', person: who, state })),
    },
    { weight: 1, arbitrary: fc.tuple(person, fc.boolean()).map(([who, add]): Step => ({ is: 'member', person: who, add })) },
    {
      weight: 3,
      arbitrary: fc.integer({ min: 1, max: 20 * 24 }).map((hours): Step => ({ is: 'wait', ms: hours * HOUR_MS - (hours % 2) })),
    },
    { weight: 2, arbitrary: fc.constant<Step>({ is: 'list' }) },
    { weight: 1, arbitrary: person.map((who): Step => ({ is: 'forget', person: who })) },
  )
  return fc.array(step, { minLength: 6, maxLength: 16 })
}

test('what is kept up to date step by step is what SQL over everything, and memory, say at that instant', {
  timeout: 240_000,
}, async () => {
  await using w = await world()
  const seed = await mentionableOf(w)
  const story = fc.tuple(fc.array(rules(START, seed), { minLength: RULES, maxLength: RULES }), steps(seed), fc.boolean())
  await fc.assert(
    fc.asyncProperty(story, async ([given, happened, inARow]) => {
      const tenant = await w.other()
      const own = await mentionableOf(w, tenant.keys.secret)
      await play(
        w,
        tenant,
        given.map((rule) => renamed(rule, seed, own)),
        happened,
        own,
        inARow,
      )
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: process.env.LISTS_SHRINK === undefined },
  )
})

type Tenant = Awaited<ReturnType<World['other']>>
type Mentionable = { lists: number[]; subscriptions: number[]; campaigns: number[] }

async function mentionableOf(w: World, key = w.keys.secret): Promise<Mentionable> {
  const list = async (name: string) => (await w.post('/api/client/lists', { name, type: 'static' }, { key })).body.id
  const types = (await w.get('/api/client/subscriptions', { key })).body.results
  const campaign = await w.post('/api/client/campaigns', { type: 'blast', name: 'Spring', subscription_id: types[0].id }, { key })
  return { lists: [await list('One')], subscriptions: [types[0].id], campaigns: [campaign.body.id] }
}

/** A rule of one project as it would be in another. */
function renamed(rule: Json, from: Mentionable, to: Mentionable): Rule {
  const at = (name: keyof Mentionable) => (id: unknown) => to[name][from[name].indexOf(id as number)] ?? id
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const moved = 'attribute' in node && node.attribute === 'data.list_id'
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => {
        if (key === 'list') return [key, at('lists')(value)]
        if (key === 'subscription') return [key, at('subscriptions')(value)]
        if (key === 'campaign') return [key, at('campaigns')(value)]
        return [key, moved && key === 'is' ? at('lists')(value) : walk(value)]
      }),
    )
  }
  return walk(rule) as Rule
}

/** `inARow`: lists read past events page by page, as in a large project, while things happen. */
async function play(w: World, { keys, ctx }: Tenant, given: Rule[], happened: Step[], own: Mentionable, inARow: boolean): Promise<void> {
  const key = keys.secret
  const ok = async (reply: Promise<{ status: number; text: string }>) => {
    const { status, text } = await reply
    if (status >= 300 && status !== 404) throw new Error(text)
  }
  w.clock.set(new Date(START))
  const left = [...given]
  const lists: { id: number; rule: Rule }[] = []
  const makeList = async () => {
    const rule = left.shift()
    if (!rule) return
    const { status, body, text } = await w.post('/api/client/lists', { name: 'List', type: 'dynamic', rule }, { key })
    if (status !== 201) throw new Error(text)
    lists.push({ id: body.id, rule })
  }
  await makeList()
  await makeList()
  const build = createBuilder({ projectOf: async () => ctx.project, isBusy: async () => false, scanFromPeople: 0 })
  const name = (person: number) => `person-${person}`
  for (const [index, step] of happened.entries()) {
    switch (step.is) {
      case 'events':
        if (step.items.length > 0)
          await ok(
            w.post(
              '/api/client/events',
              step.items.map(({ person, name: event, data, agoMs, visitor }) => ({
                ...(visitor ? { anonymous_id: `visitor-${person}` } : { external_id: name(person) }),
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
            ? w.post('/api/client/users/batch', [{ external_id: name(step.person), data: step.data }], { key })
            : w.patch('/api/client/users', [{ external_id: name(step.person), data: step.data }], { key }),
        )
        break
      case 'merge':
        await ok(w.post('/api/client/users/batch', [{ external_id: name(step.person), anonymous_id: `visitor-${step.person}` }], { key }))
        break
      case 'subscribe':
        await ok(
          w.patch(`/api/client/users/${name(step.person)}/subscriptions`, [{ subscription_id: own.subscriptions[0], state: step.state }], {
            key,
          }),
        )
        break
      case 'member':
        await ok(
          w.request(
            step.add ? 'POST' : 'DELETE',
            `/api/client/lists/${own.lists[0]}/users`,
            { external_ids: [name(step.person)] },
            { key },
          ),
        )
        break
      case 'wait':
        w.advance(step.ms)
        break
      case 'list':
        await makeList()
        break
      case 'forget':
        await ok(w.delete(`/api/client/users/${name(step.person)}`, { key }))
        break
      default:
        step satisfies never
    }
    if (inARow) await goOn(w, build)
    // Not after each step: several things then happen in one batch.
    if (index % 2 === 1 || index === happened.length - 1) {
      await w.drain()
      for (const list of lists) await expectExact({ ...ctx, db: w.db }, list, `LISTS_SEED=${SEED}`)
    }
  }
}

/** One step of building, one batch of what happened, and the next step: each may come between any two of the other. */
async function goOn(w: World, build: (ctx: World['ctx']) => Promise<number>): Promise<void> {
  const people = allJobs().find(({ name }) => name === 'people')
  await build(w.ctx)
  await people?.run(w.ctx, new AbortController().signal)
  await build(w.ctx)
}

const Member = Type.Object({ id: Type.Integer() })

async function expectExact(ctx: Tenant['ctx'], { id, rule }: { id: number; rule: Rule }, about: string): Promise<void> {
  const now = ctx.clock.now()
  const compiled = compileRule(rule)
  const ids = async (statement: Sql) => (await ctx.db.all(Member, statement)).map((row) => row.id)
  const { columns, holds } = ruleSql(compiled, { projectId: ctx.projectId, now, source: { from: 'events' } })
  const everybody = await ids(
    sql`select id from users where project_id = ${ctx.projectId} and merged_into is null and erase_requested_at is null`,
  )
  const bySql = await ids(
    sql`select p.id from (select u.id, ${columns} from users u
          where u.project_id = ${ctx.projectId} and u.merged_into is null and u.erase_requested_at is null) p where ${holds} order by 1`,
  )
  const facts = await loadFacts(ctx, compiled, 'events', everybody as never[])
  const inMemory = everybody.filter((user) => compiled.holds(facts.get(user as never) as never, now.getTime())).sort((a, b) => a - b)
  const kept = await ids(
    sql`select p.user_id as id from list_people p join lists l on l.live_version_id = p.version_id
        where l.project_id = ${ctx.projectId} and l.id = ${id} and p.is_member order by 1`,
  )
  const [count] = await ids(
    sql`select coalesce(sum(c.members), 0)::bigint as id from list_counts c join lists l on l.live_version_id = c.version_id
        where l.project_id = ${ctx.projectId} and l.id = ${id}`,
  )
  const where = `${about}; ${JSON.stringify(rule)} at ${now.toISOString()}`
  expect(inMemory, `memory is SQL; ${where}`).toEqual(bySql)
  expect(kept, `what is kept is SQL; ${where}`).toEqual(bySql)
  expect(count, `the number is that of the members; ${where}`).toBe(kept.length)
}
