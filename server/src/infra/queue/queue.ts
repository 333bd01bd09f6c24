/**
 * The queue of accepted requests: appended durably before they are answered, applied later in order. It is a table of PostgreSQL.
 * Requests that come in at the same time share a commit. An entry is deleted in the transaction that writes its effects, so that each
 * takes effect exactly once.
 */
import { type Static, Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { type Db, fence, type Sql, sql } from '../postgres/db.ts'
import { firstOfEach } from '../postgres/first-of-each.ts'
import { callRows, type JointCall, joint, jointMany, jointRun } from '../postgres/joint.ts'
import type { Ctx, InTx, JobName } from '../runtime/ctx.ts'
import { AlreadyRecorded, type ReplyRecord } from '../runtime/reply-record.ts'
import { measureBacklog } from './backlog.ts'

/** The job that applies the queue. Wake it after each append. */
export const APPLY: JobName = { name: 'ingest.apply' }

/** A request that was checked, with its body as it was received. */
export type AcceptedRequest = {
  projectId: ProjectId
  /** Tells the consumer how to read the body. */
  kind: string
  /** The user of the user token, if the caller had one. */
  userId: UserId | null
  requestId: string
  receivedAt: Date
  items: number
  body: Buffer
  /** Stored in the same commit. If the key has a record already, nothing is appended. */
  record?: ReplyRecord | undefined
}

/** With more than one, a group is filled while another is written to disk. */
const COMMITS_AT_ONCE = 2
const GROUP_BYTES_MAX = 4_194_304
const GROUP_REQUESTS_MAX = 500
/** With more than this in memory, further requests get 429. */
const WAITING_BYTES_MAX = 67_108_864

export type Appender = {
  /** Resolves after the commit. Throws 429 when too much waits to be written, and `AlreadyRecorded`. */
  append(request: AcceptedRequest): Promise<void>
}

type Waiting = { request: AcceptedRequest; done: () => void; failed: (error: unknown) => void }

/** Groups the appends of this process into few commits. `onCommit` is called after each commit. */
export function createAppender(db: Db, onCommit: () => void): Appender {
  let waiting: Waiting[] = []
  let waitingBytes = 0
  let committing = 0

  const commit = async () => {
    while (waiting.length > 0) {
      const group = takeGroup(waiting)
      waiting = waiting.slice(group.length)
      const bytes = group.reduce((sum, { request }) => sum + request.body.length, 0)
      try {
        const requests = group.map(({ request }) => request)
        const appended = await appendWithRecords(db, requests)
        for (const { request, done, failed } of group) {
          if (appended === 'all' || appended.has(request.requestId)) done()
          else failed(new AlreadyRecorded())
        }
        onCommit()
      } catch (error) {
        for (const { failed } of group) failed(error)
      } finally {
        waitingBytes -= bytes
      }
    }
    committing--
  }

  return {
    append: (request) =>
      new Promise((done, failed) => {
        if (waitingBytes > WAITING_BYTES_MAX) return failed(tooBusy())
        waiting.push({ request, done, failed })
        waitingBytes += request.body.length
        if (committing >= COMMITS_AT_ONCE) return
        committing++
        // What is ready at the same time shares the commit.
        setImmediate(() => void commit())
      }),
  }
}

const tooBusy = () => new ApiError('rate_limited', 'The server is overloaded. Retry after 1 second.', { headers: { 'retry-after': '1' } })

function takeGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0
  const end = waiting.findIndex(({ request }, index) => {
    bytes += request.body.length
    return index > 0 && (bytes > GROUP_BYTES_MAX || index >= GROUP_REQUESTS_MAX)
  })
  return end === -1 ? waiting : waiting.slice(0, end)
}

/** Appends requests with one statement. Their bodies are sent as one value, which the database splits. */
export const appendAll = (db: Db, requests: AcceptedRequest[]): Promise<number> =>
  db.run(
    sql`insert into queue_entries (project_id, kind, user_id, request_id, received_at, items, body)
        select r.project_id, r.kind, r.user_id, r.request_id, r.received_at, r.items, r.body from ${entriesOf(requests)}`,
  )

function entriesOf(requests: AcceptedRequest[]): Sql {
  const lengths = requests.map(({ body }) => body.length)
  return sql`(select e.*, substring(${Buffer.concat(requests.map(({ body }) => body))}::bytea from e.start for e.length) as body
              from unnest(${requests.map(({ projectId }) => projectId)}::bigint[], ${requests.map(({ kind }) => kind)}::text[],
                          ${requests.map(({ userId }) => userId)}::bigint[], ${requests.map(({ requestId }) => requestId)}::text[],
                          ${requests.map(({ receivedAt }) => receivedAt)}::timestamptz[], ${requests.map(({ items }) => items)}::int[],
                          ${starts(lengths)}::int[], ${lengths}::int[])
                   as e(project_id, kind, user_id, request_id, received_at, items, start, length)) r`
}

const Appended = Type.Object({ request_id: Type.String() })

/**
 * Appends requests with the records of their Idempotency-Keys, with one statement. Returns the ids of those that were appended: not those
 * whose key has a record. Keys are stored in their order, so that two groups with the same keys cannot deadlock.
 */
async function appendWithRecords(db: Db, requests: AcceptedRequest[]): Promise<'all' | Set<string>> {
  const recorded = requests.flatMap(({ record, requestId }) => (record ? [{ ...record, requestId }] : []))
  if (recorded.length === 0) {
    await appendAll(db, requests)
    return 'all'
  }
  const now = new Date(Math.max(...requests.map(({ receivedAt }) => receivedAt.getTime())))
  const rows = await db.many(
    Appended,
    sql`with given as (
          select distinct on (key_id, idempotency_key) *
          from unnest(${recorded.map(({ keyId }) => keyId)}::bigint[], ${recorded.map(({ key }) => key)}::text[],
                      ${recorded.map(({ fingerprint }) => fingerprint)}::text[], ${recorded.map(({ requestId }) => requestId)}::text[],
                      ${recorded.map(({ expiresAt }) => expiresAt)}::timestamptz[])
               as k(key_id, idempotency_key, fingerprint, request_id, expires_at)
          order by key_id, idempotency_key
        ), kept as (
          insert into idempotency_records as r (key_id, idempotency_key, fingerprint, status, is_sealed, request_id, expires_at)
          select key_id, idempotency_key, fingerprint, 204, false, request_id, expires_at from given
          on conflict (key_id, idempotency_key) do update
          set fingerprint = excluded.fingerprint, status = 204, body = null, is_sealed = false, location = null,
              request_id = excluded.request_id, expires_at = excluded.expires_at
          where r.expires_at <= ${now}
          returning r.request_id
        )
        insert into queue_entries (project_id, kind, user_id, request_id, received_at, items, body)
        select r.project_id, r.kind, r.user_id, r.request_id, r.received_at, r.items, r.body from ${entriesOf(requests)}
        where r.request_id <> all(${recorded.map(({ requestId }) => requestId)}::text[]) or r.request_id in (select request_id from kept)
        returning request_id`,
  )
  return new Set(rows.map(({ request_id }) => request_id))
}

function starts(lengths: number[]): number[] {
  let next = 1
  return lengths.map((length) => {
    const start = next
    next += length
    return start
  })
}

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
