import { resolve } from 'node:path'
import { connectionProblem } from '../infra/postgres/connection-problem.ts'
import { startEmbeddedPostgres } from '../infra/postgres/embedded-postgres.ts'
import type { Config } from '../infra/runtime/config.ts'
import { createLog } from '../infra/runtime/log.ts'

/** Runs `work` with the configured database as it is, without migrating it. Starts the embedded PostgreSQL if it is not running. */
export async function withDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATA_DIR } = config
  const url = DATABASE_URL && (DATABASE_DIRECT_URL ?? DATABASE_URL)
  if (url)
    return await work(url).catch((error) => {
      throw connectionProblem(error, url)
    })
  await using postgres = await startEmbeddedPostgres({ dataDir: resolve(DATA_DIR), log: createLog(config.LOG_LEVEL) })
  return await work(postgres.url)
}
