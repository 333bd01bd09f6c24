/** Saves results of work that was done outside the database, such as emails that were delivered: if they were lost, it would be done twice. */
import { isDatabaseAway } from '../postgres/database-away.ts'
import { isConflict } from '../postgres/db.ts'
import type { Ctx } from './ctx.ts'

const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 5000

/** A result that could not be saved, and why. */
export type Unsaved<T> = { item: T; error: unknown }

/**
 * Saves results together and returns those that could not be saved. While the database is away they are saved again and again, until
 * `stop`, so `save` must ignore a result that was saved before. After any other failure each half is saved alone, and in the end each
 * result, so that one that cannot be saved does not affect the others.
 */
export async function saveTogether<T>(
  ctx: Pick<Ctx, 'clock' | 'log'>,
  items: T[],
  save: (items: T[]) => Promise<void>,
  stop?: AbortSignal,
): Promise<Unsaved<T>[]> {
  if (items.length === 0) return []
  const failure = await saveUntilBack(ctx, () => save(items), stop)
  if (!failure) return []
  if (items.length === 1 || isTemporary(failure.error)) return items.map((item) => ({ item, error: failure.error }))
  const middle = items.length >> 1
  const first = await saveTogether(ctx, items.slice(0, middle), save, stop)
  return [...first, ...(await saveTogether(ctx, items.slice(middle), save, stop))]
}

/** Whether the same statements may succeed later. */
export const isTemporary = (error: unknown): boolean => isDatabaseAway(error) || isConflict(error)

/** Saves, and tries again while the database is away. Returns the failure that is left. */
async function saveUntilBack(
  { clock, log }: Pick<Ctx, 'clock' | 'log'>,
  save: () => Promise<void>,
  stop: AbortSignal | undefined,
): Promise<{ error: unknown } | undefined> {
  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
    try {
      await save()
      return undefined
    } catch (error) {
      if (!isTemporary(error) || stop?.aborted) return { error }
      log.warn({ err: error, retry_ms: waitMs }, 'results could not be saved; they will be saved again')
      await clock.sleep(waitMs, stop)
    }
  }
}
