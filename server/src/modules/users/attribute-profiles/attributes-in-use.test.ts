import { describe, expect, test } from 'vitest'
import { failSaves } from '../../../../test/failing-saves.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { runToEnd } from '../../../infra/queue/jobs.ts'
import { userJobs } from '../jobs.ts'

const SCHEMA = '/api/client/schema/attributes'
const MANY = 5001

const save = async (w: World, users: unknown[]) => {
  const { body } = await w.post('/api/client/users/batch', users)
  expect(body.failed).toBe(0)
}

type Attribute = { key: string; types: string[]; people: number; coverage: number; samples: unknown[]; last_seen: string }
const attributes = async (w: World, key = w.keys.secret): Promise<Record<string, Attribute>> =>
  Object.fromEntries((await w.get(SCHEMA, { key })).body.results.map((attribute: Attribute) => [attribute.key, attribute]))

/** Users. Every tenth one has a plan. */
const crowd = (w: World, users: number) =>
  w.db.run(
    sql`insert into users (project_id, external_id, data, created_at, updated_at)
        select ${w.projectId}, 'u' || n, case when n % 10 = 0 then '{"plan": "pro"}'::jsonb else '{}' end, ${w.clock.now()}, ${w.clock.now()}
        from generate_series(1, ${users}::int) n`,
  )

/** Runs the profiling job until there is nothing to do. Returns the number of runs that did something. */
async function profileAll(w: World): Promise<number> {
  const { signal } = new AbortController()
  let runs = 0
  for (const job of userJobs) while ((await runToEnd(job, w.ctx, signal)) > 0) runs++
  return runs
}

describe('GET /schema/attributes', () => {
  test('shows at once which attributes users have, of which types, and how many users have them', async () => {
    await using w = await world()
    await save(w, [
      { external_id: 'kim', email: 'kim@example.com', data: { plan: 'pro', age: 42, 'a.b\\c': true, address: { city: 'Perth' } } },
      { external_id: 'lee', data: { plan: 'free', age: '42' } },
    ])
    w.advance('1 hour')
    await save(w, [{ anonymous_id: 'visitor', data: { plan: null } }])
    const { body } = await w.get(SCHEMA, { key: w.keys.support })
    expect([body.people, body.as_of]).toEqual([3, '2026-11-23T10:00:00.000Z'])
    const [early, late] = ['2026-11-23T09:00:00.000Z', '2026-11-23T10:00:00.000Z']
    expect(body.results).toEqual([
      { key: 'created_at', types: ['date'], people: 3, coverage: 1, samples: [early, late], last_seen: late },
      { key: 'has_push_device', types: ['boolean'], people: 3, coverage: 1, samples: [false], last_seen: late },
      { key: 'data.age', types: ['number', 'string'], people: 2, coverage: 2 / 3, samples: ['42', 42], last_seen: early },
      { key: 'data.plan', types: ['string'], people: 2, coverage: 2 / 3, samples: ['free', 'pro'], last_seen: early },
      { key: 'external_id', types: ['string'], people: 2, coverage: 2 / 3, samples: ['kim', 'lee'], last_seen: early },
      { key: 'anonymous_id', types: ['string'], people: 1, coverage: 1 / 3, samples: ['visitor'], last_seen: late },
      { key: 'data.a\\.b\\\\c', types: ['boolean'], people: 1, coverage: 1 / 3, samples: [true], last_seen: early },
      { key: 'data.address', types: ['object'], people: 1, coverage: 1 / 3, samples: ['{"city": "Perth"}'], last_seen: early },
      { key: 'email', types: ['string'], people: 1, coverage: 1 / 3, samples: ['kim@example.com'], last_seen: early },
    ])
  })

  test('shows nothing of an empty project', async () => {
    await using w = await world()
    expect((await w.get(SCHEMA)).body).toEqual({ results: [], people: 0, as_of: '2026-11-23T09:00:00.000Z' })
  })

  test('leaves out what the caller may not see', async () => {
    await using w = await world()
    await save(w, [{ external_id: 'kim', data: { open: 1, salary: 2, nobody: 3, own: 4 } }])
    await w.put('/api/client/attributes/salary', { min_role: 'admin' })
    await w.put('/api/client/attributes/nobody', { hidden: true })
    await w.put('/api/client/attributes/own', { end_user: true })
    const seen = async (key: string) => Object.keys(await attributes(w, key)).filter((name) => name.startsWith('data.'))
    expect(await seen(w.keys.secret)).toEqual(['data.open', 'data.own', 'data.salary'])
    expect(await seen(w.keys.editor)).toEqual(['data.open', 'data.own'])
    expect(JSON.stringify(await attributes(w, w.keys.support))).not.toMatch(/salary|nobody/)
  })

  test('has the labels and marks of the register, and personal data for editors only', async () => {
    await using w = await world()
    await save(w, [{ external_id: 'kim', data: { 'a.b': 1, birthday: '1990-02-03' } }])
    await w.put('/api/client/attributes/a.b', { label: 'Odd' })
    await w.put('/api/client/attributes/birthday', { label: 'Birthday', personal_data: true })
    const seen = async (key: string) =>
      (await w.get(SCHEMA, { key })).body.results.flatMap(({ key, label, personal_data }: any) =>
        label ? [[key, label, personal_data]] : [],
      )
    expect((await seen(w.keys.editor)).toSorted()).toEqual([
      ['data.a\\.b', 'Odd', undefined],
      ['data.birthday', 'Birthday', true],
    ])
    expect(await seen(w.keys.support)).toEqual([['data.a\\.b', 'Odd', undefined]])
  })

  test('leaves out merged users, erased users and users of other projects', async () => {
    await using w = await world()
    const other = await w.other()
    await w.post('/api/client/users/batch', [{ external_id: 'theirs', data: { theirs: 1 } }], { key: other.keys.secret })
    await save(w, [
      { external_id: 'kim', data: { kept: 1 } },
      { anonymous_id: 'visitor', data: { kept: 2 } },
      { external_id: 'kim', anonymous_id: 'visitor' },
      { external_id: 'lee', data: { secret: 'lee' } },
    ])
    await w.delete('/api/client/users/lee')
    const found = await attributes(w)
    expect(found['data.kept']).toMatchObject({ people: 1, coverage: 1 })
    expect(Object.keys(found).filter((key) => /secret|theirs/.test(key))).toEqual([])
  })

  test('in a large project, the newest users represent all until the first run has ended; one request starts it', async () => {
    await using w = await world()
    await crowd(w, MANY + 5000)
    await w.db.run(sql`update users set data = '{"rare": 1}' where project_id = ${w.projectId} and external_id = 'u1'`)
    const first = (await w.get(SCHEMA)).body
    expect(first.people).toBe(5000)
    expect(first.results.some(({ key }: Attribute) => key === 'data.rare')).toBe(false)
    w.advance('1 minute')
    await w.get(SCHEMA)
    expect(await profileAll(w)).toBe(3)
    const { body } = await w.get(SCHEMA)
    expect([body.people, body.as_of]).toEqual([MANY + 5000, '2026-11-23T09:01:00.000Z'])
    const found = Object.fromEntries(body.results.map((attribute: Attribute) => [attribute.key, attribute]))
    expect(found['data.rare']).toMatchObject({ people: 1, samples: [1], coverage: 1 / (MANY + 5000) })
    expect(found['data.plan']).toMatchObject({ people: 1000, samples: ['pro'], types: ['string'] })
    expect(found.external_id.samples).toHaveLength(5)
    expect(await profileAll(w)).toBe(0)
  })

  test('in a large project, users are counted again every hour, and samples are of this moment', async () => {
    await using w = await world()
    await crowd(w, MANY + 999)
    await w.get(SCHEMA)
    await profileAll(w)
    await w.db.run(sql`update users set data = '{"plan": 7}' where project_id = ${w.projectId} and data <> '{}'`)
    w.advance('59 minutes')
    expect(await profileAll(w)).toBe(0)
    expect((await attributes(w))['data.plan']).toMatchObject({ types: ['string'], samples: [7], people: 600 })
    w.advance('1 minute')
    expect(await profileAll(w)).toBeGreaterThan(0)
    expect((await attributes(w))['data.plan']).toMatchObject({ types: ['number'], people: 600 })
    await w.db.run(sql`update users set erase_requested_at = ${w.clock.now()} where project_id = ${w.projectId} and data <> '{}'`)
    expect((await attributes(w))['data.plan']?.samples).toEqual([])
    await w.put('/api/client/attributes/plan', { hidden: true })
    expect((await attributes(w))['data.plan']).toBeUndefined()
  })

  test('users are not profiled without requests, and again after the next one', async () => {
    await using w = await world()
    await crowd(w, MANY)
    expect(await profileAll(w)).toBe(0)
    await w.get(SCHEMA)
    expect(await profileAll(w)).toBeGreaterThan(0)
    w.advance('8 days')
    await profileAll(w)
    w.advance('1 day')
    expect(await profileAll(w)).toBe(0)
    await w.get(SCHEMA)
    expect(await profileAll(w)).toBeGreaterThan(0)
  })

  test('a large project whose users cannot be profiled keeps no other from it', async () => {
    await using w = await world()
    const other = { ...w, ...(await w.other()) }
    for (const each of [w, other]) {
      await crowd(each, MANY)
      await w.get(SCHEMA, { key: each.keys.secret })
      w.advance('1 second')
    }
    await using _ = await failSaves(w, { table: 'attribute_profiles', on: 'insert', when: 'true' })
    await profileAll(w)
    const people = async ({ keys }: Pick<World, 'keys'>) => (await w.get(SCHEMA, { key: keys.secret })).body.people
    // Until its first run has ended, the newest 5,000 users represent all.
    expect([await people(w), await people(other)]).toEqual([MANY - 1, MANY])
  })

  test('of more attributes than can be shown, those that most users have are shown', async () => {
    await using w = await world()
    const keys = (from: number) => Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${from + index}`, 1]))
    await save(
      w,
      [0, 300, 600, 900]
        .map((from) => ({ external_id: `u${from}`, data: { ...keys(from), k0: 1 } }))
        .map(({ external_id, data }) => {
          const { k1: _, ...rest } = data as Record<string, number>
          return { external_id, data: Object.fromEntries(Object.entries(rest).slice(0, 300)) }
        }),
    )
    const { body } = await w.get(SCHEMA)
    expect(body.results).toHaveLength(1000)
  })
})
