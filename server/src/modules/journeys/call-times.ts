/** How long the webhook calls of steps are made. */
import { DAY_MS, SECOND_MS } from '../../lib/times.ts'

/** A call is not made later than this after the step asked for it: an hour before the step gives it up. */
export const CALL_AGE_MAX_MS = DAY_MS
/** Longer than a call takes. */
export const CALL_LEASE_MS = 30 * SECOND_MS
