import { expect, test } from 'vitest'
import type { CampaignId, LinkId, MessageId, UserId } from '../../../lib/ids.ts'
import type { Engagement } from '../schema.ts'
import { createBursts } from './bursts.ts'

/** A click on `link` of `message`, `at` milliseconds after nine o’clock. */
const clickAt = ([at, link, message = 1]: number[]): Engagement => ({
  kind: 'click',
  user_id: 1 as UserId,
  campaign_id: 1 as CampaignId,
  message_id: message as MessageId,
  link: link as LinkId,
  url: 'https://a.test',
  at: new Date(1_795_424_400_000 + (at as number)),
  isBot: false,
  isProxied: false,
  reason: null,
})

test.each<[string, number[][], boolean[]]>([
  [
    'three links at once are a burst',
    [
      [0, 1],
      [10, 2],
      [20, 3],
    ],
    [true, true, true],
  ],
  [
    'two links are not a burst',
    [
      [0, 1],
      [10, 2],
    ],
    [false, false],
  ],
  [
    'one link three times is not a burst',
    [
      [0, 1],
      [10, 1],
      [20, 1],
    ],
    [false, false, false],
  ],
  [
    'three links within two seconds are a burst',
    [
      [0, 1],
      [1000, 2],
      [2000, 3],
    ],
    [true, true, true],
  ],
  [
    'three links within a longer time are not a burst',
    [
      [0, 1],
      [1000, 2],
      [2001, 3],
    ],
    [false, false, false],
  ],
  [
    'links of different messages are not a burst',
    [
      [0, 1, 1],
      [10, 2, 2],
      [20, 3, 3],
    ],
    [false, false, false],
  ],
  [
    'a user’s click before a burst is not part of it',
    [
      [0, 9],
      [5000, 1],
      [5001, 2],
      [5002, 3],
    ],
    [false, true, true, true],
  ],
  [
    'a burst continues while clicks are close',
    [
      [0, 1],
      [10, 2],
      [20, 3],
      [1500, 4],
      [2015, 5],
    ],
    [true, true, true, true, true],
  ],
  ['one link eleven times at once is a burst', Array.from({ length: 11 }, (_, at) => [at, 1]), Array.from({ length: 11 }, () => true)],
])('%s', (_, given, expected) => {
  const bursts = createBursts()
  const clicks = given.map(clickAt)
  for (const click of clicks) bursts.add(click)
  expect(clicks.map(({ isBot }) => isBot)).toEqual(expected)
  for (const { isBot, reason } of clicks) expect(reason).toBe(isBot ? 'burst' : null)
})

test('a click that was detected before keeps its reason', () => {
  const bursts = createBursts()
  const clicks = [
    [0, 1],
    [1, 2],
    [2, 3],
  ].map(clickAt)
  Object.assign(clicks[0] as Engagement, { isBot: true, reason: 'barracuda' })
  for (const click of clicks) bursts.add(click)
  expect(clicks.map(({ reason }) => reason)).toEqual(['barracuda', 'burst', 'burst'])
})

test('removed clicks are not part of a burst', () => {
  const bursts = createBursts()
  const [first, second, third] = [
    [0, 1],
    [1000, 2],
    [3001, 3],
  ].map(clickAt) as [Engagement, Engagement, Engagement]
  bursts.add(first)
  bursts.add(second)
  bursts.forget(third.at)
  bursts.add(third)
  expect([first, second, third].some(({ isBot }) => isBot)).toBe(false)
})

test('clicks are kept while they can be part of a burst', () => {
  const bursts = createBursts()
  const [first, second, third] = [
    [0, 1],
    [10, 2],
    [2000, 3],
  ].map(clickAt) as [Engagement, Engagement, Engagement]
  bursts.add(first)
  bursts.add(second)
  bursts.forget(third.at)
  bursts.add(third)
  expect([first, second, third].every(({ isBot }) => isBot)).toBe(true)
})
