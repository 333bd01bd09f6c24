import { expect, test } from 'vitest'
import { checkRule } from './check.ts'
import { describeRule } from './describe.ts'
import type { Rule } from './rule.ts'

const names = {
  list: (id: number) => (id === 12 ? 'VIP' : undefined),
  subscription: (id: number) => (id === 4 ? 'News' : undefined),
  campaign: (id: number) => (id === 9 ? 'Spring' : undefined),
  journey: () => undefined,
}

const pro = { attribute: 'data.plan', is: 'pro' }
const old = { attribute: 'data.age', at_least: 65 }
const bought = { event: 'purchase', at_least: 3, within: '30d', where: [{ attribute: 'data.total', greater_than: 50 }] }

test.each<[Rule, string]>([
  [
    { all: [pro, bought, { not: { list: 12 } }] },
    'plan is “pro” and did purchase at least 3 times within 30 days where total is greater than 50, and not in the list “VIP”',
  ],
  [{ any: [pro, { all: [old, { list: 12 }] }] }, 'plan is “pro” or (age is at least 65 and in the list “VIP”)'],
  [{ all: [{ any: [pro, old] }, { list: 13 }] }, '(plan is “pro” or age is at least 65) and in the list 13'],
  [{ none: [pro, old] }, 'not (plan is “pro” or age is at least 65)'],
  [{ none: [{ list: 12 }] }, 'not in the list “VIP”'],
  [{ not: { all: [pro, old] } }, 'not (plan is “pro” and age is at least 65)'],
  [{ not: { not: pro } }, 'not (not (plan is “pro”))'],
  [{ any: [{ all: [pro] }, { all: [{ any: [pro, old] }] }] }, 'plan is “pro” or (plan is “pro” or age is at least 65)'],
  [{ attribute: 'email', is_set: false }, 'email is not set'],
  [{ attribute: 'data.email', is_set: true }, 'data.email is set'],
  [{ attribute: 'data.full name', contains: 'Kim' }, '“full name” contains “Kim”'],
  [{ attribute: 'data.plan', one_of: ['pro', 3, true] }, 'plan is one of “pro”, 3, true'],
  [{ attribute: 'data.score', between: [1, 9] }, 'score is between 1 and 9'],
  [{ attribute: 'timezone.country', is: 'AU' }, 'country of the time zone is “AU”'],
  [{ attribute: 'created_at', within_last: '1d' }, 'time of creation is within the last day'],
  [{ attribute: 'data.renewal', within_next: '2w' }, 'renewal is within the next 2 weeks'],
  [{ attribute: 'data.renewal', within_next: '1w' }, 'renewal is within the next week'],
  [{ attribute: 'has_push_device', is: true }, 'having a push device is true'],
  [{ event: 'purchase' }, 'did purchase'],
  [{ event: 'Signed up', at_least: 2 }, 'did “Signed up” at least 2 times'],
  [{ event: 'purchase', exactly: 0, within: '1h' }, 'never did purchase within 1 hour'],
  [{ event: 'purchase', exactly: 1 }, 'did purchase exactly once'],
  [
    { event: 'purchase', at_most: 2, since: '2026-01-01', until: '2026-02-01' },
    'did purchase at most 2 times since 2026-01-01 before 2026-02-01',
  ],
  [
    {
      event: 'purchase',
      where: [
        { attribute: 'data.total', at_least: 5 },
        { attribute: 'data.item.colour', is_not: 'red' },
      ],
    },
    'did purchase where (total is at least 5 and item.colour is not “red”)',
  ],
  [{ event: 'purchase', first: { more_than_ago: '30d' } }, 'the first purchase is more than 30 days ago'],
  [
    { event: 'purchase', last: { before: '2026-01-01' }, where: [{ attribute: 'data.total', is: 5 }] },
    'the last purchase (where total is 5) is before 2026-01-01',
  ],
  [{ subscription: 4, is: 'subscribed' }, 'subscribed to “News”'],
  [{ not: { subscription: 5, is: 'confirmed' } }, 'not confirmed for 5'],
  [{ campaign: 9, did: 'opened', within: '7d' }, 'opened the campaign “Spring” within 7 days'],
  [{ campaign: 8, did: 'bounced' }, 'bounced on the campaign 8'],
  [{ journey: 5, is: 'inside', step: 'wait_1' }, 'is inside the journey 5 at the step `wait_1`'],
  [{ journey: 5, is: 'completed', within: '7d' }, 'completed the journey 5 within 7 days'],
  [{ device: 'os', is: 'iOS' }, 'has a device whose operating system is “iOS”'],
  [{ bucket: 'spring', less_than: 10 }, 'bucket “spring” is less than 10'],
])('%j is described as: %s', (rule, sentence) => {
  expect(checkRule(rule, 'rule')).toEqual([])
  expect(describeRule(rule, names)).toBe(sentence)
})

test.each<[Rule, string]>([
  [
    { all: [pro, bought, { not: { list: 12 } }] },
    'plan ist „pro“ und hat purchase mindestens 3-mal innerhalb von 30 Tagen ausgelöst, wobei gilt: total ist größer als 50, und nicht in der Liste „VIP“',
  ],
  [{ any: [pro, { all: [old, { list: 12 }] }] }, 'plan ist „pro“ oder (age ist mindestens 65 und in der Liste „VIP“)'],
  [{ none: [pro, old] }, 'nicht (plan ist „pro“ oder age ist mindestens 65)'],
  [{ attribute: 'data.full name', contains: 'Kim' }, '„full name“ enthält „Kim“'],
  [{ attribute: 'created_at', within_last: '1d' }, 'Zeitpunkt der Anlage liegt in den letzten 24 Stunden'],
  [{ attribute: 'data.renewal', within_next: '2w' }, 'renewal liegt in den nächsten 2 Wochen'],
  [{ attribute: 'data.renewal', within_next: '1y' }, 'renewal liegt im nächsten Jahr'],
  [{ event: 'purchase', exactly: 0, within: '1h' }, 'hat purchase innerhalb von 1 Stunde nie ausgelöst'],
  [{ event: 'purchase', exactly: 1 }, 'hat purchase genau einmal ausgelöst'],
  [{ event: 'purchase', first: { more_than_ago: '30d' } }, 'das erste purchase liegt mehr als 30 Tage zurück'],
  [
    { event: 'purchase', last: { before: '2026-01-01' }, where: [{ attribute: 'data.total', is: 5 }] },
    'das letzte purchase (wobei gilt: total ist 5) liegt vor 2026-01-01',
  ],
  [{ subscription: 4, is: 'subscribed' }, 'hat „News“ abonniert'],
  [{ campaign: 9, did: 'opened', within: '7d' }, 'hat die Kampagne „Spring“ innerhalb von 7 Tagen geöffnet'],
  [{ journey: 5, is: 'inside', step: 'wait_1' }, 'ist in der Journey 5 beim Schritt `wait_1`'],
  [{ device: 'os', is: 'iOS' }, 'hat ein Gerät, für das gilt: Betriebssystem ist „iOS“'],
  [{ bucket: 'spring', less_than: 10 }, 'Zufallsgruppe „spring“ ist kleiner als 10'],
])('%j is described in German as: %s', (rule, sentence) => {
  expect(checkRule(rule, 'rule')).toEqual([])
  expect(describeRule(rule, names, 'de')).toBe(sentence)
})
