/** Schedules over later publications, and over a time in the archive. */
import { expect, test, vi } from 'vitest'
import { createJourney, dropQueue, listOf, nextAt, queuedItems, READY, scheduled } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { archiveJourney } from '../queries.ts'
import { checkClock } from './clock.ts'
import { parkSchedules } from './queries.ts'
import { sweepDue } from './sweep.ts'

/** A live journey that a user enters on schedule. */
async function withSchedule(w: World, schedule: string) {
  await w.users('ana')
  const steps = scheduled(await listOf(w, 'ana'), 'project', schedule)
  const journey = await createJourney(w, { status: 'live' }, steps)
  await w.drain()
  const entered = async () => (await journey.get('stats')).entered ?? 0
  const days = async (count: number) => {
    for (let day = 0; day < count; day++) {
      w.advance('1 day')
      await w.drain()
    }
  }
  const publish = async (graph: object) => {
    expect((await journey.put(graph)).status).toBe(200)
    expect((await journey.post('publish')).status).toBe(200)
    await w.drain()
  }
  return { journey, steps, entered, days, publish }
}

test('a schedule that has ended does not start again with a version that has it too, but with one after it was gone', async () => {
  await using w = await world()
  const { steps, entered, days, publish } = await withSchedule(w, 'FREQ=DAILY;COUNT=2')
  await days(4)
  expect(await entered()).toBe(2)
  await publish({ ...steps, w1: { ...READY.w1, name: 'Other' } })
  await days(4)
  expect(await entered()).toBe(2)
  await publish(READY)
  await publish(steps)
  await days(4)
  expect(await entered()).toBe(4)
})

test.each(['FREQ=DAILY', 'FREQ=WEEKLY;INTERVAL=2'])('a journey that is restored keeps the start of its schedule: %s', async (schedule) => {
  await using w = await world()
  const { journey } = await withSchedule(w, schedule)
  w.advance('6 hours')
  await w.drain()
  const [before] = await nextAt(w, journey)
  expect((await w.delete(journey.path)).status).toBe(204)
  await w.drain()
  w.advance('7 minutes')
  expect((await w.post(`${journey.path}/unarchive`)).status).toBe(200)
  expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  expect(await nextAt(w, journey)).toContain(before)
})

const zoneOf = (w: World) => (timezone: string) =>
  w.patch(`/api/client/projects/${w.projectId}`, { timezone }, { key: w.keys.organisation })

test.each(['restored', 'published'])('a journey that is %s right after the time zone changed comes by the new one', async (how) => {
  await using w = await world()
  const zone = zoneOf(w)
  await zone('UTC')
  w.clock.set(new Date('2026-11-23T15:00:00Z'))
  await w.users('ana')
  const steps = scheduled(await listOf(w, 'ana'))
  const journey = await createJourney(w, { status: 'live' }, how === 'restored' ? steps : READY)
  if (how === 'restored') expect((await w.delete(journey.path)).status).toBe(204)
  else expect((await journey.put(steps)).status).toBe(200)
  expect((await zone('Australia/Sydney')).status).toBe(200)
  expect((await journey.post(how === 'restored' ? 'unarchive' : 'publish')).status).toBe(200)
  expect(await nextAt(w, journey)).toContain('2026-11-23T22:00:00.000Z')
})

test.each<[string, (w: World) => Promise<unknown>]>([
  ['the time zone changes', (w) => zoneOf(w)('Australia/Sydney')],
  ['the clock was set back', (w) => checkClock(w.ctx)],
])('the schedule of a journey that is being archived when %s rests', async (_, change) => {
  await using w = await world()
  await zoneOf(w)('UTC')
  w.clock.set(new Date('2026-11-23T15:00:00Z'))
  const { journey } = await withSchedule(w, 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0')
  w.advance('3 days')
  await w.drain()
  w.clock.set(new Date('2026-11-23T15:00:00Z'))
  const changing = await inTx(w.ctx, async (ctx) => {
    await archiveJourney(ctx, journey.id as JourneyId)
    await parkSchedules(ctx, journey.id as JourneyId)
    let isOver = false
    const changing = change(w).finally(() => {
      isOver = true
    })
    const waits = `select 1 from pg_locks where not granted and locktype = 'transactionid'`
    await vi.waitFor(async () => expect(isOver || (await select(w, waits)).length > 0).toBe(true), { timeout: 20_000, interval: 20 })
    return { changing }
  })
  await changing.changing
  const due = `select 1 from journey_sweeps where journey_id = $1 and kind = 'schedule' and next_at < '2100-01-01'`
  expect(await select(w, due, [journey.id])).toEqual([])
})

test('a schedule with a count goes on counting while its journey is archived', async () => {
  await using w = await world()
  const { journey, entered, days } = await withSchedule(w, 'FREQ=DAILY;COUNT=3')
  await days(1)
  expect((await w.delete(journey.path)).status).toBe(204)
  await days(1)
  expect((await w.post(`${journey.path}/unarchive`)).status).toBe(200)
  expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  await days(4)
  expect(await entered()).toBe(2)
})

test('an occurrence that has begun comes to its end when the next one has come meanwhile', async () => {
  await using w = await world()
  const list = await listOf(w)
  const journey = await createJourney(w, { status: 'live' }, scheduled(list, 'project', 'FREQ=HOURLY;BYMINUTE=0'))
  await w.drain()
  await dropQueue(w)
  await select(
    w,
    `insert into list_memberships (project_id, version_id, user_id, is_member, changed_at)
     select $1, live_version_id, 1000000 + g, true, $3 from lists, generate_series(1, 1500) g where id = $2`,
    [w.projectId, list, w.clock.now()],
  )
  const [next] = await nextAt(w, journey)
  w.clock.set(new Date(next as string))
  await sweepDue(w.ctx)
  expect(await queuedItems(w)).toHaveLength(1000)
  w.advance('65 minutes')
  await sweepDue(w.ctx)
  const items = await queuedItems(w)
  expect(new Set(items.map(({ user_id }) => user_id)).size).toBe(1500)
  expect(new Set(items.map((item) => 'cause' in item && item.cause)).size).toBe(1)
})
