/** When a webhook call of a step is tried again (D-WH-4, D-JRN-10). Pure. */
import type { SafeResponse } from '../../../infra/outgoing/safe-fetch.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'
import { CALL_AGE_MAX_MS } from '../call-times.ts'

/** The steps of webhook deliveries, as many as end within 24 hours. */
const STEPS_MS = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS]
const JITTER = 0.2

const RETRIED = [408, 409, 429]

/** What a response means: an answer for the step, or a problem that is tried again. `problem` is a word of the API. */
export type CallResult =
  | { is: 'answer'; status: number; problem: string | null }
  | { is: 'failed'; problem: string; status: number | null; isRetried: boolean }

export function resultOf(response: SafeResponse): CallResult {
  if (response.is === 'failed') return { is: 'failed', problem: response.reason, status: null, isRetried: response.reason !== 'blocked' }
  const { status } = response
  if (status >= 300 && status < 400) return { is: 'answer', status, problem: 'redirect' }
  if (RETRIED.includes(status) || status >= 500) return { is: 'failed', problem: 'status', status, isRetried: true }
  return { is: 'answer', status, problem: status < 300 ? null : 'status' }
}

type Attempted = { attempts: number; retries: number; createdAt: Date; now: Date; random: number }

/** When the next try is due, or null after the last one. `attempts` includes the one that failed. */
export function nextTryAt({ attempts, retries, createdAt, now, random }: Attempted): Date | null {
  const stepMs = STEPS_MS[attempts - 1]
  if (stepMs === undefined || attempts > retries) return null
  const at = now.getTime() + Math.round(stepMs * (1 - JITTER + 2 * JITTER * random))
  return at > createdAt.getTime() + CALL_AGE_MAX_MS ? null : new Date(at)
}
