import { expect, test } from 'vitest'
import type { CampaignId, LinkId, MessageId, UserId } from '../../../lib/ids.ts'
import type { Engagement } from '../schema.ts'
import { createBursts } from './bursts.ts'

/** Clicks on `link` of `message`, `at` milliseconds after nine. */
const clickAt = ([at, link, message = 1]: number[]): Engagement => ({
  kind: 'click',
  user_id: 1 as UserId,
  campaign_id: 1 as CampaignId,
  message_id: message as MessageId,
  link: link as LinkId,
  url: 'https://a.test',
  at: new Date(1_795_424_400_000 + (at as number)),
  isMachine: false,
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
    'two links are none',
    [
      [0, 1],
      [10, 2],
    ],
    [false, false],
  ],
  [
    'one link three times is none',
    [
      [0, 1],
      [10, 1],
      [20, 1],
    ],
    [false, false, false],
  ],
  [
    'three links within two seconds are one',
    [
      [0, 1],
      [1000, 2],
      [2000, 3],
    ],
    [true, true, true],
  ],
  [
    'three links within more are none',
    [
      [0, 1],
      [1000, 2],
      [2001, 3],
    ],
    [false, false, false],
  ],
  [
    'links of different messages are none',
    [
      [0, 1, 1],
      [10, 2, 2],
      [20, 3, 3],
    ],
    [false, false, false],
  ],
  [
    'a person who clicks before the burst stays one',
    [
      [0, 9],
      [5000, 1],
      [5001, 2],
      [5002, 3],
    ],
    [false, true, true, true],
  ],
  [
    'it goes on while clicks are near',
    [
      [0, 1],
      [10, 2],
      [20, 3],
      [1500, 4],
      [2015, 5],
    ],
    [true, true, true, true, true],
  ],
  ['one link eleven times at once is one', Array.from({ length: 11 }, (_, at) => [at, 1]), Array.from({ length: 11 }, () => true)],
])('%s', (_, given, expected) => {
  const bursts = createBursts()
  const clicks = given.map(clickAt)
  for (const click of clicks) bursts.add(click)
  expect(clicks.map(({ isMachine }) => isMachine)).toEqual(expected)
  for (const { isMachine, reason } of clicks) expect(reason).toBe(isMachine ? 'burst' : null)
})

test('what was recognised before keeps its reason', () => {
  const bursts = createBursts()
  const clicks = [
    [0, 1],
    [1, 2],
    [2, 3],
  ].map(clickAt)
  Object.assign(clicks[0] as Engagement, { isMachine: true, reason: 'barracuda' })
  for (const click of clicks) bursts.add(click)
  expect(clicks.map(({ reason }) => reason)).toEqual(['barracuda', 'burst', 'burst'])
})

test('forgotten clicks are no part of a burst', () => {
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
  expect([first, second, third].some(({ isMachine }) => isMachine)).toBe(false)
})
