import { expect, test } from 'vitest'
import { failSaves } from '../../../../test/failing-saves.ts'
import { createJourney, listOf, putInside, READY } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'

/** Runs something a day ahead, and sets the clock back. */
async function aDayAhead(w: World, act: () => Promise<void>): Promise<void> {
  const now = w.clock.now()
  w.advance('1 day')
  await act()
  await w.drain('journeys.check-clock')
  w.clock.set(now)
  await w.drain('journeys.check-clock')
}

test('members enter a journey that was published while the clock was ahead when it is set back, and later ones once', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list_id = await listOf(w, 'ana')
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  let entered = async () => 0
  await aDayAhead(w, async () => {
    const journey = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
    entered = async () => (await journey.get('stats')).entered
  })
  await w.post(`/api/client/lists/${list_id}/users`, { external_ids: ['bob'] })
  await w.drain()
  expect(await entered()).toBe(2)
})

test('users exit from a journey that was stopped while the clock was ahead when it is set back, and a drain keeps its time', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const [stopped, drained] = [await createJourney(w, { status: 'live' }, READY), await createJourney(w, { status: 'live' }, READY)]
  await putInside(w, stopped, { user: 'ana' })
  await putInside(w, drained, { user: 'bob' })
  await aDayAhead(w, async () => {
    expect((await stopped.post('stop')).status).toBe(202)
    expect((await drained.post('drain', { within: '24h' })).status).toBe(202)
  })
  await w.drain()
  expect((await stopped.get('users')).results).toEqual([])
  expect((await drained.get('users')).results).toHaveLength(1)
})

test('a project that cannot be set back keeps no other from it, and is set back when it can be', async () => {
  await using w = await world()
  const other = await w.other()
  const { secret: key } = other.keys
  const theirs: World = {
    ...w,
    ...other,
    post: (path, body) => w.post(path, body, { key }),
    put: (path, body) => w.put(path, body, { key }),
  }
  for (const each of [w, theirs]) await createJourney(each, { status: 'live' }, READY)
  const sweeps = async ({ projectId }: World) =>
    (await select(w, `select id from journey_sweeps where project_id = $1 and kind = 'clock'`, [projectId])).length
  {
    await using _ = await failSaves(w, { table: 'journey_sweeps', on: 'insert', when: 'true' })
    await aDayAhead(w, async () => {})
    expect([await sweeps(w), await sweeps(theirs)]).toEqual([0, 1])
  }
  w.advance('1 minute')
  await w.drain('journeys.check-clock')
  expect(await sweeps(w)).toBe(1)
})
