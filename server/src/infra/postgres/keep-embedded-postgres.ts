import type { Clock } from '../../lib/clock.ts'
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.ts'

const CHECK_INTERVAL_MS = 1000

export type KeptPostgres = AsyncDisposable & { url: string }

/**
 * Starts the embedded PostgreSQL, and restarts it on the same port if it dies, for example because it ran out of memory. A restart
 * that fails is tried again at the next check.
 */
export async function keepEmbeddedPostgres(options: EmbeddedPostgresOptions, clock: Clock): Promise<KeptPostgres> {
  let postgres = await startEmbeddedPostgres(options)
  const { url } = postgres
  const stop = new AbortController()
  const watch = async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL_MS, stop.signal)
      if (!stop.signal.aborted && !postgres.running()) postgres = await restart().catch(reportFailure)
    }
  }
  const restart = async () => {
    options.log.warn({}, 'the embedded PostgreSQL has stopped; restarting it')
    const again = await startEmbeddedPostgres(options)
    if (again.url !== url) options.log.warn({}, 'the embedded PostgreSQL restarted on another port; restart this process')
    return again
  }
  const reportFailure = (error: unknown) => {
    options.log.warn({ err: error }, 'the embedded PostgreSQL could not be restarted')
    return postgres
  }
  const watching = watch()
  return {
    url,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await watching
      await postgres[Symbol.asyncDispose]()
    },
  }
}
