import fc from 'fast-check'
import { RRuleTemporal } from 'rrule-temporal'
import { describe, expect, test } from 'vitest'
import {
  compileSchedule,
  dueOccurrence,
  localsThrough,
  nextOccurrence,
  occurrencesAmong,
  occurrencesIn,
  occurrencesThrough,
  scheduleProblem,
} from './schedule.ts'

const at = (text: string) => new Date(text)
const PUBLISHED = at('2026-11-23T09:17:42Z')

/** The instants of a schedule in a range, by local time. */
const found = async (text: string, from: string, to: string, zone = 'UTC') =>
  occurrencesIn(await compileSchedule(text, PUBLISHED, zone), at(from), at(to), zone).map(({ local, at }) => [local, at.toISOString()])

describe('a schedule is', () => {
  test.each([
    'FREQ=DAILY',
    'RRULE:FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=30',
    'DTSTART:20261201T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9',
    'DTSTART;VALUE=DATE:20261201\r\nFREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29',
    'freq=daily;interval=2;count=10',
    'FREQ=HOURLY;INTERVAL=6;BYMINUTE=0,15,30,45',
    'FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO',
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;UNTIL=20301231',
    'FREQ=DAILY;UNTIL=20301231T090000Z',
  ])('accepted: %s', (text) => expect(scheduleProblem(text)).toBeNull())

  test.each([
    ['', 'must be one `RRULE`'],
    ['daily', 'must not have `DAILY`'],
    ['BYHOUR=9', 'must have `FREQ`'],
    ['FREQ=MINUTELY', 'in `FREQ`'],
    ['FREQ=SECONDLY;BYSECOND=1', 'in `FREQ`'],
    ['FREQ=DAILY;BYSECOND=1', 'must not have `BYSECOND`'],
    ['FREQ=DAILY;BYMINUTE=0,10,20,30,40', 'at most 4 values in `BYMINUTE`'],
    ['FREQ=DAILY;BYHOUR=24', 'in `BYHOUR`'],
    ['FREQ=MONTHLY;BYMONTHDAY=0', 'in `BYMONTHDAY`'],
    ['FREQ=WEEKLY;BYDAY=XX', 'in `BYDAY`'],
    ['FREQ=DAILY;INTERVAL=0', 'in `INTERVAL`'],
    ['FREQ=DAILY;COUNT=1001', 'in `COUNT`'],
    ['FREQ=DAILY;COUNT=2;UNTIL=20301231', 'both `COUNT` and `UNTIL`'],
    ['FREQ=DAILY;UNTIL=20301331', 'a date that exists'],
    ['FREQ=DAILY;FREQ=WEEKLY', 'once'],
    ['FREQ=DAILY;RSCALE=CHINESE', 'must not have `RSCALE`'],
    ['FREQ=DAILY\nEXDATE:20261201T090000', 'must be one `RRULE`'],
    ['DTSTART:20261301T090000\nFREQ=DAILY', '`DTSTART`'],
    ['DTSTART:20261201T090000Z\nFREQ=DAILY', 'without a time zone'],
    ['DTSTART:20261201T090015\nFREQ=DAILY', 'must have a `DTSTART` at a whole minute'],
    ['DTSTART;TZID=Australia/Sydney:20261201T090000\nFREQ=DAILY', 'without a time zone'],
  ])('refused: %s', (text, problem) => expect(scheduleProblem(text)).toContain(problem))
})

describe('a rule that never comes is refused, after a bounded search', () => {
  test.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6',
    'FREQ=DAILY;BYMONTHDAY=30;BYMONTH=2',
    'FREQ=HOURLY;BYMONTHDAY=30;BYMONTH=2',
    'FREQ=HOURLY;INTERVAL=24;BYHOUR=3',
    'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYSETPOS=7',
    'FREQ=YEARLY;BYWEEKNO=53;BYYEARDAY=100',
    'FREQ=YEARLY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;BYDAY=1MO',
  ])('%s', async (text) => {
    expect(scheduleProblem(text)).toContain('has no time that comes')
    // What was stored before it could be checked has no instants, and does not stop the job.
    if (text.includes('BYDAY=1MO')) return
    expect(await found(text, '2026-11-23T00:00:00Z', '2026-12-23T00:00:00Z')).toEqual([])
    expect(await nextOccurrence(await compileSchedule(text, PUBLISHED, 'UTC'), PUBLISHED, 'UTC')).toBeNull()
  })
})

describe('the instants of a schedule', () => {
  test('are after the first and up to the last instant of a range', async () => {
    const text = 'DTSTART:20261101T090000\nFREQ=DAILY'
    expect(await found(text, '2026-11-23T09:00:00Z', '2026-11-25T09:00:00Z')).toEqual([
      ['2026-11-24T09:00', '2026-11-24T09:00:00.000Z'],
      ['2026-11-25T09:00', '2026-11-25T09:00:00.000Z'],
    ])
  })

  test('begin at the minute of the publication without a start', async () => {
    expect(await found('FREQ=DAILY', '2026-11-23T09:17:42Z', '2026-11-25T00:00:00Z')).toEqual([
      ['2026-11-24T09:17', '2026-11-24T09:17:00.000Z'],
    ])
    expect(await found('FREQ=WEEKLY', '2026-11-20T00:00:00Z', '2026-11-24T00:00:00Z', 'Australia/Sydney')).toEqual([
      ['2026-11-23T20:17', '2026-11-23T09:17:00.000Z'],
    ])
  })

  test.each([
    ['Australia/Sydney', 'gap', '20261003T023000', '2026-10-03T16:30:00.000Z'],
    ['Australia/Sydney', 'overlap', '20260404T023000', '2026-04-04T15:30:00.000Z'],
    ['Australia/Lord_Howe', 'gap', '20261003T021500', '2026-10-03T15:45:00.000Z'],
    ['Australia/Lord_Howe', 'overlap', '20260404T014500', '2026-04-04T14:45:00.000Z'],
    ['America/Santiago', 'gap', '20260905T000000', '2026-09-06T04:00:00.000Z'],
    ['America/Santiago', 'overlap', '20260403T233000', '2026-04-05T02:30:00.000Z'],
    ['Africa/Casablanca', 'overlap', '20260214T023000', '2026-02-15T01:30:00.000Z'],
    ['Africa/Casablanca', 'gap', '20260321T023000', '2026-03-22T02:30:00.000Z'],
    ['UTC', 'usual day', '20261003T023000', '2026-10-04T02:30:00.000Z'],
  ])('come once in %s on the day of a %s', async (zone, _, start, instant) => {
    const schedule = await compileSchedule(`DTSTART:${start}\nFREQ=DAILY`, PUBLISHED, zone)
    const noon = (days: number) => new Date(Date.parse(instant) + (days * 24 - 12) * 3_600_000)
    expect(occurrencesIn(schedule, noon(0), noon(1), zone).map(({ at }) => at.toISOString())).toEqual([instant])
  })

  test('of an hourly rule come once for one instant', async () => {
    const instants = await found('DTSTART:20261001T003000\nFREQ=HOURLY', '2026-10-03T14:00:00Z', '2026-10-03T18:00:00Z', 'Australia/Sydney')
    expect(instants.map(([, instant]) => instant)).toEqual([
      '2026-10-03T14:30:00.000Z',
      '2026-10-03T15:30:00.000Z',
      '2026-10-03T16:30:00.000Z',
      '2026-10-03T17:30:00.000Z',
    ])
  })

  test.each([
    ['UNTIL=20261203', 3],
    ['UNTIL=20261202T090000', 2],
    ['UNTIL=20261202T085959', 1],
    ['UNTIL=20261202T090000Z', 2],
    ['UNTIL=20261202T085959Z', 1],
    ['COUNT=2', 2],
  ])('end with %s', async (end, count) => {
    const text = `DTSTART:20261201T090000\nFREQ=DAILY;${end}`
    expect(await found(text, '2026-11-30T00:00:00Z', '2027-02-01T00:00:00Z')).toHaveLength(count)
    const schedule = await compileSchedule(text, PUBLISHED, 'UTC')
    expect(await nextOccurrence(schedule, at(`2026-12-0${count}T09:00:00Z`), 'UTC')).toBeNull()
    expect((await nextOccurrence(schedule, at(`2026-12-0${count}T08:59:59Z`), 'UTC'))?.local).toBe(`2026-12-0${count}T09:00`)
  })

  test('are found one by one as in a range', async () => {
    const zone = 'Australia/Sydney'
    const schedule = await compileSchedule('DTSTART:20260101T023000\nFREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30', PUBLISHED, zone)
    const [from, to] = [at('2026-10-01T00:00:00Z'), at('2026-10-08T00:00:00Z')]
    const all: Date[] = []
    for (let next = await nextOccurrence(schedule, from, zone); next && next.at <= to; next = await nextOccurrence(schedule, next.at, zone))
      all.push(next.at)
    expect(all).toEqual(occurrencesIn(schedule, from, to, zone).map(({ at }) => at))
    expect(all.length).toBeGreaterThan(24)
  })
})

describe('after an outage', () => {
  const daily = compileSchedule('DTSTART:20261101T090000\nFREQ=DAILY', PUBLISHED, 'UTC')
  test.each([
    ['2026-11-23T08:59:59Z', '2026-11-23T09:00:00Z', '2026-11-23T09:00', 0],
    ['2026-11-23T09:00:00Z', '2026-11-24T08:59:59Z', undefined, 0],
    ['2026-11-19T10:00:00Z', '2026-11-23T12:00:00Z', '2026-11-23T09:00', 3],
    ['2026-11-19T10:00:00Z', '2026-11-24T09:00:00Z', '2026-11-24T09:00', 4],
  ])('from %s to %s, %s runs and %i were missed', async (since, now, local, missed) => {
    const due = dueOccurrence(await daily, at(since), at(now), 'UTC')
    expect([due.run?.local, due.missed]).toEqual([local, missed])
  })

  test('an occurrence that is more than 24 hours old does not run', async () => {
    const weekly = await compileSchedule('DTSTART:20261102T090000\nFREQ=WEEKLY', PUBLISHED, 'UTC')
    expect(dueOccurrence(weekly, at('2026-11-22T00:00:00Z'), at('2026-11-24T09:00:00.000Z'), 'UTC').run?.local).toBe('2026-11-23T09:00')
    expect(dueOccurrence(weekly, at('2026-11-22T00:00:00Z'), at('2026-11-24T09:00:00.001Z'), 'UTC')).toEqual({ run: null, missed: 1 })
  })
})

const INTEGERS = (max: number) => fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 })
const part = (name: string, values: fc.Arbitrary<(number | string)[]>) =>
  fc.option(values, { nil: null }).map((some) => (some === null ? '' : `;${name}=${some.join()}`))
const rules = fc
  .tuple(
    fc.constantFrom('YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY'),
    fc.integer({ min: 1, max: 5 }),
    part('BYDAY', fc.uniqueArray(fc.constantFrom('MO', 'WE', 'SU'), { minLength: 1 })),
    part('BYHOUR', INTEGERS(23)),
    part(
      'BYMONTH',
      INTEGERS(11).map((some) => some.map((month) => month + 1)),
    ),
  )
  .map(([freq, interval, ...parts]) => `FREQ=${freq};INTERVAL=${interval}${parts.join('')};BYMINUTE=30`)

test('COUNT ends a schedule at the same local time as the library does', async () => {
  const from = at('2026-01-05T08:30:00Z')
  await fc.assert(
    fc.asyncProperty(rules, fc.integer({ min: 1, max: 60 }), async (rule, count) => {
      fc.pre(scheduleProblem(`DTSTART:20260105T083000\n${rule}`) === null)
      const library = new RRuleTemporal({ rruleString: `DTSTART;TZID=UTC:20260105T083000\nRRULE:${rule};COUNT=${count}`, strict: true })
      const last = library.all().at(-1)?.epochMilliseconds as number
      const schedule = await compileSchedule(`DTSTART:20260105T083000\n${rule};COUNT=${count}`, PUBLISHED, 'UTC')
      expect(schedule.until).toEqual({ local: new Date(last).toISOString().slice(0, 19) })
      expect(await nextOccurrence(schedule, new Date(last), 'UTC')).toBeNull()
      expect((await nextOccurrence(schedule, new Date(last - 1), 'UTC'))?.at).toEqual(new Date(last))
      expect(await nextOccurrence(schedule, new Date(from.getTime() - 1), 'UTC')).not.toBeNull()
    }),
    { numRuns: 40, seed: 7 },
  )
})

/** Counts how often other work could run while something is done. */
async function roundsOf(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0
  const count = (): void => {
    rounds++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  await work()
  clearImmediate(counting)
  return rounds
}

test.each(['FREQ=DAILY;COUNT=1000', 'FREQ=HOURLY;BYMINUTE=0,15,30,45;COUNT=1000'])(
  'other work runs while the end of a schedule with many times is looked for, and that is done once: %s',
  async (rule) => {
    const compile = () => compileSchedule(`DTSTART:20250101T090000\n${rule}`, PUBLISHED, 'UTC')
    expect(await roundsOf(compile)).toBeGreaterThan(20)
    expect(await roundsOf(compile)).toBe(0)
    expect((await compile()).rule).not.toContain('COUNT')
  },
)

const EACH_QUARTER = `BYHOUR=${Array.from({ length: 24 }, (_, hour) => hour)};BYMINUTE=0,15,30,45`
const EACH_DAY = 'BYDAY=MO,TU,WE,TH,FR,SA,SU'

test.each([
  [`FREQ=YEARLY;BYWEEKNO=1,10,20;${EACH_DAY};${EACH_QUARTER}`, '2027-01-04T00:00'],
  [`FREQ=YEARLY;BYMONTH=9;${EACH_DAY};${EACH_QUARTER}`, '2027-09-01T00:00'],
])('other work runs while the next time of a rule with thousands in a year is looked for: %s', async (rule, local) => {
  const schedule = await compileSchedule(rule, at('2026-01-01T00:00:00Z'), 'UTC')
  const rounds = await roundsOf(async () => expect((await nextOccurrence(schedule, PUBLISHED, 'UTC'))?.local).toBe(local))
  expect(rounds).toBeGreaterThan(3)
})

test('other work runs while thousands of local times become instants, which are the same as at once', async () => {
  const schedule = await compileSchedule(`FREQ=DAILY;${EACH_QUARTER}`, at('2026-01-01T00:00:00Z'), 'UTC')
  const [from, to] = [at('2026-09-20T00:00:00Z'), at('2026-10-20T00:00:00Z')]
  const locals = await localsThrough(schedule, from, to)
  const rounds = await roundsOf(async () => {
    const all = await occurrencesThrough(schedule, locals, from, to, 'Australia/Sydney')
    expect(all).toEqual(occurrencesAmong(schedule, locals, from, to, 'Australia/Sydney'))
  })
  expect(rounds).toBeGreaterThan(5)
})
