import type { components } from '@carillon/sdk'
import { expect, test } from 'vitest'
import { hardUsersOf, sampleUsersOf } from '../src/screens/campaigns/editor/hard-users.ts'
import { isLocale, spelledAs } from '../src/screens/campaigns/locales.ts'
import { sumsOf } from '../src/screens/campaigns/reason-sums.ts'
import { placesIn, sumsByVariant, variantIn, variantOf, withoutContent } from '../src/screens/campaigns/variants.ts'

type User = components['schemas']['User']

const user = (id: number, data: object, locale: string | null = 'en-AU') => ({ id, data, locale }) as User

const [short, long, german, arabic, unnamed, empty] = [
  user(1, { first_name: 'Al', plan: 'pro' }),
  user(2, { first_name: 'Wilhelmina', last_name: 'Featherstonehaugh' }),
  user(3, { first_name: 'Jan', plan: 'pro' }, 'de'),
  user(4, { first_name: 'Nour', plan: 'pro' }, 'ar-EG'),
  user(5, { plan: 'pro', city: 'Hobart' }),
  user(6, {}),
]

test('users who are hard to write to have no name, a long one, another language, another direction or no data', () => {
  const found = hardUsersOf([short, long, german, arabic, unnamed, empty], 'en')
  expect(found.map(([hard, { id }]) => [hard, id])).toEqual([
    ['noName', 5],
    ['longestName', 2],
    ['otherLanguage', 3],
    ['rightToLeft', 4],
    ['missingData', 6],
  ])
})

test('samples are the users who are hard to write to and then the first ones, each once', () => {
  expect(sampleUsersOf([short, long, empty], 'en', 5).map(({ id }) => id)).toEqual([2, 6, 1])
  expect(sampleUsersOf([short, german, long, arabic, unnamed, empty], 'en', 5).map(({ id }) => id)).toEqual([5, 2, 3, 4, 6])
})

test('messages are added up by state and reason, over the variants, and those without a reason are left out', () => {
  const count = (state: 'sent' | 'skipped' | 'failed', reason: string | null, variant: 'A' | 'B', messages: number) => ({
    state,
    reason,
    variant,
    messages,
    opens: 0,
    clicks: 0,
  })
  const states = [
    count('sent', null, 'A', 90),
    count('skipped', 'suppressed', 'A', 2),
    count('failed', 'render_failed', 'B', 3),
    count('skipped', 'suppressed', 'B', 4),
  ]
  expect(sumsOf(states)).toEqual([
    { state: 'skipped', reason: 'suppressed', messages: 6 },
    { state: 'failed', reason: 'render_failed', messages: 3 },
  ])
})

test('messages that a provider has accepted are counted for each variant, with what their recipients did', () => {
  const row = (
    variant: 'A' | 'B' | null,
    state: 'sent' | 'delivered' | 'bounced' | 'skipped' | 'queued',
    messages: number,
    clicks = 0,
  ) => ({
    variant,
    state,
    reason: null,
    messages,
    opens: 2 * clicks,
    clicks,
  })
  const states = [
    row('A', 'sent', 5, 1),
    row('A', 'delivered', 3, 2),
    row('A', 'skipped', 9),
    row('B', 'bounced', 1),
    row(null, 'queued', 4),
  ]
  expect(sumsByVariant([{ name: 'Short' }, { name: 'Long' }], { states })).toEqual([
    { letter: 'A', name: 'Short', sent: 8, opens: 6, clicks: 3 },
    { letter: 'B', name: 'Long', sent: 1, opens: 0, clicks: 0 },
  ])
})

test.each([
  [2, 'B', 'B'],
  [2, 'C', undefined],
  [0, 'A', undefined],
  [2, undefined, undefined],
])('of %i variants, %s of an address is %s', (count, letter, expected) =>
  expect(variantIn(Array.from({ length: count }), letter)).toBe(expected),
)

test('variants without a template are named', () => {
  const templates = [{ variant: 'A' as const }, { variant: 'C' as const }]
  expect(withoutContent([1, 2, 3, 4], templates)).toEqual(['B', 'D'])
  expect(withoutContent([], templates)).toEqual([])
})

test.each([
  [0, ['de.A', 'en.B'], [['de', 'A']]],
  [
    2,
    ['de.A', 'en.B', 'zh-Hant.C'],
    [
      ['de', 'A'],
      ['en', 'B'],
    ],
  ],
])('of templates with a draft, a campaign with %i variants sends %o as %o', (count, drafts, expected) =>
  expect(placesIn(Array.from({ length: count }), drafts).map(({ locale, variant }) => [locale, variant])).toEqual(expected),
)

test.each([
  [['B', 'A'], 'A', 'B'],
  [[null], 'C', 'C'],
  [[], 'B', 'B'],
  [[], null, undefined],
] as const)('of messages of the variants %o to a user, who would get %s now, %s is shown', (messages, now, expected) => {
  const found = variantOf({ messages: messages.map((variant) => ({ variant })), now: { reason: null, variant: now } } as never)
  expect(found).toBe(expected)
})

test.each([
  ['en', true],
  ['zh-Hant-TW', true],
  ['es-419', true],
  ['EN-us', true],
  ['de-1901', true],
  ['german', false],
  ['en-', false],
  ['en-USA', false],
  ['pt-BRA', false],
  ['en-us-us', false],
  ['en us', false],
])('a template may have the locale %s: %s', (text, expected) => expect(isLocale(text)).toBe(expected))

test.each([
  ['en-us', ['de', 'en-US'], 'en-US'],
  ['en_US', ['en-US'], 'en-US'],
  ['en-us', ['en-US', 'en-us'], 'en-us'],
  ['en', ['en-US'], undefined],
])('%s is spelled among %j: %s', (locale, stored, expected) => expect(spelledAs(locale, stored)).toBe(expected))
