/** When an email is tried again, until when, and when a delay is reported (D-MTA-31). Pure. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import type { Classification } from './classifications.ts'

/** The priorities of messages, by their stored numbers: transactional, bulk, and of timers. */
export type MailPriority = 0 | 1 | 2

/** The times between attempts, of which the last repeats, and how long an email is tried. */
export type RetrySchedule = { delaysMs: readonly number[]; lifetimeMs: number }

const minutes = (...all: number[]): number[] => all.map((minute) => minute * MINUTE_MS)

const TRANSACTIONAL: RetrySchedule = { delaysMs: minutes(1, 5, 15, 30, 60, 120, 240, 480), lifetimeMs: 2 * DAY_MS }
/** A newsletter that is a day late is worth nothing. */
const BULK: RetrySchedule = { delaysMs: minutes(5, 15, 45, 120, 240, 480), lifetimeMs: DAY_MS }

export const RETRY_SCHEDULES: Record<MailPriority, RetrySchedule> = { 0: TRANSACTIONAL, 1: BULK, 2: TRANSACTIONAL }

/** The end of the lifetime of an email. */
export const expiresAt = (priority: MailPriority, createdAt: Date, schedule = RETRY_SCHEDULES[priority]): Date =>
  new Date(createdAt.getTime() + schedule.lifetimeMs)

/** Times vary by so much of themselves, so that emails that failed together are not tried again together. */
const JITTER = 0.2
/** Servers that greylist accept a second attempt after five minutes, by custom. */
const GREYLIST_FROM_MS = 5 * MINUTE_MS
const GREYLIST_TO_MS = 6 * MINUTE_MS

/**
 * The time of the next attempt after `attempts` that failed. `random` is at least 0 and less than 1. Whether the email lives that long is
 * for the caller to compare.
 */
export function nextAttempt(
  priority: MailPriority,
  attempts: number,
  failure: Pick<Classification, 'label'> | null,
  now: Date,
  random: number,
  schedule: Pick<RetrySchedule, 'delaysMs'> = RETRY_SCHEDULES[priority],
): Date {
  return new Date(now.getTime() + Math.round(delayAfter(attempts, failure, random, schedule)))
}

function delayAfter(
  attempts: number,
  failure: Pick<Classification, 'label'> | null,
  random: number,
  { delaysMs }: Pick<RetrySchedule, 'delaysMs'>,
): number {
  const delay = delaysMs[Math.min(attempts, delaysMs.length) - 1] ?? 0
  const scheduled = delay * (1 - JITTER + 2 * JITTER * random)
  if (failure?.label !== 'greylisted') return scheduled
  return Math.max(scheduled, GREYLIST_FROM_MS + random * (GREYLIST_TO_MS - GREYLIST_FROM_MS))
}

/** A delay is reported after the first attempt that fails, and after these times. */
const NOTICES_AFTER_MS = [4 * HOUR_MS, DAY_MS]

/** Whether the delay of an email is to be reported after an attempt at `now`. `previousAt` is the attempt before it, if there was one. */
export function isDelayNoticeDue(createdAt: Date, previousAt: Date | null, now: Date): boolean {
  if (!previousAt) return true
  const from = previousAt.getTime() - createdAt.getTime()
  const to = now.getTime() - createdAt.getTime()
  return NOTICES_AFTER_MS.some((ms) => from < ms && ms <= to)
}
