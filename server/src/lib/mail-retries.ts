/** When the email of a campaign is tried again (D-MTA-35). Pure. */
import { HOUR_MS, MINUTE_MS } from './times.ts'

/** The minutes between attempts, of which the last repeat, and for how many hours there are attempts. */
export type MailRetries = { after_minutes: number[]; for_hours: number }

/** The time from an attempt that failed, the first being 1, to the next one. */
export const retryDelayMs = ({ after_minutes }: Pick<MailRetries, 'after_minutes'>, attempts: number): number =>
  (after_minutes[Math.min(attempts, after_minutes.length) - 1] ?? 0) * MINUTE_MS

/** Attempts that an email may have: each of them costs a mail host as much as an email. */
export const MAIL_ATTEMPTS_MAX = 50

/** How many attempts there are, counted no further than the first one over the limit. */
export function attemptsIn(retries: MailRetries): number {
  let attempts = 1
  for (let at = retryDelayMs(retries, 1); at <= lifetimeMs(retries) && attempts <= MAIL_ATTEMPTS_MAX; at += retryDelayMs(retries, attempts))
    attempts += 1
  return attempts
}

/** How long after it was queued, or after its first attempt by a relay, an email is given up. */
export const lifetimeMs = ({ for_hours }: Pick<MailRetries, 'for_hours'>): number => for_hours * HOUR_MS
