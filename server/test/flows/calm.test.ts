import { expect, test } from 'vitest'
import { systemClock } from '../../src/infra/runtime/clock.ts'
import { blastTo, listOf, pathOf } from '../blasts.ts'
import { EVIL_FILES, EVIL_TEMPLATES } from '../evil.ts'
import { type World, world } from '../world.ts'

const AT_ONCE = 4

/** A pause between two answers, so that counting them leaves the processors to the work. */
const PAUSE_MS = 5

/** How many times `/livez` answers while `work` runs, for each second. */
async function livezRate(w: World, work: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  const began = performance.now()
  let answers = 0
  while (!isOver) {
    expect((await w.app.inject('/livez')).statusCode).toBe(200)
    answers++
    await systemClock.sleep(PAUSE_MS)
  }
  await over
  return answers / ((performance.now() - began) / 1000)
}

/** Runs requests, some at a time. */
async function together(requests: (() => Promise<unknown>)[]): Promise<void> {
  const queue = requests.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const request of queue) await request()
    }),
  )
}

const IDLE_ROUNDS = 200
const idle = async () => {
  for (let round = 0; round < IDLE_ROUNDS; round++) await systemClock.sleep(PAUSE_MS)
}

/** A fifth of what a thread gives each of them: it is the same work for the event loop. */
const ITEM_MAX_MS = 200

test('the server answers while templates and files cost as much as they can', { timeout: 240_000 }, async () => {
  await using w = await world({ itemMaxMs: ITEM_MAX_MS })
  const list = await listOf(w, 'ana')
  const campaign = await blastTo(w, [list])
  const statuses: Record<string, number> = {}
  const preview = (name: string, template: object) => async () => {
    statuses[name] = (await w.post(`${pathOf(campaign)}/preview`, { template: { subject: 's', ...template } })).status
  }
  const upload = (name: string, file: string) => async () => {
    const headers = { 'content-type': 'text/csv' }
    statuses[name] = (await w.request('POST', `/api/client/lists/${list}/import`, undefined, { raw: file, headers })).status
  }
  await preview('warm', { html: '<p>x</p>' })()
  const quiet = await livezRate(w, idle())
  const requests = [
    ...Object.entries(EVIL_TEMPLATES).map(([name, template]) => preview(name, template)),
    ...Object.entries(EVIL_FILES).map(([name, file]) => upload(name, file)),
  ]
  const busy = await livezRate(w, together(requests))
  expect(requests.length).toBeGreaterThanOrEqual(20)
  expect(busy / quiet).toBeGreaterThan(0.1)
  // Each of them had an answer of its own: a result, findings or a refusal.
  expect(Object.entries(statuses).filter(([, status]) => ![200, 202, 400, 422].includes(status))).toEqual([])
  expect(Object.keys(statuses)).toHaveLength(requests.length + 1)
})
