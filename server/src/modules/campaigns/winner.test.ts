import { expect, test } from 'vitest'
import { chooseWinner } from './winner.ts'

type Row = Parameters<typeof chooseWinner>[2][number]
const row = (variant: number | null, messages: number, opens: number, clicks: number, state: Row['state'] = 'sent'): Row => ({
  state,
  variant,
  messages,
  opens,
  clicks,
})

test.each<[string, Row[], 'opens' | 'clicks', number | null]>([
  ['the highest rate, not the highest number', [row(0, 100, 30, 1), row(1, 10, 5, 0)], 'opens', 1],
  ['the highest rate by the metric chosen', [row(0, 100, 30, 1), row(1, 10, 5, 0)], 'clicks', 0],
  ['the first of equal variants', [row(0, 10, 5, 0), row(1, 20, 10, 0)], 'opens', 0],
  ['the first without opens or clicks', [row(0, 10, 0, 0), row(1, 10, 0, 0)], 'clicks', 0],
  [
    'the highest rate among messages that a provider accepted',
    [row(0, 5, 3, 0), row(0, 5, 0, 0, 'bounced'), row(1, 10, 4, 0, 'delivered')],
    'opens',
    1,
  ],
  ['the highest rate without skipped messages', [row(0, 10, 4, 0), row(1, 5, 3, 0), row(1, 100, 0, 0, 'skipped')], 'opens', 1],
  ['the highest rate without users who wait for the winner', [row(0, 10, 4, 0), row(1, 10, 5, 0), row(null, 1000, 900, 0)], 'opens', 1],
  ['no variant while no test message was sent', [row(0, 10, 0, 0, 'queued'), row(1, 10, 0, 0, 'deferred')], 'opens', null],
  ['the first when no test message can be sent', [row(0, 10, 0, 0, 'skipped'), row(1, 10, 0, 0, 'failed')], 'opens', 0],
  ['the first of an empty audience', [], 'opens', 0],
])('%s wins', (_, rows, metric, winner) => expect(chooseWinner(metric, 2, rows)?.variant ?? null).toBe(winner))

test('the result has the numbers of each variant', () => {
  expect(chooseWinner('opens', 3, [row(0, 10, 4, 1), row(2, 8, 4, 2, 'delivered'), row(2, 2, 0, 0, 'bounced')])?.numbers).toEqual([
    { variant: 0, sent: 10, opens: 4, clicks: 1 },
    { variant: 1, sent: 0, opens: 0, clicks: 0 },
    { variant: 2, sent: 10, opens: 4, clicks: 2 },
  ])
})
