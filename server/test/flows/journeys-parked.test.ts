/** A decision of a journey that failed, and is made again at a request. */
import { expect, test } from 'vitest'
import { createJourney, putInside, READY } from '../journeys.ts'
import { select } from '../select.ts'
import { world } from '../world.ts'

test('a decision that failed on arrival is made again: the user waits', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  const entrance_id = await putInside(w, journey, { user: 'ana' })
  const parked = 'arrived: a bug'
  await select(w, 'update journey_entrances set parked = $1, due_at = null where entrance_id = $2 returning entrance_id', [
    parked,
    entrance_id,
  ])
  await w.drain()
  expect(await select(w, 'select parked from journey_entrances where entrance_id = $1', [entrance_id])).toEqual([{ parked }])
  expect((await journey.post('users/ana/retry', { entrance_id })).status).toBe(202)
  await w.drain()
  const { entrances } = await journey.get('users/ana')
  expect(entrances).toMatchObject([{ step: 'w1', outcome: null, due_at: expect.any(String) }])
  expect(entrances[0].parked).toBeUndefined()
})
