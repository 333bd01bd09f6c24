import { expect, test } from 'vitest'
import type { SafeResponse } from '../../../infra/outgoing/safe-fetch.ts'
import { webhook } from '../steps/webhook.ts'
import { nextTryAt, resultOf } from './retry.ts'

const answered = (status: number): SafeResponse => ({ is: 'answered', status, headers: {}, body: '', elapsedMs: 1 })
const lost = (reason: 'timeout' | 'blocked' | 'reset'): SafeResponse => ({ is: 'failed', reason, message: '', elapsedMs: 1 })

test.each<[SafeResponse, object]>([
  [answered(200), { is: 'answer', problem: null }],
  [answered(204), { is: 'answer', problem: null }],
  [answered(301), { is: 'answer', problem: 'redirect' }],
  [answered(404), { is: 'answer', problem: 'status' }],
  [answered(408), { is: 'failed', isRetried: true }],
  [answered(409), { is: 'failed', isRetried: true }],
  [answered(429), { is: 'failed', isRetried: true }],
  [answered(500), { is: 'failed', isRetried: true, status: 500 }],
  [lost('timeout'), { is: 'failed', isRetried: true, problem: 'timeout', status: null }],
  [lost('reset'), { is: 'failed', isRetried: true }],
  [lost('blocked'), { is: 'failed', isRetried: false, problem: 'blocked' }],
])('%j is %j', (response, expected) => expect(resultOf(response)).toMatchObject(expected))

const createdAt = new Date('2026-11-23T00:00:00Z')
const after = (attempts: number, retries: number, hours = 0) => {
  const now = new Date(createdAt.getTime() + hours * 3_600_000)
  const at = nextTryAt({ attempts, retries, createdAt, now, random: 0.5 })
  return at === null ? null : (at.getTime() - now.getTime()) / 1000
}

test('tries follow the steps of webhook deliveries', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((attempts) => after(attempts, 6))).toEqual([5, 300, 1800, 7200, 18_000, 36_000, null])
})

test('there are as many as the step has retries, and none after 24 hours', () => {
  expect(after(1, 0)).toBeNull()
  expect(after(3, 3)).toBe(1800)
  expect(after(4, 3)).toBeNull()
  expect(after(6, 6, 13)).toBe(36_000)
  expect(after(6, 6, 15)).toBeNull()
})

test('all retries that a step may have come within 24 hours, however long the steps are', () => {
  const { maximum } = (webhook.settings as unknown as { properties: { retries: { maximum: number } } }).properties.retries
  let now = createdAt
  for (let attempts = 1; attempts <= maximum; attempts++) {
    const at = nextTryAt({ attempts, retries: maximum, createdAt, now, random: 1 })
    expect(at, `retry ${attempts}`).not.toBeNull()
    now = at as Date
  }
})
