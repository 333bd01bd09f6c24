import { databaseSize, describeDatabase, largestTables, lastMigration } from '../../infra/postgres/describe-database.ts'
import { newestVersion } from '../../infra/postgres/migrate.ts'
import { connectedProcesses } from '../../infra/queue/other-processes.ts'
import type { Ctx, MemberCtx } from '../../infra/runtime/ctx.ts'
import { diskOf } from '../../infra/runtime/disk.ts'
import { ApiError } from '../../lib/errors.ts'
import { VERSION } from '../../lib/versions.ts'
import { isFirstOrganisation } from '../projects/index.ts'
import { type QueueDepth, RETAINED, type System } from './schema.ts'

const TABLES_SHOWN = 8

/** Verbs that need other modules. */
export type Verbs = { queueDepthsOf(ctx: Ctx): Promise<{ queues: QueueDepth[]; parked: number }> }

/** The state of the server, for its operators. Throws 403 for owners of other organisations. */
export async function readSystem(ctx: MemberCtx, { queueDepthsOf }: Verbs): Promise<System> {
  if (!(await isFirstOrganisation(ctx, ctx.organisationId)))
    throw new ApiError('permission_denied', 'Only owners of the server’s first organisation can see the state of the server.')
  const { config, clock, db } = ctx
  const { version, name, applied_at } = await lastMigration(db)
  return {
    version: VERSION,
    node_version: process.versions.node,
    is_production: config.production,
    database: await readDatabase(ctx),
    migrations: { applied: version, name, applied_at, expected: newestVersion() },
    ...(await queueDepthsOf(ctx)),
    processes: await connectedProcesses({ db }),
    // The directory may be one that only another process has.
    disk: await diskOf(config.DATA_DIR).catch(() => null),
    retention: RETAINED.map((setting) => ({ setting, value: config[setting] })),
    read_at: clock.now(),
  }
}

async function readDatabase({ db, config }: Ctx): Promise<System['database']> {
  const { version, durable } = await describeDatabase(db)
  return {
    version,
    is_embedded: config.DATABASE_URL === undefined,
    is_durable: durable,
    size_bytes: await databaseSize(db),
    tables: await largestTables(db, TABLES_SHOWN),
  }
}
