/** When what the database kept from beginning is tried again. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { isTemporary } from '../../../infra/runtime/save-together.ts'
import { SECOND_MS } from '../../../lib/times.ts'

const RETRY_MS = 5 * SECOND_MS

/** When to try again what the database, or a conflict, kept from beginning. Throws other failures. */
export function laterIfTemporary({ clock, log }: ProjectCtx, error: unknown): Date {
  if (!isTemporary(error)) throw error
  log.warn({ err: error, retry_ms: RETRY_MS }, 'email could not be delivered yet')
  return new Date(clock.now().getTime() + RETRY_MS)
}
