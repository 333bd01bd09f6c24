import { expect, test } from 'vitest'
import { graphWith, step } from '../../../../test/journey-round.ts'
import { scheduledOf, startKey } from './schedules.ts'

const at = (text: string) => new Date(text)
const window = { since: at('2026-08-01T00:00:00Z'), until: at('2026-10-30T00:00:00Z') }

const found = async (schedule: string, starts = new Map<string, Date>()) => {
  const graph = graphWith({ trigger: 'schedule', list_id: 1, schedule }, step('out', 'exit', {}))
  const [one] = await scheduledOf(graph, window, 'UTC', starts)
  return one?.in('UTC') ?? []
}

test.each([
  ['FREQ=HOURLY', 2160],
  ['FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12;BYMINUTE=0', 1170],
  ['FREQ=DAILY;BYHOUR=9;COUNT=30', 30],
])('a long window has all occurrences of a schedule: %s', async (schedule, count) => {
  const all = await found(`DTSTART:20260801T000000\n${schedule}`)
  // The window is without its first instant and with its last.
  expect(all.length).toBeGreaterThanOrEqual(count - 1)
  expect(all.length).toBeLessThanOrEqual(count + 1)
})

test('a schedule without a start has that of the live journey', async () => {
  const starts = new Map([[startKey('start', 'FREQ=DAILY'), at('2026-07-01T09:20:00Z')]])
  expect((await found('FREQ=DAILY', starts))[0]?.local).toBe('2026-08-01T09:20')
  expect((await found('FREQ=WEEKLY', starts))[0]?.local).toBe('2026-08-08T00:00')
})

test('a schedule whose journey was published within the window has the occurrences before it too, at the same time of day and week', async () => {
  const starting = (schedule: string) => found(schedule, new Map([[startKey('start', schedule), at('2026-10-28T09:20:00Z')]]))
  const daily = await starting('FREQ=DAILY')
  expect(daily).toHaveLength(90)
  expect(daily[0]?.local).toBe('2026-08-01T09:20')
  // The publication was on a Wednesday.
  expect((await starting('FREQ=WEEKLY')).map(({ local }) => local).slice(0, 2)).toEqual(['2026-08-05T09:20', '2026-08-12T09:20'])
  const monthly = (await starting('FREQ=MONTHLY')).map(({ local }) => local)
  expect(monthly).toEqual(['2026-08-28T09:20', '2026-09-28T09:20', '2026-10-28T09:20'])
})

const PUBLISHED = ['2026-10-28T09:20:00Z', '2026-08-31T23:50:00Z']
const RULES = [
  ...['FREQ=WEEKLY;INTERVAL=2', 'FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,TH;WKST=SU', 'FREQ=DAILY;INTERVAL=3', 'FREQ=DAILY;COUNT=3'],
  ...['FREQ=HOURLY;INTERVAL=7', 'FREQ=HOURLY;INTERVAL=1000', 'FREQ=MONTHLY;INTERVAL=5', 'FREQ=MONTHLY;INTERVAL=7;BYMONTHDAY=28,-1'],
  ...['FREQ=YEARLY;INTERVAL=3', 'FREQ=YEARLY;INTERVAL=1000', 'FREQ=MONTHLY;INTERVAL=997'],
]

test.each(PUBLISHED.flatMap((published) => RULES.map((rule) => [rule, published] as const)))(
  'from its publication on, a schedule has the occurrences of the live journey: %s of %s',
  async (rule, published) => {
    const expected = await found(`DTSTART:${published.replaceAll(/[-:Z]/g, '')}\n${rule}`)
    const all = await found(rule, new Map([[startKey('start', rule), at(published)]]))
    expect(all.filter((one) => one.at >= at(published))).toEqual(expected)
    expect(expected.length).toBeGreaterThan(0)
  },
)

test('a schedule with an interval has the occurrences before its publication in the same rhythm', async () => {
  const rule = 'FREQ=DAILY;INTERVAL=20'
  const all = await found(rule, new Map([[startKey('start', rule), at('2026-10-28T09:20:00Z')]]))
  expect(all.map(({ local }) => local.slice(0, 10))).toEqual(['2026-08-09', '2026-08-29', '2026-09-18', '2026-10-08', '2026-10-28'])
})
