import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { fence, sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ADDRESSED, type Addressed } from '../../../lib/channels.ts'
import { Count, IdOf, OneOf } from '../../../lib/shapes.ts'
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
  source: Record<string, unknown>
}

const StoredRow = Type.Object({
  id: IdOf<number>(),
  channel: OneOf(ADDRESSED),
  address_hash: Type.String(),
  reason: OneOf(SUPPRESSION_REASONS),
  stops_transactional: Type.Boolean(),
  source: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
})

/**
 * Suppresses addresses that are not suppressed. Locks the suppressions of the others and returns them unchanged. Each address of a channel
 * may occur only once.
 */
export const insertSuppressions = (ctx: InTx, entries: Entry[]) =>
  ctx.db.many(
    StoredRow,
    sql`with given as materialized (
          select nextval('suppressions_id_seq') as id, i.channel, i.address_hash, i.address, i.reason, i.stops_transactional, i.source
          from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as i(channel text, address_hash text, address text, reason text, stops_transactional boolean, source jsonb)
        ), stored as (
          insert into suppressions as s (id, project_id, channel, address_hash, address, reason, stops_transactional, source, created_at)
          overriding system value
          select g.id, ${ctx.projectId}, g.channel, g.address_hash, g.address, g.reason, g.stops_transactional, g.source, ${ctx.clock.now()}
          from given g
          order by g.channel, g.address_hash
          on conflict (project_id, channel, address_hash) do update set reason = s.reason
          returning s.id, s.channel, s.address_hash, s.reason, s.stops_transactional, s.source
        )
        select s.id, s.channel, s.address_hash, s.reason, s.stops_transactional, s.source from stored s
        where not exists (select from given g where g.id = s.id)`,
  )

/** What a suppression becomes. Unless it is replaced, it keeps its address and its time. */
type Changed = Pick<Entry, 'address' | 'reason' | 'stops_transactional' | 'source'> & { id: number; is_replaced: boolean }

/** Changes suppressions that are locked. */
export const changeSuppressions = (ctx: InTx, changed: Changed[]) =>
  ctx.db.run(
    sql`update suppressions s
        set reason = c.reason, stops_transactional = c.stops_transactional, source = c.source,
            address = case when c.is_replaced then c.address else s.address end,
            created_at = case when c.is_replaced then ${ctx.clock.now()} else s.created_at end
        from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb)
          as c(id bigint, address text, reason text, stops_transactional boolean, source jsonb, is_replaced boolean)
        where s.project_id = ${ctx.projectId} and s.id = c.id`,
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

/** The opt-out from everything that a suppression covers, by its path in `source`. It covers nothing itself. */
const OPT_OUT_PATHS = [['covers'], ['covers', 'covers']] as const
const coversOptOut = (path: readonly string[]) => sql`source #>> ${[...path, 'reason']}::text[] = 'unsubscribed_all'`
const COVERS_OPT_OUT = sql`(${coversOptOut(OPT_OUT_PATHS[0])} or ${coversOptOut(OPT_OUT_PATHS[1])})`
const optOutPath = sql`case when ${coversOptOut(OPT_OUT_PATHS[0])} then ${OPT_OUT_PATHS[0]}::text[] else ${OPT_OUT_PATHS[1]}::text[] end`

/**
 * Deletes suppressions that users caused themselves by unsubscribing, also those that others cover. Returns the number, without those that
 * an erasure covers.
 */
export const liftUnsubscribed = (ctx: InTx, wanted: Hashed[]) =>
  ctx.db.value(
    Count,
    sql`with uncovered as (
          update suppressions set source = source #- ${optOutPath}
          where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)})) and ${COVERS_OPT_OUT}
          returning reason
        ), deleted as (
          delete from suppressions
          where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)})) and reason = 'unsubscribed_all'
          returning reason
        )
        select count(*) as count from (select reason from uncovered union all select reason from deleted) l where reason <> 'erased'`,
  )

const LiftedRow = Type.Object({ channel: OneOf(ADDRESSED), address_hash: Type.String() })

/**
 * Lifts the suppressions of users who were erased: those that cover nothing are deleted, and of the others the reason that they covered
 * applies again, as a suppression with another id: a client that deletes the one that it read does not lift that too. Returns them.
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
          set id = default, reason = e.covers ->> 'reason', stops_transactional = (e.covers ->> 'stops_transactional')::boolean, address = e.address,
              source = jsonb_strip_nulls(jsonb_build_object('covers', e.covers -> 'covers'))
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

/** Lets transactional messages through to addresses whose owners had unsubscribed from those too, also where others cover that. */
export const allowTransactional = (ctx: InTx, wanted: Hashed[]) =>
  ctx.db.run(
    sql`update suppressions
        set stops_transactional = stops_transactional and reason <> 'unsubscribed_all',
            source = case when ${COVERS_OPT_OUT} then jsonb_set(source, ${optOutPath} || 'stops_transactional'::text, 'false')
                          else source end
        where project_id = ${ctx.projectId} and id = any(array(select s.id from ${found(ctx, wanted)}))
          and ((reason = 'unsubscribed_all' and stops_transactional)
               or (${COVERS_OPT_OUT} and (source #>> (${optOutPath} || 'stops_transactional'::text))::boolean))`,
  )

/**
 * Deletes a suppression. The opt-out from everything that it covers applies again, as a suppression with another id: a client that repeats
 * its request does not lift that too. Returns the number of suppressions with the id.
 */
export const deleteSuppression = (ctx: ProjectCtx, id: number) =>
  ctx.db.value(
    Count,
    sql`with lifted as materialized (
          select id, case when ${COVERS_OPT_OUT} then source #> ${optOutPath} end as opt_out
          from suppressions
          where project_id = ${ctx.projectId} and id = ${id}
          for update
        ), restored as (
          update suppressions s
          set id = default, reason = 'unsubscribed_all', stops_transactional = (l.opt_out ->> 'stops_transactional')::boolean,
              source = l.opt_out - 'reason' - 'stops_transactional'
          from lifted l
          where s.project_id = ${ctx.projectId} and s.id = l.id and l.opt_out is not null
        ), deleted as (
          delete from suppressions s using lifted l where s.project_id = ${ctx.projectId} and s.id = l.id and l.opt_out is null
        )
        select count(*) as count from lifted`,
  )

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
