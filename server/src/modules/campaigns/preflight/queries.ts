import { Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import { firstOfEach } from '../../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, PreflightId, ProjectId } from '../../../lib/ids.ts'
import { IdOf, Instant } from '../../../lib/shapes.ts'
import { PreflightRow } from './schema.ts'

const columns = sql`id, campaign_id, state, people_total, people_done, done_to, counts, problems, created_at, finished_at`

export const insertPreflight = (ctx: InTx, campaignId: CampaignId, users: number) =>
  ctx.db.one(
    PreflightRow,
    sql`insert into campaign_preflights (project_id, campaign_id, state, people_total, created_at, touched_at)
        values (${ctx.projectId}, ${campaignId}, 'running', ${users}, ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${columns}`,
  )

/** Deletes all but the newest preflights of a campaign. */
export const removeOld = (ctx: InTx, campaignId: CampaignId, kept: number) =>
  ctx.db.run(
    sql`delete from campaign_preflights
        where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and id = any(array(
          select id from campaign_preflights
          where project_id = ${ctx.projectId} and campaign_id = ${campaignId}
          order by id desc
          offset ${kept}))`,
  )

export const findPreflight = (ctx: ProjectCtx, campaignId: CampaignId, id: PreflightId) =>
  ctx.db.first(
    PreflightRow,
    sql`select ${columns} from campaign_preflights where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and id = ${id}`,
  )

/** The running preflight of a campaign. */
export const runningPreflight = (ctx: ProjectCtx, campaignId: CampaignId) =>
  ctx.db.first(
    PreflightRow,
    sql`select ${columns} from campaign_preflights
        where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and state = 'running'
        order by id desc
        limit 1`,
  )

const PreflightKey = Type.Object({ id: IdOf<PreflightId>(), project_id: IdOf<ProjectId>() })

/** Not `exists`, which a plan may turn into a join that reads all campaigns. */
const isLive = sql`(select c.archived_at is null from campaigns c where c.project_id = p.project_id and c.id = p.campaign_id)`

/** For each project, the running preflight of a live campaign that was least recently worked on, without some of them. */
const nextRunning = (without: PreflightId[]) =>
  firstOfEach('next', {
    table: sql`campaign_preflights p`,
    keys: ['project_id'],
    order: ['touched_at', 'id'],
    where: sql`state = 'running' and ${isLive} and id <> all(${without}::bigint[])`,
  })

/** Those, the least recent first. */
export const findRunning = (ctx: Ctx, without: PreflightId[], limit: number) =>
  ctx.db.many(
    PreflightKey,
    sql`with recursive ${nextRunning(without)} select id, project_id from next order by touched_at, id limit ${limit}`,
  )

const SinceRow = Type.Object({ since: Instant })

/** Since when a running preflight was not worked on. */
export const preflightSince = async (ctx: Ctx): Promise<Date | null> =>
  (
    await ctx.db.first(
      SinceRow,
      sql`with recursive ${nextRunning([])} select touched_at as since from next order by touched_at, id limit 1`,
    )
  )?.since ?? null

/** A running preflight, without a lock. */
export const findRunningPreflight = (ctx: ProjectCtx, id: PreflightId) =>
  ctx.db.first(
    PreflightRow,
    sql`select ${columns} from campaign_preflights where project_id = ${ctx.projectId} and id = ${id} and state = 'running'`,
  )

/** Locks a running preflight, unless another process works on it. */
export const lockPreflight = (ctx: InTx, id: PreflightId) =>
  ctx.db.first(
    PreflightRow,
    sql`select ${columns} from campaign_preflights
        where project_id = ${ctx.projectId} and id = ${id} and state = 'running'
        for update skip locked`,
  )

const HashRow = Type.Object({ address_hash: Type.String() })

/** The addresses among these that a user of an earlier chunk has. */
export const knownAddresses = (ctx: ProjectCtx, id: PreflightId, hashes: string[]) =>
  ctx.db.many(
    HashRow,
    sql`select replace(a.address_hash::text, '-', '') as address_hash
        from unnest(${hashes}::uuid[]) as h(address_hash)
        cross join lateral (
          select address_hash from preflight_addresses
          where project_id = ${ctx.projectId} and preflight_id = ${id} and address_hash = h.address_hash
          ${fence}
        ) a`,
  )

export const addAddresses = (ctx: InTx, id: PreflightId, hashes: string[]) =>
  ctx.db.run(
    sql`insert into preflight_addresses (project_id, preflight_id, address_hash)
        select ${ctx.projectId}, ${id}, h from unnest(${hashes}::uuid[]) as h
        on conflict (project_id, preflight_id, address_hash) do nothing`,
  )

export const forgetAddresses = (ctx: InTx, id: PreflightId) =>
  ctx.db.run(sql`delete from preflight_addresses where project_id = ${ctx.projectId} and preflight_id = ${id}`)

export const savePreflight = (
  ctx: InTx,
  { id, state, people_total, people_done, done_to, counts, problems, finished_at }: Omit<PreflightRow, 'campaign_id' | 'created_at'>,
) =>
  ctx.db.run(
    sql`update campaign_preflights
        set state = ${state}, people_total = ${people_total}, people_done = ${people_done}, done_to = ${done_to},
            counts = ${JSON.stringify(counts)}::jsonb, problems = ${JSON.stringify(problems)}::jsonb, finished_at = ${finished_at},
            touched_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )
