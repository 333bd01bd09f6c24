/** Lists that tests build step by step. */
import { Type } from 'typebox'
import { expect } from 'vitest'
import { sql } from '../src/infra/postgres/db.ts'
import { type Job, runToEnd } from '../src/infra/queue/jobs.ts'
import type { Ctx } from '../src/infra/runtime/ctx.ts'
import { createInboxStreams } from '../src/modules/inbox/index.ts'
import { allJobs } from '../src/workers.ts'
import type { Tenant, World } from './world.ts'

/** The users that were evaluated. After 'all', the list is live. */
export const STAGES = ['none', 'the first', 'both', 'all'] as const
type Stage = (typeof STAGES)[number]

export type Name = 'kim' | 'visitor'

const BuiltTo = Type.Object({ built_to: Type.Integer(), status: Type.String() })
const Status = Type.Object({ status: Type.String() })
export const Id = Type.Object({ id: Type.Integer() })

type CreateBuilder = (options: { scanFromUsers: number; chunkUsers: number }) => (ctx: Ctx) => Promise<number>

/** A project whose lists are built by calls, a user at a time. */
export async function buildingWith(createListBuilder: CreateBuilder, w: World, inScan: boolean, { keys, ctx }: Tenant = w) {
  const key = keys.secret
  const job = allJobs(createInboxStreams()).find(({ name }) => name === 'ingest.apply') as Job
  const build = createListBuilder({
    scanFromUsers: inScan ? 0 : Number.MAX_SAFE_INTEGER,
    chunkUsers: 1,
  })
  const post = async (path: string, body: unknown) => {
    const reply = await w.post(path, body, { key })
    expect(reply.status, reply.text).toBeLessThan(300)
    return reply.body
  }
  return {
    post,
    did: (as: Name[], ...names: string[]) => {
      const ids = { ...(as.includes('kim') && { external_id: 'kim' }), ...(as.includes('visitor') && { anonymous_id: 'visitor' }) }
      return post(
        '/api/client/events',
        names.map((name) => ({ ...ids, name })),
      )
    },
    apply: () => runToEnd(job, w.ctx, new AbortController().signal),
    list: async (rule: object): Promise<number> => (await post('/api/client/lists', { name: 'List', type: 'dynamic', rule })).id,
    async versions(list: number): Promise<string[]> {
      const rows = await w.db.many(
        Status,
        sql`select status from list_versions where project_id = ${ctx.projectId} and list_id = ${list} order by id`,
      )
      return rows.map(({ status }) => status)
    },
    async buildAll(): Promise<void> {
      for (let step = 0; step < STEPS_MAX; step++) if ((await build(w.ctx)) === 0) return
      throw new Error('The build does not end.')
    },
    async buildTo(list: number, stage: Stage): Promise<void> {
      // The scan has begun; it may see later events or not.
      if (stage === 'none') return void (inScan && (await build(w.ctx)))
      const all = await w.db.many(Id, sql`select id from users where project_id = ${ctx.projectId} order by id`)
      const until = stage === 'all' ? undefined : all[STAGES.indexOf(stage) - 1]?.id
      for (let step = 0; step < STEPS_MAX; step++) {
        const version = await w.db.first(
          BuiltTo,
          sql`select built_to, status from list_versions where project_id = ${ctx.projectId} and list_id = ${list} order by id desc limit 1`,
        )
        if (version?.status === 'live' || (until !== undefined && (version?.built_to ?? 0) >= until)) return
        await build(w.ctx)
      }
      throw new Error('The build does not end.')
    },
    members: async (list: number): Promise<string[]> =>
      (await w.get(`/api/client/lists/${list}/users`, { key })).body.results.map(({ external_id }: { external_id: string }) => external_id),
  }
}

const STEPS_MAX = 100

/** A context whose transactions fail after their work, where `isLost` says so of their number. */
export function losing(ctx: Ctx, isLost: (number: number) => boolean): Ctx {
  let number = 0
  const transaction: Ctx['db']['transaction'] = (work, limits) => {
    const isLast = isLost(++number)
    return ctx.db.transaction(async (db) => {
      const result = await work(db)
      if (isLast) throw Object.assign(new Error('The connection is lost.'), { code: 'ECONNRESET' })
      return result
    }, limits)
  }
  return { ...ctx, db: { ...ctx.db, transaction } }
}

export const isScanned = async (w: World) =>
  (await w.db.many(Status, sql`select status from list_versions where project_id = ${w.projectId} and scan is not null`)).length > 0
