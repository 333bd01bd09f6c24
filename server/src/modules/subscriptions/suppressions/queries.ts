import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { fence, type Sql, sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ADDRESSED, type Addressed } from '../../../lib/channels.ts'
import { OneOf } from '../../../lib/shapes.ts'
import { SUPPRESSION_REASONS, type SuppressionReason, SuppressionRow } from './schema.ts'

const KeyRow = Type.Object({ sealed_key: Type.String() })

/** The key that addresses of the project are hashed with; undefined before the first suppression. */
export const findKey = async (ctx: ProjectCtx) => (await findKeys(ctx, ctx.projectId, null))[0]

const findKeys = jointMany(
  KeyRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, k.sealed_key from ${callRows(calls)} join suppression_keys k on k.project_id = q.project_id`,
)

/** Stores a key, unless there is one. */
export const insertKey = (ctx: ProjectCtx, sealed: string) =>
  ctx.db.run(
    sql`insert into suppression_keys (project_id, sealed_key, created_at) values (${ctx.projectId}, ${sealed}, ${ctx.clock.now()})
        on conflict (project_id) do nothing`,
  )

/** An address to suppress; null when only the hash may be kept. */
export type Entry = {
  channel: Addressed
  address_hash: string
  address: string | null
  reason: SuppressionReason
  stops_transactional: boolean
  source: object
}

const weight = (reason: Sql) => sql`array_position(${[...SUPPRESSION_REASONS]}::text[], ${reason})`

/** That the new suppression has more weight than one. */
const isStronger = (reason: Sql, stopsTransactional: Sql) =>
  sql`(${weight(sql`excluded.reason`)}, excluded.stops_transactional) > (${weight(reason)}, ${stopsTransactional})`

/** What a suppression `erased` keeps of another one. */
const covering = (reason: Sql, stopsTransactional: Sql) =>
  sql`jsonb_build_object('covers', jsonb_build_object('reason', ${reason}, 'stops_transactional', ${stopsTransactional}))`

/**
 * Suppresses addresses. A suppressed address keeps the reason with more weight; of reasons with equal weight, the one that stops
 * transactional messages too. An erasure keeps the strongest reason that it covers, from before or since. Each address of a channel may occur
 * only once.
 */
export const upsertSuppressions = (ctx: InTx, entries: Entry[]) =>
  ctx.db.run(
    sql`insert into suppressions as s (project_id, channel, address_hash, address, reason, stops_transactional, source, created_at)
        select ${ctx.projectId}, i.channel, i.address_hash, i.address, i.reason, i.stops_transactional, i.source, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as i(channel text, address_hash text, address text, reason text, stops_transactional boolean, source jsonb)
        order by i.channel, i.address_hash
        on conflict (project_id, channel, address_hash) do update
        set address = case when s.reason <> 'erased' then excluded.address end,
            reason = case when s.reason = 'erased' then s.reason else excluded.reason end,
            stops_transactional = s.reason = 'erased' or excluded.stops_transactional,
            source = case when excluded.reason = 'erased' then ${covering(sql`s.reason`, sql`s.stops_transactional`)}
                          when s.reason = 'erased' then ${covering(sql`excluded.reason`, sql`excluded.stops_transactional`)}
                          else excluded.source end,
            created_at = case when s.reason = 'erased' then s.created_at else excluded.created_at end
        where ${isStronger(sql`s.reason`, sql`s.stops_transactional`)}
           or (s.reason = 'erased' and excluded.reason <> 'erased'
               and (s.source -> 'covers' is null or ${isStronger(sql`s.source -> 'covers' ->> 'reason'`, sql`(s.source -> 'covers' ->> 'stops_transactional')::boolean`)}))`,
  )

const HashedRow = Type.Object({ ...SuppressionRow.properties, address_hash: Type.String() })

type Hashed = Pick<Entry, 'channel' | 'address_hash'>

/** The suppressions of these hashes as `s`, each once. */
const found = (ctx: ProjectCtx, wanted: Hashed[]) => sql`
  (select distinct channel, address_hash from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(channel text, address_hash text)) w
  cross join lateral (
    select f.id, f.channel, f.address, f.reason, f.stops_transactional, f.source, f.created_at, f.address_hash
    from suppressions f
    where f.project_id = ${ctx.projectId} and f.channel = w.channel and f.address_hash = w.address_hash
    ${fence}
  ) s`

const Reason = Type.Object({ address_hash: Type.String(), reason: OneOf(SUPPRESSION_REASONS), stops_transactional: Type.Boolean() })

/** The reasons why hashes are suppressed. */
export const reasonsOf = (ctx: ProjectCtx, wanted: Hashed[]) => findReasons(ctx, ctx.projectId, wanted)

const findReasons = jointMany(Reason, (_, calls: JointCall<Hashed[]>[]) => {
  const wanted = calls.flatMap(({ projectId, input }, call) => input.map((hashed) => ({ call, project_id: projectId, ...hashed })))
  return sql`select w.call, s.address_hash, s.reason, s.stops_transactional
             from (select distinct call, project_id, channel, address_hash from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb)
                   as w(call int, project_id bigint, channel text, address_hash text)) w
             cross join lateral (
               select f.address_hash, f.reason, f.stops_transactional from suppressions f
               where f.project_id = w.project_id and f.channel = w.channel and f.address_hash = w.address_hash
               ${fence}
             ) s`
})

/** Suppressions by channel and hash. */
export const findSuppressions = (ctx: ProjectCtx, wanted: Hashed[]) =>
  ctx.db.many(
    HashedRow,
    sql`select s.id, s.channel, s.address, s.reason, s.stops_transactional, s.source, s.created_at, s.address_hash from ${found(ctx, wanted)}`,
  )

/** Locks suppressions, in the order in which they are stored. */
export const lockSuppressions = (ctx: InTx, wanted: Hashed[]) =>
  ctx.db.run(
    sql`select from suppressions
        where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)}))
        order by channel, address_hash
        for update`,
  )

/** Deletes suppressions that users caused themselves by unsubscribing, also those that an erasure covers. Returns the number of the former. */
export const liftUnsubscribed = (ctx: InTx, wanted: Hashed[]) =>
  ctx.db.run(
    sql`with uncovered as (
          update suppressions set source = '{}'
          where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)})) and reason = 'erased'
            and source -> 'covers' ->> 'reason' = 'unsubscribed_all'
        )
        delete from suppressions
        where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)})) and reason = 'unsubscribed_all'`,
  )

const LiftedRow = Type.Object({ channel: OneOf(ADDRESSED), address_hash: Type.String() })

/**
 * Lifts the suppressions of users who were erased: those that cover nothing are deleted, and of the others the reason that they covered
 * applies again. Returns them.
 */
export const liftErased = (ctx: InTx, wanted: (Hashed & { address: string })[]) =>
  ctx.db.many(
    LiftedRow,
    sql`with erased as materialized (
          select distinct on (s.id) s.id, s.source -> 'covers' as covers, w.address
          from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(channel text, address_hash text, address text)
          join suppressions s on s.project_id = ${ctx.projectId} and s.channel = w.channel and s.address_hash = w.address_hash
          where s.reason = 'erased'
        ), restored as (
          update suppressions s
          set reason = e.covers ->> 'reason', stops_transactional = (e.covers ->> 'stops_transactional')::boolean, address = e.address, source = '{}'
          from erased e
          where s.project_id = ${ctx.projectId} and s.id = e.id and e.covers is not null
          returning s.channel, s.address_hash
        ), deleted as (
          delete from suppressions s using erased e
          where s.project_id = ${ctx.projectId} and s.id = e.id and e.covers is null
          returning s.channel, s.address_hash
        )
        select channel, address_hash from restored union all select channel, address_hash from deleted`,
  )

/** Lets transactional messages through to addresses whose owners had unsubscribed from those too. */
export const allowTransactional = (ctx: InTx, wanted: Hashed[]) =>
  ctx.db.run(
    sql`update suppressions set stops_transactional = false
        where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)})) and reason = 'unsubscribed_all'
          and stops_transactional`,
  )

export const deleteSuppression = (ctx: ProjectCtx, id: number) =>
  ctx.db.run(sql`delete from suppressions where project_id = ${ctx.projectId} and id = ${id}`)

export const suppressionListing = listing({
  resource: 'suppressions',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  searchedFields: 'address',
  findsWhole: true,
})

/** A page of suppressions; with hashes, only those. */
export const listSuppressions = (ctx: ProjectCtx, page: PageRequest, hashes: string[] | null): Promise<PageOf<SuppressionRow>> =>
  pageOf(ctx, SuppressionRow, suppressionListing, page, {
    select: sql`id, channel, address, reason, stops_transactional, source, created_at`,
    from: sql`suppressions`,
    where: hashes
      ? sql`project_id = ${ctx.projectId} and channel = any(${ADDRESSED}::text[]) and address_hash = any(${hashes}::text[])`
      : sql`project_id = ${ctx.projectId}`,
  })
