import { expect, test } from 'vitest'
import type { SafeResponse } from '../../infra/outgoing/safe-fetch.ts'
import { systemClock } from '../../infra/runtime/clock.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/times.ts'
import { type Delivery, type EndpointQueue, emptyDispatcher, offer, startNext } from './in-flight.ts'

const PROJECT = 1 as ProjectId
const never = new AbortController().signal
const answered = { is: 'answered', status: 204, headers: {}, body: '', elapsedMs: 1 } as unknown as SafeResponse

/** A dispatcher with endpoints that have deliveries waiting, and a network that answers on request. */
function dispatching(endpoints: number, each: number, waitedMs = 0) {
  const open: { url: string; answer: () => void }[] = []
  const request = ({ url }: { url: string }) => new Promise<SafeResponse>((resolve) => open.push({ url, answer: () => resolve(answered) }))
  const ctx = { clock: systemClock, config: { WEBHOOK_TIMEOUT_MS: 1000 }, fetch: { request } } as unknown as Ctx
  const dispatcher = emptyDispatcher(0)
  const leasedAt = systemClock.now().getTime() - waitedMs
  const deliveryTo = (url: string) => ({ url, body: '', event_id: 'evt_1', sign: () => ({}), leasedAt }) as unknown as Delivery
  for (let at = 0; at < endpoints; at++) {
    const waiting = Array.from({ length: each }, () => deliveryTo(`https://example.com/${at}`))
    const queue: EndpointQueue = { projectId: PROJECT, waiting, inFlight: 0, finishedSinceFill: 0 }
    offer(dispatcher, queue)
  }
  return { ctx, dispatcher, open }
}

test('each endpoint of a project has its turn before the next of any, as many as the project may have in flight', () => {
  const { ctx, dispatcher, open } = dispatching(4, 3)
  startNext(ctx, dispatcher, PROJECT, never)
  expect(open.map(({ url }) => url.slice(-1)).join('')).toBe('012301230123')
  const many = dispatching(200, 10)
  startNext(many.ctx, many.dispatcher, PROJECT, never)
  expect(many.open).toHaveLength(150)
  expect(new Set(many.open.map(({ url }) => url)).size).toBe(150)
})

test('an answer starts the next delivery at once, of an endpoint that has had no turn yet', async () => {
  const { ctx, dispatcher, open } = dispatching(200, 10)
  startNext(ctx, dispatcher, PROJECT, never)
  for (const { answer } of open.slice(0, 50)) answer()
  await expect.poll(() => open.length).toBe(200)
  expect(new Set(open.map(({ url }) => url)).size).toBe(200)
  expect(dispatcher.inFlight.size).toBe(150)
  expect(dispatcher.finished).toHaveLength(50)
})

test('an endpoint that does not answer has ten in flight, and the others go on', async () => {
  const { ctx, dispatcher, open } = dispatching(2, 40)
  startNext(ctx, dispatcher, PROJECT, never)
  expect(open).toHaveLength(20)
  const answerOther = () => {
    for (const { url, answer } of open) if (url.endsWith('/1')) answer()
    return dispatcher.finished.length
  }
  await expect.poll(answerOther).toBe(40)
  expect(open.filter(({ url }) => url.endsWith('/0'))).toHaveLength(10)
})

test.each([
  ['for a minute', MINUTE_MS],
  ['since before the clock was set back', -HOUR_MS],
])('what has waited %s is leased again', (_, waitedMs) => {
  const { ctx, dispatcher, open } = dispatching(1, 3, waitedMs)
  startNext(ctx, dispatcher, PROJECT, never)
  expect([open.length, dispatcher.stale.length]).toEqual([0, 3])
})
