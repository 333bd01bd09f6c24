import { access, constants } from 'node:fs/promises'
import { openLog } from '../infra/log/open-log.ts'
import { describeDatabase } from '../infra/postgres/describe-database.ts'
import { logDepth } from '../infra/queue/log/depth.ts'
import { backlog } from '../infra/queue/queue.ts'
import { systemClock } from '../infra/runtime/clock.ts'
import { ConfigError, readConfig } from '../infra/runtime/config.ts'
import type { Ctx } from '../infra/runtime/ctx.ts'
import { diskOf } from '../infra/runtime/disk.ts'
import { type Command, readArguments } from './command.ts'
import { OPTIONS } from './options.ts'
import { withCtx } from './with-ctx.ts'

const FREE_SPACE_MIN_BYTES = 1_073_741_824

type Finding = { ok: boolean; text: string }

/** Checks everything that the server needs to start, and prints all findings. */
export const run: Command['run'] = async (args, env) => {
  const { json } = readArguments(args, OPTIONS.json).values
  const findings = [nodeVersion(), ...(await configuration(env))]
  if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`)
  else for (const { ok, text } of findings) process.stdout.write(`${ok ? 'ok     ' : 'PROBLEM'}  ${text}\n`)
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return { ok: major > 24 || (major === 24 && minor >= 12), text: `Node ${process.versions.node} (24.12 or newer is needed)` }
}

async function configuration(env: Record<string, string | undefined>): Promise<Finding[]> {
  try {
    const config = readConfig(env)
    const profile = { ok: true, text: `Configuration (${config.production ? 'production' : 'development'} profile)` }
    const directory = await dataDirectory(config.DATA_DIR)
    // The check must not create an embedded database.
    return [profile, directory, ...(config.DATABASE_URL || directory.ok ? await database(env) : [])]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ ok: false, text: error.message }]
  }
}

async function dataDirectory(path: string): Promise<Finding> {
  try {
    await access(path, constants.W_OK)
    const { free_bytes: free } = await diskOf(path)
    return { ok: free > FREE_SPACE_MIN_BYTES, text: `DATA_DIR ${path} is writable, ${Math.round(free / FREE_SPACE_MIN_BYTES)} GiB free` }
  } catch {
    return { ok: false, text: `DATA_DIR ${path} does not exist or is not writable. \`npm start\` creates it.` }
  }
}

async function database(env: Record<string, string | undefined>): Promise<Finding[]> {
  try {
    return await withCtx(env, async (ctx) => {
      const { version, durable } = await describeDatabase(ctx.db)
      const waiting = await backlog(ctx)
      return [
        { ok: true, text: `PostgreSQL ${version}, schema up to date` },
        {
          ok: durable,
          text: durable
            ? 'Commits are durable (fsync, full_page_writes and synchronous_commit are on)'
            : 'A crash can lose acknowledged requests. Turn on fsync, full_page_writes and synchronous_commit',
        },
        { ok: true, text: `Accepted requests waiting: ${waiting?.waiting ?? 0}` },
        ...(await acceptedLog(ctx)),
        {
          ok: (waiting?.parked ?? 0) === 0,
          text: `Parked items: ${waiting?.parked ?? 0} (the table parked_items contains the reasons; delete rows that are dealt with)`,
        },
      ]
    })
  } catch (error) {
    return [{ ok: false, text: `The database cannot be used: ${(error as Error).message}` }]
  }
}

async function acceptedLog(ctx: Ctx): Promise<Finding[]> {
  try {
    await using log = await openLog(ctx.config, systemClock)
    if (!log) return []
    const depth = await logDepth(ctx, log)
    return [{ ok: depth !== undefined, text: `Accepted requests waiting in NATS at ${log.where}: ${depth?.waiting ?? 'unknown'}` }]
  } catch (error) {
    return [{ ok: false, text: (error as Error).message }]
  }
}
