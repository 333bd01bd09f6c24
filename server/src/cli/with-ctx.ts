import { openForCommand } from '../app.ts'
import { readConfig } from '../infra/runtime/config.ts'
import type { Ctx } from '../infra/runtime/ctx.ts'

/** Runs `work` with the configured database. Starts the embedded PostgreSQL if it is not running. */
export async function withCtx<T>(env: Record<string, string | undefined>, work: (ctx: Ctx) => Promise<T>): Promise<T> {
  await using opened = await openForCommand(readConfig({ LOG_LEVEL: 'warn', ...env }))
  return await work(opened.ctx)
}
