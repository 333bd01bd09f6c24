import { Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, UserId } from '../../../lib/ids.ts'
import { type Channel, IdOf, Nullable } from '../../../lib/shapes.ts'
import { type Priority, TRANSACTIONAL } from '../schema.ts'
import { type AskedMessage, KeyedMessage, MessageContent, type RequestedMessage } from './schema.ts'

const IdRow = Type.Object({ id: IdOf<MessageId>() })

/** New ids of messages, as many as asked for. */
export const reserveIds = (ctx: InTx, count: number) =>
  ctx.db.many(IdRow, sql`select nextval(pg_get_serial_sequence('messages', 'id')) as id from generate_series(1, ${count})`)

/**
 * Stores message requests, except those whose key is taken. Returns the ids of those that were stored. Waits for a concurrent request with
 * the same key.
 */
export const insertRequests = (ctx: InTx, asked: AskedMessage[]) =>
  ctx.db.many(
    IdRow,
    sql`insert into message_requests (project_id, message_id, key, fingerprint, sent_by, locale, content_id, redact, sealed, headers, attachments, attachment_bytes,
                                      expires_after_minutes, created_at)
        select ${ctx.projectId}, a.id, a.key, a.fingerprint, a.sent_by, a.locale, a.content_id, a.redact, a.sealed, a.headers, a.attachments, a.attachment_bytes,
               a.expires_after_minutes, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
             as a(id bigint, key text, fingerprint text, sent_by bigint, locale text, content_id bigint, redact text[], sealed text,
                  headers jsonb, attachments smallint, attachment_bytes integer, expires_after_minutes integer)
        order by a.key, a.id
        on conflict (project_id, key) where key is not null do nothing
        returning message_id as id`,
  )

/** Deletes stored message requests that are refused. */
export const deleteRequests = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.run(sql`delete from message_requests where project_id = ${ctx.projectId} and message_id = any(${ids}::bigint[])`)

/** The messages of these keys. */
export const findKeyed = (ctx: ProjectCtx | InTx, keys: string[]) =>
  ctx.db.many(
    KeyedMessage,
    sql`select r.key, r.fingerprint, m.id, m.user_id, m.campaign_id, m.state, m.reason, m.detail
        from unnest(${keys}::text[]) as k(key)
        cross join lateral (
          select key, fingerprint, message_id from message_requests
          where project_id = ${ctx.projectId} and key = k.key
          ${fence}
        ) r
        join messages m on m.project_id = ${ctx.projectId} and m.id = r.message_id`,
  )

/** Stores messages that requests ask for. `cause` is unique because it contains the id; repetitions were found by their key. */
export const insertRequested = (ctx: InTx, messages: RequestedMessage[], priority: Priority = TRANSACTIONAL) =>
  ctx.db.run(
    sql`insert into messages (id, project_id, user_id, campaign_id, channel, cause, event, priority, state, reason, detail, due_at, expires_at,
                              created_at, settled_at, variant, resent_from, is_requested)
        overriding system value
        select i.id, ${ctx.projectId}, i.user_id, i.campaign_id, i.channel, 'campaign:' || i.campaign_id || ':request:' || i.id,
               case when i.state = 'queued' then i.event end, ${priority}, i.state, i.reason, i.detail, i.due_at, i.expires_at, ${ctx.clock.now()},
               case when i.state <> 'queued' then ${ctx.clock.now()}::timestamptz end, i.variant, i.resent_from, coalesce(i.is_requested, true)
        from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb)
             as i(id bigint, user_id bigint, campaign_id bigint, channel text, event jsonb, state text, reason text, detail text, due_at timestamptz,
                  expires_at timestamptz, variant smallint, resent_from bigint, is_requested boolean)
        order by i.id`,
  )

/** Deletes the redacted values of messages that ended when they were made. A trigger deletes those of others when they end. */
export const deleteSealed = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.run(
    sql`update message_requests set sealed = null
        where project_id = ${ctx.projectId} and message_id = any(${ids}::bigint[]) and sealed is not null`,
  )

/** Content by its hashes. */
export const findContents = (ctx: ProjectCtx, channel: Channel, hashes: string[]) =>
  ctx.db.many(
    MessageContent,
    sql`select id, hash, locale, data, compiled, created_at from message_contents
        where project_id = ${ctx.projectId} and channel = ${channel} and hash = any(${hashes}::text[])`,
  )

/** Stores content, unless it is stored. */
export const insertContent = (
  ctx: ProjectCtx,
  channel: Channel,
  { hash, locale, data, compiled }: Omit<MessageContent, 'id' | 'created_at'>,
) =>
  ctx.db.run(
    sql`insert into message_contents (project_id, channel, hash, locale, data, compiled, created_at)
        values (${ctx.projectId}, ${channel}, ${hash}, ${locale}, ${JSON.stringify(data)}::jsonb, ${JSON.stringify(compiled)}::jsonb, ${ctx.clock.now()})
        on conflict (project_id, channel, hash) do nothing`,
  )

const MessageRequestRow = Type.Object({
  message_id: IdOf<MessageId>(),
  locale: Nullable(Type.String()),
  redact: Type.Array(Type.String()),
  sealed: Nullable(Type.String()),
  headers: Nullable(Type.Unsafe<Record<string, string>>({ type: 'object' })),
  attachments: Type.Integer(),
  attachment_bytes: Type.Integer(),
  content_id: Nullable(IdOf<number>()),
})

/** What the requests of these messages contained. */
export const requestsOf = (ctx: ProjectCtx, ids: MessageId[]) => findRequests(ctx, ctx.projectId, ids)

const findRequests = jointMany(
  MessageRequestRow,
  (_, calls: JointCall<MessageId[]>[]) =>
    sql`select q.call, r.*
        from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
        cross join lateral (
          select message_id, locale, redact, sealed, headers, attachments, attachment_bytes, content_id from message_requests
          where project_id = q.project_id and message_id = any(q.ids)
          ${fence}
        ) r`,
)

/** Content by its ids. */
export const contentsById = (ctx: ProjectCtx, ids: number[]) => findContentsById(ctx, ctx.projectId, ids)

const findContentsById = jointMany(
  MessageContent,
  (_, calls: JointCall<number[]>[]) =>
    sql`select q.call, c.*
        from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
        cross join lateral (
          select id, hash, locale, data, compiled, created_at from message_contents
          where project_id = q.project_id and id = any(q.ids)
          ${fence}
        ) c`,
)

const ContentRow = Type.Object({ id: IdOf<number>() })

/** Locks content that messages are about to have, so that it is not deleted. Returns what is there, always locked in the same order. */
export const holdContents = (ctx: InTx, ids: number[]) =>
  ctx.db.many(
    ContentRow,
    sql`select id from message_contents
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])
        order by id
        for key share`,
  )

const isUnused = sql`not exists (select from message_requests r where r.project_id = c.project_id and r.content_id = c.id)`

/** Locks content that no message has, once all who hold it have committed. Returns it. */
export const lockUnusedContents = (ctx: InTx, ids: number[]) =>
  ctx.db.many(
    ContentRow,
    sql`select c.id from message_contents c
        where c.project_id = ${ctx.projectId} and c.id = any(${ids}::bigint[]) and ${isUnused}
        order by c.id
        for update of c`,
  )

/** Deletes locked content, except what messages have by now. */
export const deleteUnusedContents = (ctx: InTx, ids: number[]) =>
  ctx.db.run(sql`delete from message_contents c where c.project_id = ${ctx.projectId} and c.id = any(${ids}::bigint[]) and ${isUnused}`)

const ErasedRow = Type.Object({ content_id: Nullable(IdOf<number>()) })

/**
 * Deletes what the requests of messages of erased users contained. Returns their content. The key of a request and who sent it are kept, so
 * that a repetition sends nothing.
 */
export const eraseRequests = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.many(
    ErasedRow,
    sql`update message_requests r
        set content_id = null, sealed = null, redact = '{}', locale = null, headers = null
        from messages m, message_requests before
        where m.project_id = ${ctx.projectId} and m.user_id = any(${userIds}::bigint[]) and m.is_requested
          and r.project_id = m.project_id and r.message_id = m.id and before.project_id = r.project_id and before.message_id = r.message_id
        returning before.content_id`,
  )
