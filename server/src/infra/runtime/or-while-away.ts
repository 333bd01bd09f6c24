import { isDatabaseAway } from '../postgres/database-away.ts'
import type { Ctx } from './ctx.ts'

/** A database that does not answer a small question within this time counts as away. */
const ANSWERS_WITHIN_MS = 1000

/** The answer of the database, or a fallback while it is unavailable. */
export async function orWhileAway<T>({ clock }: Pick<Ctx, 'clock'>, ask: () => Promise<T>, otherwise: () => T): Promise<T> {
  const answered = new AbortController()
  const answer = ask().catch((error: unknown) => {
    if (isDatabaseAway(error)) return otherwise()
    throw error
  })
  try {
    return await Promise.race([answer, clock.sleep(ANSWERS_WITHIN_MS, answered.signal).then(otherwise)])
  } finally {
    answered.abort()
    // After the time is up, nothing waits for it.
    answer.catch(() => undefined)
  }
}
