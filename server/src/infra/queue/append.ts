/**
 * Appending accepted requests to the queue. Requests that come in at the same time share a commit, in which the records of their
 * Idempotency-Keys are stored too.
 */
import { Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { type Db, type Sql, sql } from '../postgres/db.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { AlreadyRecorded, type ReplyRecord } from '../runtime/reply-record.ts'
import { requireRoom } from './backlog.ts'

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
export const WAITING_BYTES_MAX = 67_108_864

export type Appender = {
  /** Throws 429 while the queue is full. Call it before each append. */
  requireRoom(ctx: Ctx): Promise<void>
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
    requireRoom,
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

export const tooBusy = () =>
  new ApiError('rate_limited', 'The server is overloaded. Retry after 1 second.', { headers: { 'retry-after': '1' } })

function takeGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0
  const end = waiting.findIndex(({ request }, index) => {
    bytes += request.body.length
    return index > 0 && (bytes > GROUP_BYTES_MAX || index >= GROUP_REQUESTS_MAX)
  })
  return end === -1 ? waiting : waiting.slice(0, end)
}

/** Appends requests with one statement. Their bodies are sent as one value, which the database splits. */
export const appendAll = (db: Pick<Db, 'run'>, requests: AcceptedRequest[]): Promise<number> =>
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
 * Appends requests with the records of their Idempotency-Keys, with one statement. Returns the ids of the appended requests, without those
 * whose key already has a record. Keys are stored in their order, so that two groups with the same keys cannot deadlock.
 */
export async function appendWithRecords(db: Pick<Db, 'run' | 'many'>, requests: AcceptedRequest[]): Promise<'all' | Set<string>> {
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
