/** The rule condition `journey`: in memory, in SQL, explained, and in lists that follow. */
import { describe, expect, test } from 'vitest'
import { createJourney, READY } from '../../../test/journeys.ts'
import { type World, world } from '../../../test/world.ts'

const both = { ...READY, w1: { ...READY.w1, children: [{ external_id: 'w2' }] }, w2: { ...READY.w1 } }

async function membersOf(w: World, id: number): Promise<string[]> {
  return (await w.get(`/api/client/lists/${id}/users`)).body.results.map(({ external_id }: any) => external_id).sort()
}

async function listWith(w: World, rule: object): Promise<number> {
  const reply = await w.post('/api/client/lists', { name: 'Follows', type: 'dynamic', rule })
  expect(reply.status, reply.text).toBe(201)
  await w.drain()
  return reply.body.id
}

/** A journey with `in` inside, `done` completed, `gone` exited and `out` outside. */
async function withUsers(w: World) {
  await w.users('in', 'done', 'gone', 'out')
  const journey = await createJourney(w, { status: 'live' }, both)
  for (const external_id of ['in', 'done', 'gone']) await journey.post('entrances', { external_id })
  await w.drain()
  for (const _ of ['w1', 'w2']) {
    await journey.post('users/done/skip')
    await w.drain()
  }
  await w.delete(`${journey.path}/users/gone`)
  await w.drain()
  return journey
}

describe('a list with the condition', () => {
  const CASES: [object, string[]][] = [
    [{ is: 'inside' }, ['in']],
    [{ is: 'inside', step: 'w1' }, ['in']],
    [{ is: 'inside', step: 'w2' }, []],
    [{ is: 'never_entered' }, ['out']],
    [{ is: 'completed' }, ['done']],
    [{ is: 'exited' }, ['gone']],
    [{ is: 'held_out' }, []],
    [{ is: 'completed', within: '1d' }, ['done']],
    [{ is: 'exited', within: '1d' }, ['gone']],
    [{ is: 'never_entered', within: '1d' }, ['out']],
    [{ is: 'inside', within: '1d' }, ['in']],
  ]

  test('has the users for whom it holds, whether it was built before them or after, and the explanation agrees', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    for (const [condition, expected] of CASES) {
      const rule = { journey: journey.id, ...condition }
      const list = await listWith(w, rule)
      expect([condition, await membersOf(w, list)]).toEqual([condition, expected])
      for (const name of ['in', 'done', 'gone', 'out']) {
        const { body } = await w.get(`/api/client/lists/${list}/users/${name}/explain`)
        expect([condition, name, body.holds]).toEqual([condition, name, expected.includes(name)])
      }
      await w.delete(`/api/client/lists/${list}`)
    }
  })

  test('follows users who enter, move, complete and are removed', async () => {
    await using w = await world()
    await w.users('ana', 'bob')
    const journey = await createJourney(w, { status: 'live' }, both)
    const lists = {
      inside: await listWith(w, { journey: journey.id, is: 'inside' }),
      w2: await listWith(w, { journey: journey.id, is: 'inside', step: 'w2' }),
      never: await listWith(w, { journey: journey.id, is: 'never_entered' }),
      completed: await listWith(w, { journey: journey.id, is: 'completed' }),
      exited: await listWith(w, { journey: journey.id, is: 'exited' }),
    }
    const seen = async () =>
      Object.fromEntries(await Promise.all(Object.entries(lists).map(async ([name, id]) => [name, (await membersOf(w, id)).join(' ')])))
    expect(await seen()).toEqual({ inside: '', w2: '', never: 'ana bob', completed: '', exited: '' })
    for (const external_id of ['ana', 'bob']) await journey.post('entrances', { external_id })
    await w.drain()
    expect(await seen()).toEqual({ inside: 'ana bob', w2: '', never: '', completed: '', exited: '' })
    await journey.post('users/ana/skip')
    await w.delete(`${journey.path}/users/bob`)
    await w.drain()
    expect(await seen()).toEqual({ inside: 'ana', w2: 'ana', never: '', completed: '', exited: 'bob' })
    w.advance('3 days')
    await w.drain()
    expect(await seen()).toEqual({ inside: '', w2: '', never: '', completed: 'ana', exited: 'bob' })
  })

  test('follows the passing of time', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    const completed = await listWith(w, { journey: journey.id, is: 'completed', within: '2d' })
    const never = await listWith(w, { journey: journey.id, is: 'never_entered', within: '2d' })
    expect([await membersOf(w, completed), await membersOf(w, never)]).toEqual([['done'], ['out']])
    w.advance('2 days')
    await w.drain()
    expect([await membersOf(w, completed), await membersOf(w, never)]).toEqual([[], ['done', 'gone', 'in', 'out']])
  })

  test('follows users who are held out', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, {}, READY)
    await w.patch(journey.path, { settings: { holdout_percent: 100 } })
    await journey.post('publish')
    const list = await listWith(w, { journey: journey.id, is: 'held_out' })
    await journey.post('entrances', { external_id: 'ana' })
    await w.drain()
    expect(await membersOf(w, list)).toEqual(['ana'])
    expect(await journey.get('stats')).toMatchObject({ entered: 0, held_out: 1 })
  })

  test.each([
    [{ is: 'completed', step: 'w1' }, 422, 'rule.step'],
    [{ is: 'inside', within: '0d' }, 400, 'rule.within'],
    [{ is: 'paused' }, 400, 'rule.is'],
    [{}, 400, 'rule.is'],
  ])('%j is refused', async (condition, status, param) => {
    await using w = await world()
    const journey = await createJourney(w, {}, READY)
    const rule = { journey: journey.id, ...condition }
    expect(await w.post('/api/client/lists', { name: 'x', type: 'dynamic', rule })).toMatchObject({ status, body: { error: { param } } })
  })

  test('on a journey of another project, or one without steps, is refused', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, READY)
    const empty = await createJourney(w)
    const { keys } = await w.other()
    const post = (id: number, key: string) =>
      w.post('/api/client/lists', { name: 'x', type: 'dynamic', rule: { journey: id, is: 'inside' } }, { key })
    expect((await post(journey.id, keys.secret)).body.error).toMatchObject({ param: 'rule.journey', code: 'validation_failed' })
    expect((await post(empty.id, w.keys.secret)).status).toBe(422)
    expect((await post(journey.id, w.keys.secret)).body.description).toBe(`is inside the journey ${journey.id}`)
  })
})
