import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { type InboxMessage, InboxRow, type ReadState, type Status } from './schema.ts'

/** The members of an inbox message; `m` is the table. */
export const columns = sql`m.id, m.campaign_id,
  coalesce(m.content->>'type', 'inbox') as type, coalesce(m.content->>'title', '') as title, coalesce(m.content->>'body', '') as body,
  m.content->>'html' as html, m.content->>'image' as image, m.content->>'action_url' as action_url,
  m.created_at, m.expires_at, m.seen_at, m.read_at, m.clicked_at, m.archived_at`

/** The condition that an inbox message has not expired. */
export const isThere = (ctx: Ctx) => sql`coalesce(m.expires_at > ${ctx.clock.now()}, true)`

export const inboxListing = listing({
  resource: 'inbox-messages',
  sorts: { created_at: { column: sql`m.created_at`, type: 'timestamptz' } },
  defaultSort: 'created_at',
  defaultDirection: 'desc',
  id: sql`m.id`,
  search: [sql`(m.content->>'title')`, sql`(m.content->>'body')`],
  searchedFields: 'title, body',
})

const ContentRow = Type.Object({ content: Type.Unsafe<Record<string, unknown>>({ type: 'object' }) })

/** The content of a message that is in an inbox. */
export const findInboxContent = (ctx: ProjectCtx, id: MessageId) =>
  ctx.db.first(ContentRow, sql`select content from inbox_messages where project_id = ${ctx.projectId} and id = ${id}`)

const OF_STATUS: Record<Status, Sql> = {
  unread: sql`m.read_at is null and m.archived_at is null`,
  read: sql`m.read_at is not null and m.archived_at is null`,
  archived: sql`m.archived_at is not null`,
  all: sql`true`,
}

/** A page of an inbox; without a status, all messages that are not archived. */
export const listMessages = (
  ctx: ProjectCtx,
  userId: UserId,
  status: Status | undefined,
  page: PageRequest,
): Promise<PageOf<InboxMessage>> =>
  pageOf(ctx, InboxRow, inboxListing, page, {
    select: columns,
    from: sql`inbox_messages m`,
    where: sql`m.project_id = ${ctx.projectId} and m.user_id = ${userId} and ${isThere(ctx)}
                 and ${status === undefined ? sql`m.archived_at is null` : OF_STATUS[status]}`,
  })

/** The number of unread messages by the counter `c`, less those that have expired and are not deleted yet. */
export const unreadOf = (ctx: Ctx) =>
  sql`(c.unread - (select count(*) from inbox_messages m
                   where m.project_id = c.project_id and m.user_id = c.user_id and m.read_at is null and m.archived_at is null
                     and m.expires_at <= ${ctx.clock.now()}))::integer as unread`

/** The number of unread messages of a user; 0 without a counter. */
export const countUnread = (ctx: ProjectCtx, userId: UserId): Promise<number> =>
  ctx.db.value(
    Type.Integer(),
    sql`select coalesce((select ${unreadOf(ctx)} from inbox_counters c where c.project_id = ${ctx.projectId} and c.user_id = ${userId}), 0)`,
  )

const Counter = Type.Object({ seq: Type.Integer(), unread: Type.Integer() })

/** The number of the latest change of an inbox, and of unread messages. */
export const findCounter = (ctx: ProjectCtx, userId: UserId) =>
  ctx.db.first(
    Counter,
    sql`select c.seq, ${unreadOf(ctx)} from inbox_counters c where c.project_id = ${ctx.projectId} and c.user_id = ${userId}`,
  )

/** Makes sure that a user with a stream has a counter: when it disappears, the user was merged or erased. */
export const makeCounter = (ctx: ProjectCtx, userId: UserId) =>
  ctx.db.first(
    Counter,
    sql`insert into inbox_counters as c (project_id, user_id, seq, unread) values (${ctx.projectId}, ${userId}, 0, 0)
        on conflict (project_id, user_id) do update set seq = c.seq
        returning c.seq, c.unread`,
  )

const UserRow = Type.Object({ user_id: IdOf<UserId>() })

/** Locks the inboxes of these users until the transaction ends. Users without a counter have no messages and are not returned. */
export const lockCounters = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.many(
    UserRow,
    sql`select user_id from inbox_counters
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])
        order by user_id
        for update`,
  )

/** The users with a counter among these. */
export const withCounters = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.many(UserRow, sql`select user_id from inbox_counters where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`)

/** Locks the inboxes of these users, and creates missing counters. */
export const lockOrMakeCounters = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(
    sql`insert into inbox_counters as c (project_id, user_id, seq, unread)
        select ${ctx.projectId}, u.id, 0, 0
        from (select distinct id from unnest(${userIds}::bigint[]) as u(id)) u
        order by u.id
        on conflict (project_id, user_id) do update set seq = c.seq`,
  )

export type StoredMessage = {
  id: MessageId
  user_id: UserId
  campaign_id: number
  content: Record<string, unknown>
  expires_at: string | null
}

/** Adds messages to inboxes, except those that exist, and counts them. Fails when another transaction adds the same ones. */
export const insertMessages = (ctx: InTx, messages: StoredMessage[]) =>
  ctx.db.run(
    sql`with fresh as (
          select c.id, c.user_id, c.campaign_id, c.content, c.expires_at, row_number() over (partition by c.user_id order by c.id) as rank
          from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb)
               as c(id bigint, user_id bigint, campaign_id bigint, content jsonb, expires_at timestamptz)
          where not exists (select 1 from inbox_messages m where m.project_id = ${ctx.projectId} and m.id = c.id)
        ), counted as (
          insert into inbox_counters as c (project_id, user_id, seq, unread)
          select ${ctx.projectId}, f.user_id, count(*), count(*)::integer from fresh f group by f.user_id order by f.user_id
          on conflict (project_id, user_id) do update set seq = c.seq + excluded.seq, unread = c.unread + excluded.unread
          returning c.user_id, c.seq
        ), many as (
          select f.user_id, count(*) as messages from fresh f group by f.user_id
        )
        insert into inbox_messages (id, project_id, user_id, campaign_id, content, created_at, expires_at, seq)
        select f.id, ${ctx.projectId}, f.user_id, f.campaign_id, f.content, ${ctx.clock.now()}, f.expires_at, counted.seq - many.messages + f.rank
        from fresh f
        join counted on counted.user_id = f.user_id
        join many on many.user_id = f.user_id`,
  )

/** A message of a user that has not expired. */
export const findMessage = (ctx: ProjectCtx, userId: UserId, id: MessageId) =>
  ctx.db.first(
    InboxRow,
    sql`select ${columns} from inbox_messages m
        where m.project_id = ${ctx.projectId} and m.id = ${id} and m.user_id = ${userId} and ${isThere(ctx)}`,
  )

/** Saves the read state of a message; the counter of its user must be locked. */
export const saveReadState = (
  ctx: InTx,
  userId: UserId,
  id: MessageId,
  { seen_at, read_at, clicked_at, archived_at }: ReadState,
  unread: number,
) =>
  ctx.db.run(
    sql`with counted as (
          update inbox_counters set seq = seq + 1, unread = unread + ${unread}::integer
          where project_id = ${ctx.projectId} and user_id = ${userId}
          returning seq
        )
        update inbox_messages m
        set seen_at = ${seen_at}, read_at = ${read_at}, clicked_at = ${clicked_at}, archived_at = ${archived_at}, seq = counted.seq
        from counted
        where m.project_id = ${ctx.projectId} and m.id = ${id}`,
  )

const ReadRow = Type.Object({ id: IdOf<MessageId>(), is_first: Type.Boolean() })

/** Marks all unread messages of a user as read. Returns which of them had not been seen; the counter must be locked. */
export const readEverything = (ctx: InTx, userId: UserId) =>
  ctx.db.many(
    ReadRow,
    sql`with unread as (
          select m.id, m.seen_at is null as is_first, row_number() over (order by m.seq) as rank
          from inbox_messages m
          where m.project_id = ${ctx.projectId} and m.user_id = ${userId} and m.read_at is null and m.archived_at is null and ${isThere(ctx)}
        ), counted as (
          update inbox_counters c
          set seq = c.seq + u.messages, unread = c.unread - u.messages
          from (select count(*)::integer as messages from unread) u
          where c.project_id = ${ctx.projectId} and c.user_id = ${userId} and u.messages > 0
          returning c.seq - u.messages as seq
        )
        update inbox_messages m
        set read_at = ${ctx.clock.now()}, seen_at = coalesce(m.seen_at, ${ctx.clock.now()}), seq = counted.seq + unread.rank
        from unread, counted
        where m.project_id = ${ctx.projectId} and m.id = unread.id
        returning m.id, unread.is_first`,
  )

export type Merge = { from_id: UserId; into_id: UserId }

/**
 * Moves the inboxes of merged users to the users they were merged into; all counters must be locked, and those of the remaining users
 * exist. Every message takes a new number after all earlier ones, so that no stream misses a change. The counters of merged users are
 * deleted.
 */
export const mergeMessages = (ctx: InTx, merges: Merge[]) =>
  ctx.db.run(
    sql`with pairs as (
          select p.from_id, p.into_id
          from unnest(${merges.map(({ from_id }) => from_id)}::bigint[], ${merges.map(({ into_id }) => into_id)}::bigint[]) as p(from_id, into_id)
        ), merged_users as (
          select p.into_id, p.from_id as user_id from pairs p
          union
          select p.into_id, p.into_id from pairs p
        ), targets as (
          select p.into_id, max(c.seq) as seq, sum(c.unread) as unread, bool_or(c.seq > 0 and c.user_id <> p.into_id) as inherits
          from merged_users p
          join inbox_counters c on c.project_id = ${ctx.projectId} and c.user_id = p.user_id
          group by p.into_id
        ), numbered as (
          select m.id, h.into_id, h.seq + row_number() over (partition by h.into_id order by m.created_at, m.id) as seq
          from targets h
          join merged_users p on p.into_id = h.into_id
          join inbox_messages m on m.project_id = ${ctx.projectId} and m.user_id = p.user_id
          where h.inherits
        ), moved as (
          update inbox_messages m set user_id = n.into_id, seq = n.seq from numbered n where m.project_id = ${ctx.projectId} and m.id = n.id
        ), gone as (
          delete from inbox_counters c using pairs p where c.project_id = ${ctx.projectId} and c.user_id = p.from_id
        )
        update inbox_counters c
        set seq = coalesce((select max(n.seq) from numbered n where n.into_id = h.into_id), h.seq), unread = h.unread
        from targets h
        where c.project_id = ${ctx.projectId} and c.user_id = h.into_id`,
  )

const Erased = Type.Object({ inbox_messages: Type.Integer(), inbox_counters: Type.Integer() })
export type Erased = Static<typeof Erased>

/** Deletes the inboxes of these users. Returns how many rows. */
export const erase = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.first(
    Erased,
    sql`with removed as (
          delete from inbox_messages where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) returning id
        ), counters as (
          delete from inbox_counters where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) returning user_id
        )
        select (select count(*) from removed) as inbox_messages, (select count(*) from counters) as inbox_counters`,
  )

const ExpiredRow = Type.Object({ id: IdOf<MessageId>(), project_id: IdOf<ProjectId>(), user_id: IdOf<UserId>() })

/** Expired messages of all projects. */
export const findExpired = (ctx: Ctx, limit: number) =>
  ctx.db.many(
    ExpiredRow,
    sql`select m.id, m.project_id, m.user_id from inbox_messages m where m.expires_at <= ${ctx.clock.now()} order by m.expires_at limit ${limit}`,
  )

const ExpiryRow = Type.Object({ expires_at: Nullable(Instant) })

/** When the next message expires. */
export const nextExpiryAt = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.first(ExpiryRow, sql`select expires_at from inbox_messages where expires_at is not null order by expires_at limit 1`))
    ?.expires_at ?? null

/** Like `lockCounters`, for users of several projects. */
export const lockAnyCounters = (ctx: InTx<Ctx>, projectIds: ProjectId[], userIds: UserId[]) =>
  ctx.db.many(
    UserRow,
    sql`select user_id from inbox_counters
        where project_id = any(${projectIds}::bigint[]) and user_id = any(${userIds}::bigint[])
        order by user_id
        for update`,
  )

/** Deletes messages of users whose counters are locked, and subtracts them from the counters. */
export const removeExpired = (ctx: InTx<Ctx>, projectIds: ProjectId[], ids: MessageId[], userIds: UserId[]) =>
  ctx.db.run(
    sql`with gone as (
          delete from inbox_messages m
          where m.project_id = any(${projectIds}::bigint[]) and m.id = any(${ids}::bigint[]) and m.user_id = any(${userIds}::bigint[])
          returning m.project_id, m.user_id, m.read_at is null and m.archived_at is null as was_unread
        ), counts as (
          select project_id, user_id, count(*) filter (where was_unread)::integer as unread from gone group by project_id, user_id
        )
        update inbox_counters c
        set seq = c.seq + 1, unread = c.unread - n.unread
        from counts n
        where c.project_id = n.project_id and c.user_id = n.user_id`,
  )
