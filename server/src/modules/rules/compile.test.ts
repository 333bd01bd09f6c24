import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../lib/times.ts'
import { matches } from '../../lib/validate.ts'
import { compileRule, matchesTracker, referencesOf, type UserFacts } from './compile.ts'
import { Explanation, explainRule } from './explain.ts'
import type { Rule } from './rule.ts'

const NOW_MS = Date.parse('2026-11-23T09:00:00.000Z')

const kim: UserFacts = {
  id: 7,
  user: {
    external_id: 'kim',
    anonymous_id: null,
    email: 'kim@example.com',
    phone: null,
    timezone: 'Australia/Sydney',
    locale: null,
    data: { plan: 'pro', address: { city: 'Perth' } },
    has_push_device: false,
    created_at: new Date(NOW_MS - DAY_MS),
  },
  times: () => [NOW_MS - DAY_MS, NOW_MS - 3 * DAY_MS],
  journey: () => undefined,
  isIn: (list) => list === 12,
  subscription: (id) => (id === 4 ? 2 : 0),
  devices: [{ os: 'iOS', os_version: '18', model: null, app_version: null, app_build: null }],
}

const everything: Rule = {
  all: [
    {
      any: [
        { attribute: 'data.address.city', is: 'Perth' },
        { attribute: 'timezone.country', is: 'AU' },
      ],
    },
    { not: { list: 12 } },
    { subscription: 4, is: 'subscribed' },
    { event: 'purchase', at_least: 2, within: '7d' },
    {
      none: [
        { campaign: 9, did: 'opened' },
        { device: 'os', is: 'iOS' },
        { bucket: 'spring', at_least: 0 },
        { journey: 5, is: 'inside' },
      ],
    },
    { event: 'list_entered', last: { more_than_ago: '1h' }, where: [{ attribute: 'data.list_id', is: 13 }] },
  ],
}

describe('a compiled rule', () => {
  const compiled = compileRule(everything)

  test('has its dependencies and needs', () => {
    expect([...compiled.dependencies].sort()).toEqual(
      [
        'attribute:data.address',
        'attribute:timezone',
        'devices',
        'event:email_opened',
        'event:in_app_opened',
        'event:list_entered',
        'event:push_opened',
        'event:purchase',
        'event:text_opened',
        'event:webhook_opened',
        'journey:5',
        'list:12',
        'list:13',
        'subscription:4',
      ].sort(),
    )
    expect(compiled.references).toEqual({ lists: [12, 13], subscriptions: [4], campaigns: [9], journeys: [5] })
    expect(compiled.needs).toEqual({ user: true, subscriptions: true, devices: true, lists: true, journeys: true })
  })

  test('has its references with their paths', () => {
    expect(referencesOf(everything)).toEqual([
      { kind: 'list', id: 12, param: 'all[1].not.list' },
      { kind: 'subscription', id: 4, param: 'all[2].subscription' },
      { kind: 'campaign', id: 9, param: 'all[4].none[0].campaign' },
      { kind: 'journey', id: 5, param: 'all[4].none[3].journey' },
      { kind: 'list', id: 13, param: 'all[5].where[0].is' },
    ])
    expect(referencesOf({ list: 3 })).toEqual([{ kind: 'list', id: 3, param: 'list' }])
  })

  test.each<[Rule, number, 'latest' | 'earliest']>([
    [{ event: 'a' }, 1, 'latest'],
    [{ event: 'a', at_least: 3 }, 3, 'latest'],
    [{ event: 'a', at_most: 3 }, 4, 'latest'],
    [{ event: 'a', exactly: 3 }, 4, 'latest'],
    [{ event: 'a', first: { within_last: '7d' } }, 1, 'earliest'],
    [{ event: 'a', last: { within_last: '7d' } }, 1, 'latest'],
  ])('tracks only as many times as it needs: %j', (rule, count, keep) =>
    expect(compileRule(rule).trackers).toMatchObject([{ count, keep }]),
  )

  test('has no needs if it uses no facts', () => {
    expect(compileRule({ bucket: 'spring', less_than: 10 }).needs).toEqual({
      user: false,
      subscriptions: false,
      devices: false,
      lists: false,
      journeys: false,
    })
  })

  test('explains its result with the evidence', () => {
    const explained = explainRule(compiled, kim, NOW_MS)
    expect(matches(Explanation)(explained)).toBeNull()
    expect(explained.passes).toBe(false)
    expect(explained).toMatchObject({
      path: '',
      is: 'all',
      of: [
        {
          path: 'all[0]',
          is: 'any',
          passes: true,
          of: [
            { path: 'all[0].any[0]', passes: true, seen: 'Perth' },
            { passes: true, seen: 'AU' },
          ],
        },
        { path: 'all[1]', is: 'not', passes: false, of: [{ path: 'all[1].not', is: 'condition', passes: true, seen: true }] },
        { path: 'all[2]', is: 'condition', passes: true, condition: { subscription: 4, is: 'subscribed' }, seen: { state: 2 } },
        { passes: true, seen: { count: 2, times: ['2026-11-22T09:00:00.000Z', '2026-11-20T09:00:00.000Z'] } },
        { is: 'none', passes: false, of: [{ seen: { count: 2 } }, { passes: true, seen: ['iOS'] }, { passes: true }, { passes: false }] },
        { passes: true, seen: { time: '2026-11-22T09:00:00.000Z' } },
      ],
    })
  })
})

test.each<[Rule, number, boolean]>([
  // Of two purchases, the earlier one was three days ago, so it leaves the window of 7 days in 4 days.
  [{ event: 'purchase', at_least: 2, within: '7d' }, 4 * DAY_MS, true],
  [{ event: 'purchase', at_least: 1, within: '7d' }, 6 * DAY_MS, true],
  [{ event: 'purchase', at_most: 1, within: '7d' }, 4 * DAY_MS, false],
  [{ event: 'purchase', last: { more_than_ago: '2d' } }, DAY_MS, false],
  [{ attribute: 'created_at', within_last: '2d' }, DAY_MS, true],
])('%j changes when its window ends', (rule, inMs, before) => {
  const { holds, nextChangeAt } = compileRule(rule)
  expect(nextChangeAt(kim, NOW_MS)).toBe(NOW_MS + inMs)
  expect(holds(kim, NOW_MS + inMs - 1)).toBe(before)
  expect(holds(kim, NOW_MS + inMs)).toBe(!before)
})

test('a campaign counts once, and only the number of its events', () => {
  const { trackers, holds } = compileRule({ campaign: 9, did: 'opened' })
  expect(trackers).toMatchObject([{ count: 1, needsTime: false }])
  expect([[NOW_MS - DAY_MS], []].map((times) => holds({ ...kim, times: () => times }, NOW_MS))).toEqual([true, false])
})

test.each([
  ['2025-12-31', true],
  ['2026-06-01', false],
  ['soon', false],
])('a date of an event, %s, is compared with the instant of the rule', (ends, passes) => {
  const [tracker] = compileRule({ event: 'trial', where: [{ attribute: 'data.ends', as: 'date', before: '2026-01-01' }] }).trackers
  const event = { name: 'trial', source: 'api' as const, data: { ends }, createdAtMs: NOW_MS }
  expect(tracker && matchesTracker(tracker, event, NOW_MS)).toBe(passes)
})

test('a rule that does not depend on time has no next change', () => {
  expect(
    compileRule({
      all: [
        { event: 'purchase', at_least: 2 },
        { attribute: 'data.plan', is: 'pro' },
      ],
    }).nextChangeAt(kim, NOW_MS),
  ).toBeNull()
})

test('buckets distribute users evenly', () => {
  const { holds } = compileRule({ bucket: 'spring', less_than: 25 })
  const inside = Array.from({ length: 4000 }, (_, id) => id + 1).filter((id) => holds({ ...kim, id }, NOW_MS))
  expect(inside.length).toBeGreaterThan(900)
  expect(inside.length).toBeLessThan(1100)
})
