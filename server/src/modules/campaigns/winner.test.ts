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
  ['by the metric that was asked for', [row(0, 100, 30, 1), row(1, 10, 5, 0)], 'clicks', 0],
  ['the first of several', [row(0, 10, 5, 0), row(1, 20, 10, 0)], 'opens', 0],
  ['the first when nobody did anything', [row(0, 10, 0, 0), row(1, 10, 0, 0)], 'clicks', 0],
  ['over all that a provider took', [row(0, 5, 3, 0), row(0, 5, 0, 0, 'bounced'), row(1, 10, 4, 0, 'delivered')], 'opens', 1],
  ['not over what was skipped', [row(0, 10, 4, 0), row(1, 5, 3, 0), row(1, 100, 0, 0, 'skipped')], 'opens', 1],
  ['not by those who wait for it', [row(0, 10, 4, 0), row(1, 10, 5, 0), row(null, 1000, 900, 0)], 'opens', 1],
  ['nobody, while nothing was sent that will be', [row(0, 10, 0, 0, 'queued'), row(1, 10, 0, 0, 'deferred')], 'opens', null],
  ['the first, when nothing ever will be', [row(0, 10, 0, 0, 'skipped'), row(1, 10, 0, 0, 'failed')], 'opens', 0],
  ['the first of an audience of nobody', [], 'opens', 0],
])('%s wins', (_, rows, metric, winner) => expect(chooseWinner(metric, 2, rows)?.variant ?? null).toBe(winner))

test('the numbers that decided are told for each variant', () => {
  expect(chooseWinner('opens', 3, [row(0, 10, 4, 1), row(2, 8, 4, 2, 'delivered'), row(2, 2, 0, 0, 'bounced')])?.numbers).toEqual([
    { variant: 0, sent: 10, opens: 4, clicks: 1 },
    { variant: 1, sent: 0, opens: 0, clicks: 0 },
    { variant: 2, sent: 10, opens: 4, clicks: 2 },
  ])
})
