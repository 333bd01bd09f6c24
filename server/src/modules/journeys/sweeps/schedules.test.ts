import { expect, test } from 'vitest'
import { dueAt, firstInstant, nextInstant } from './schedules.ts'

const at = (text: string) => new Date(`${text}:00Z`)
const DAILY = 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0'
const timing = (zone: 'project' | 'user', schedule = DAILY) => ({ schedule, zone, since: at('2026-11-01T00:00').toISOString() })

test('a schedule of the project comes at the local time of its zone', async () => {
  // Sydney is 11 hours ahead.
  expect(await firstInstant(timing('project'), at('2026-11-23T00:00'), 'Australia/Sydney')).toEqual(at('2026-11-23T22:00'))
  expect(await nextInstant(timing('project'), at('2026-11-23T22:00'), 'Australia/Sydney')).toEqual(at('2026-11-24T22:00'))
})

test('a schedule of users comes at one instant after the other, in every zone', async () => {
  const found: string[] = []
  let after = at('2026-11-22T18:59')
  for (let count = 0; count < 60; count++) {
    const next = await nextInstant(timing('user'), after, 'Australia/Sydney')
    if (!next || next > at('2026-11-23T21:00')) break
    found.push(next.toISOString())
    after = next
  }
  // Kiritimati is first, Sydney in between, Pago Pago last.
  expect(found[0]).toBe('2026-11-22T19:00:00.000Z')
  expect(found).toContain('2026-11-22T22:00:00.000Z')
  expect(found).toContain('2026-11-23T03:30:00.000Z')
  expect(found).toContain('2026-11-23T20:00:00.000Z')
  expect(new Set(found).size).toBe(found.length)
})

test('what comes at an instant is that of the zone, named by its local time', async () => {
  const instant = at('2026-11-22T22:00')
  const due = await dueAt(timing('user'), instant, instant, 'UTC')
  expect(due('Australia/Sydney')).toEqual({ is: 'run', local: '2026-11-23T09:00' })
  expect(due('UTC')).toEqual({ is: 'nothing' })
})

test.each([
  ['on time', '2026-11-23T09:00', 'run'],
  ['23 hours late', '2026-11-24T08:00', 'run'],
  ['when the next one has come', '2026-11-24T09:00', 'missed'],
])('an occurrence that is looked at %s is %s', async (_, now, is) => {
  expect((await dueAt(timing('project'), at('2026-11-23T09:00'), at(now), 'UTC'))('UTC')).toMatchObject({ is })
})

test('an occurrence of a weekly schedule is missed after 24 hours', async () => {
  const weekly = timing('project', 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0')
  expect((await dueAt(weekly, at('2026-11-23T09:00'), at('2026-11-24T09:00'), 'UTC'))('UTC')).toMatchObject({ is: 'run' })
  expect((await dueAt(weekly, at('2026-11-23T09:00'), at('2026-11-24T09:01'), 'UTC'))('UTC')).toEqual({ is: 'missed' })
})

test('a schedule that is over has no next instant', async () => {
  const over = timing('project', `${DAILY};UNTIL=20261124T235959Z`)
  expect(await nextInstant(over, at('2026-11-24T09:00'), 'UTC')).toBeNull()
})
