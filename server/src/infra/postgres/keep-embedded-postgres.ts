import type { Clock } from '../../lib/clock.ts'
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.ts'

const LOOK_MS = 1000

export type KeptPostgres = AsyncDisposable & { url: string }

/**
 * The embedded PostgreSQL, started again whenever it is found dead (killed for its memory, say), so that the pools of this
 * process find it at the same address. Failed starts are tried again with every look.
 */
export async function keepEmbeddedPostgres(options: EmbeddedPostgresOptions, clock: Clock): Promise<KeptPostgres> {
  let postgres = await startEmbeddedPostgres(options)
  const { url } = postgres
  const stop = new AbortController()
  const watch = async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(LOOK_MS, stop.signal)
      if (!stop.signal.aborted && !postgres.running()) postgres = await revived().catch(complain)
    }
  }
  const revived = async () => {
    options.log.warn({}, 'the embedded PostgreSQL is gone; starting it again')
    const again = await startEmbeddedPostgres(options)
    if (again.url !== url) options.log.warn({}, 'the embedded PostgreSQL came back on another port; restart this process')
    return again
  }
  const complain = (error: unknown) => {
    options.log.warn({ err: error }, 'the embedded PostgreSQL does not start')
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
