/**
 * The queue of accepted requests: appended durably before they are answered, applied later in order. It is a table of PostgreSQL.
 * Requests that come in at the same time share a commit. An entry is deleted in the transaction that writes its effects, so that each
 * takes effect exactly once.
 */
import { type Static, Type } from 'typebox'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { fence, sql } from '../postgres/db.ts'
import { firstOfEach } from '../postgres/first-of-each.ts'
import { callRows, type JointCall, joint, jointMany, jointRun } from '../postgres/joint.ts'
import type { Ctx, InTx, JobName } from '../runtime/ctx.ts'
import { measureBacklog } from './backlog.ts'

/** The job that applies the queue. Wake it after each append. */
export const APPLY: JobName = { name: 'ingest.apply' }

export const QueueEntryRow = Type.Object({
  position: Type.Integer(),
  kind: Type.String(),
  user_id: Nullable(IdOf<UserId>()),
  request_id: Type.String(),
  received_at: Instant,
  body: Type.Unsafe<Buffer>({}),
})
export type QueueEntry = Static<typeof QueueEntryRow>

const BacklogRow = Type.Object({ project_id: IdOf<ProjectId>(), items: Type.Integer() })

/** A project with accepted requests, and how many items the oldest of them hold. */
export type Backlog = Static<typeof BacklogRow>

/** The items of this many entries of a project are counted. */
const COUNTED_ENTRIES = 100

const waitingProjects = firstOfEach('waiting', { table: sql`queue_entries`, keys: ['project_id'] })

/** Projects with accepted requests, and how many items the oldest of these hold. */
export const projectsWithEntries = (ctx: Ctx) =>
  ctx.db.many(
    BacklogRow,
    sql`with recursive ${waitingProjects}
        select project_id, o.items
        from waiting
        cross join lateral (select coalesce(sum(items), 0) as items
                            from (select items from queue_entries a where a.project_id = waiting.project_id order by position limit ${COUNTED_ENTRIES}) a) o`,
  )

const LockRow = Type.Object({ locked: Flag })

/** Locks a project for one consumer at a time, which keeps the events of its users in order. False when another has the lock. */
const lockProjects = joint<null, boolean>(async (ctx, calls) => {
  const rows = await ctx.db.many(
    LockRow,
    sql`select pg_try_advisory_xact_lock(hashtextextended('accepted requests', q.project_id)) as locked from ${callRows(calls)} order by q.call`,
  )
  return rows.map(({ locked }) => locked)
})

export const lockProject = (ctx: InTx<Ctx>, projectId: ProjectId): Promise<boolean> => lockProjects(ctx, projectId, null)

const CLAIMED_REQUESTS_MAX = 2000

/** The oldest entries of a project: at least one, and not many more than hold `itemsMax` items. */
const claimFrom = jointMany(
  QueueEntryRow,
  (_, calls: JointCall<number>[]) =>
    sql`select q.call, e.position, e.kind, e.user_id, e.request_id, e.received_at, e.body
        from ${callRows(calls, sql`items_max int`, (items_max) => ({ items_max }))}
        cross join lateral (
          select position, kind, user_id, request_id, received_at, body, sum(items) over (order by position) - items as before
          from (select position, kind, user_id, request_id, received_at, items, body from queue_entries
                where project_id = q.project_id order by position limit ${CLAIMED_REQUESTS_MAX}) oldest
        ) e
        where e.before < q.items_max
        order by q.call, e.position`,
)

export const claimEntries = (ctx: InTx<Ctx>, projectId: ProjectId, itemsMax: number): Promise<QueueEntry[]> =>
  claimFrom(ctx, projectId, itemsMax)

const NextEntryRow = Type.Object({ received_at: Instant })

const entryAfter = jointMany(
  NextEntryRow,
  (_, calls: JointCall<number>[]) =>
    sql`select q.call, e.received_at
        from ${callRows(calls, sql`after bigint`, (after) => ({ after }))}
        cross join lateral (
          select received_at from queue_entries where project_id = q.project_id and position > q.after order by position limit 1
        ) e`,
)

/** When the oldest entry of a project after a position was received, if there is one. */
export const nextEntryAt = async (ctx: InTx<Ctx>, projectId: ProjectId, position: number): Promise<Date | null> =>
  (await entryAfter(ctx, projectId, position))[0]?.received_at ?? null

/** Deletes entries in the transaction that writes their effects. */
const deleteFrom = jointRun<Pick<QueueEntry, 'position'>[]>((ctx, calls) => {
  const positions = calls.flatMap(({ projectId, input }) => input.map(({ position }) => ({ projectId, position })))
  return ctx.db.run(
    sql`delete from queue_entries
        where ctid = any(array(
          select e.tid
          from unnest(${positions.map(({ projectId }) => projectId)}::bigint[], ${positions.map(({ position }) => position)}::bigint[]) as d(project_id, position)
          cross join lateral (select ctid as tid from queue_entries
                              where project_id = d.project_id and position = d.position ${fence}) e))`,
  )
})

export const deleteEntries = (ctx: InTx<Ctx>, projectId: ProjectId, entries: Pick<QueueEntry, 'position'>[]): Promise<void> =>
  deleteFrom(ctx, projectId, entries)

export type ParkedItem = { kind: string; request_id: string; received_at: Date; item: unknown; reason: string }

/** An item as it is parked: with the user that it is known to be about, by whom an erasure finds it. */
export const parkedWith = (item: unknown, userId: UserId | null | undefined): unknown =>
  typeof userId === 'number' && typeof item === 'object' && item !== null && !Array.isArray(item) ? { ...item, user_id: userId } : item

/** Stores items that could not be applied, with the reason. */
export const parkItems = (ctx: InTx<Ctx>, projectId: ProjectId, items: ParkedItem[]) =>
  ctx.db.run(
    sql`insert into parked_items (project_id, kind, request_id, received_at, item, reason, parked_at)
        select ${projectId}, p.kind, p.request_id, p.received_at, p.item, p.reason, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(items)}::jsonb) as p(kind text, request_id text, received_at timestamptz, item jsonb, reason text)`,
  )

/** Does the project have accepted requests that are not applied yet? */
export const hasEntries = (ctx: Ctx, projectId: ProjectId): Promise<boolean> =>
  ctx.db.value(Flag, sql`select exists (select 1 from queue_entries where project_id = ${projectId}) as found`)

const Parked = Type.Object({ parked: Type.Integer() })
/** Larger numbers are reported as this. */
const PARKED_COUNTED_MAX = 100_000

/** The approximate backlog and the number of parked items, for the metrics. */
export async function backlog(ctx: Ctx): Promise<{ waiting: number; oldest: Date | null; parked: number }> {
  const { requests, items, bytes, oldest } = await measureBacklog(ctx)
  ctx.metrics.backlog(items, bytes)
  const counted = await ctx.db.first(
    Parked,
    sql`select count(*) as parked from (select 1 from parked_items limit ${PARKED_COUNTED_MAX}) counted`,
  )
  return { waiting: requests, oldest, parked: counted?.parked ?? 0 }
}

/** When the oldest entry was accepted, if there is one. */
export const oldestEntryAt = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.first(OldestRow, sql`select received_at from queue_entries order by position limit 1`))?.received_at ?? null

const OldestRow = Type.Object({ received_at: Instant })
