import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { fence, type Sql, sql } from '../../infra/postgres/db.ts'
import { type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type Addressed, type AddressKind, addressKindOf } from '../../lib/channels.ts'
import type { ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { CHANNELS, type Channel, Count, IdOf, OneOf } from '../../lib/shapes.ts'
import { isLiveUser } from '../users/index.ts'
import {
  Consent,
  type SubscriptionChanges,
  type SubscriptionInput,
  type SubscriptionPair,
  SubscriptionRow,
  TypeWithState,
  UserSubscriptionRow,
} from './schema.ts'

const columns = sql`id, project_id, name, channel, is_public, default_state, is_transactional, requires_confirmation, description, created_at, updated_at`

export const subscriptionListing = listing({
  resource: 'subscriptions',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    channel: { column: sql`channel`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'asc',
  search: [sql`name`, sql`channel`],
  searchedFields: 'name, channel',
})

export const listSubscriptions = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<SubscriptionRow>> =>
  pageOf(ctx, SubscriptionRow, subscriptionListing, page, {
    select: columns,
    from: sql`subscriptions`,
    where: sql`project_id = ${ctx.projectId}`,
  })

/** A subscription type of this project. */
export const findSubscription = (ctx: ProjectCtx, id: SubscriptionId) =>
  ctx.db.first(SubscriptionRow, sql`select ${columns} from subscriptions where project_id = ${ctx.projectId} and id = ${id}`)

/** Subscription types of this project. None of them changes before the transaction ends. */
export const holdSubscriptions = (ctx: InTx, ids: SubscriptionId[]) =>
  ctx.db.many(
    SubscriptionRow,
    sql`select ${columns} from subscriptions where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) order by id for share`,
  )

/** A subscription type, locked to be changed. */
export const lockSubscription = (ctx: InTx, id: SubscriptionId) =>
  ctx.db.first(
    SubscriptionRow,
    sql`select ${columns} from subscriptions where project_id = ${ctx.projectId} and id = ${id} for no key update`,
  )

export const countSubscriptions = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from subscriptions where project_id = ${ctx.projectId}`)

/** Inserts types, except those whose name and channel exist; returns the inserted ones. */
export const insertSubscriptions = (ctx: Ctx, projectId: ProjectId, inputs: SubscriptionInput[]) =>
  ctx.db.many(
    SubscriptionRow,
    sql`insert into subscriptions (project_id, name, channel, is_public, default_state, is_transactional, requires_confirmation, description, created_at, updated_at)
        select ${projectId}, i.name, i.channel, coalesce(i.is_public, true), coalesce(i.default_state, 1), coalesce(i.is_transactional, false),
               coalesce(i.requires_confirmation, false), nullif(i.description, ''), ${ctx.clock.now()}, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(inputs)}::jsonb)
          as i(name text, channel text, is_public boolean, default_state smallint, is_transactional boolean, requires_confirmation boolean, description text)
        on conflict (project_id, name, channel) do nothing
        returning ${columns}`,
  )

/** Saves the given members; `updated_at` changes only when one of them differs. */
export const updateSubscription = (ctx: ProjectCtx, id: SubscriptionId, changes: SubscriptionChanges) =>
  ctx.db.first(
    SubscriptionRow,
    sql`update subscriptions s
        set name = n.name, is_public = n.is_public, default_state = n.default_state, is_transactional = n.is_transactional,
            requires_confirmation = n.requires_confirmation, description = n.description,
            updated_at = case when to_jsonb(s) @> ${JSON.stringify(changes)}::jsonb then s.updated_at else ${ctx.clock.now()} end
        from jsonb_populate_record(
          (select old from subscriptions old where old.project_id = ${ctx.projectId} and old.id = ${id}), ${JSON.stringify(changes)}::jsonb
        ) n
        where s.project_id = ${ctx.projectId} and s.id = ${id}
        returning s.id, s.project_id, s.name, s.channel, s.is_public, s.default_state, s.is_transactional, s.requires_confirmation, s.description,
                  s.created_at, s.updated_at`,
  )

export const userSubscriptionListing = listing({
  resource: 'user-subscriptions',
  sorts: {
    subscription_id: { column: sql`s.id`, type: 'bigint' },
    name: { column: sql`s.name`, type: 'text' },
    channel: { column: sql`s.channel`, type: 'text' },
    state: { column: sql`coalesce(u.state, s.default_state)`, type: 'integer' },
  },
  defaultSort: 'subscription_id',
  defaultDirection: 'asc',
  id: sql`s.id`,
  idName: 'subscription_id',
  search: [sql`s.name`, sql`s.channel`],
  searchedFields: 'name, channel',
})

/** Every subscription type with the state of a user. */
export const listUserSubscriptions = (
  ctx: ProjectCtx,
  userId: UserId,
  page: PageRequest,
  publicOnly: boolean,
): Promise<PageOf<UserSubscriptionRow>> =>
  pageOf(ctx, UserSubscriptionRow, userSubscriptionListing, page, {
    select: sql`s.id as subscription_id, coalesce(u.state, s.default_state) as state, s.name, s.channel, s.is_transactional`,
    from: sql`subscriptions s
        left join user_subscriptions u on u.subscription_id = s.id and u.user_id = ${userId} and u.project_id = ${ctx.projectId}`,
    where: sql`s.project_id = ${ctx.projectId} and (s.is_public or not ${publicOnly}::boolean)`,
  })

const KnownRow = Type.Object({
  id: IdOf<SubscriptionId>(),
  name: Type.String(),
  channel: OneOf(CHANNELS),
  is_transactional: Type.Boolean(),
})

/** The types of this project among these ids. */
export const knownSubscriptions = (ctx: ProjectCtx, ids: SubscriptionId[], publicOnly: boolean) =>
  ctx.db.many(
    KnownRow,
    sql`select id, name, channel, is_transactional from subscriptions
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and (is_public or not ${publicOnly}::boolean)`,
  )

/** The types of one channel. */
export const typesOfChannel = (ctx: ProjectCtx, channel: Channel) =>
  ctx.db.many(
    KnownRow,
    sql`select id, name, channel, is_transactional from subscriptions where project_id = ${ctx.projectId} and channel = ${channel} order by id`,
  )

/** The state of each pair of user and type. Types of other projects have no row. */
export const subscriptionStates = (ctx: ProjectCtx, pairs: SubscriptionPair[]) => statesOfPairs(ctx, ctx.projectId, pairs)

const statesOfPairs = jointMany(Consent, (_, calls: JointCall<SubscriptionPair[]>[]) => {
  const pairs = calls.flatMap(({ projectId, input }, call) => input.map((pair) => ({ call, projectId, ...pair })))
  return sql`select p.call, p.user_id, p.subscription_id, coalesce(u.state, s.default_state) as state, u.consent_id,
                    s.is_transactional, s.requires_confirmation
             from unnest(${pairs.map(({ call }) => call)}::int[], ${pairs.map(({ projectId }) => projectId)}::bigint[],
                         ${pairs.map(({ user_id }) => user_id)}::bigint[], ${pairs.map(({ subscription_id }) => subscription_id)}::bigint[])
                  as p(call, project_id, user_id, subscription_id)
             cross join lateral (
               select default_state, is_transactional, requires_confirmation from subscriptions
               where project_id = p.project_id and id = p.subscription_id ${fence}
             ) s
             left join lateral (
               select state, consent_id from user_subscriptions
               where project_id = p.project_id and user_id = p.user_id and subscription_id = p.subscription_id ${fence}
             ) u on true`
})

/** Every type with the state of one user; without one, with its default state. */
export const typesWithState = (ctx: ProjectCtx, userId: UserId | null) =>
  ctx.db.many(
    TypeWithState,
    sql`select s.id, s.name, s.channel, s.description, s.is_public, s.is_transactional, s.requires_confirmation,
               coalesce(u.state, s.default_state) as state
        from subscriptions s
        left join user_subscriptions u on u.subscription_id = s.id and u.user_id = ${userId} and u.project_id = ${ctx.projectId}
        where s.project_id = ${ctx.projectId}
        order by s.id`,
  )

const NotLeftRow = Type.Object({ user_id: IdOf<UserId>(), subscription_id: IdOf<SubscriptionId>() })

/** The types of a channel that each of these users has not left by a stored state, without transactional ones. */
export const typesNotLeft = (ctx: InTx, members: { user_id: UserId; channel: Channel }[]) =>
  ctx.db.many(
    NotLeftRow,
    sql`select m.user_id, s.id as subscription_id
        from jsonb_to_recordset(${JSON.stringify(members)}::jsonb) as m(user_id bigint, channel text)
        join subscriptions s on s.project_id = ${ctx.projectId} and s.channel = m.channel and not s.is_transactional
        left join lateral (
          select state from user_subscriptions
          where project_id = ${ctx.projectId} and user_id = m.user_id and subscription_id = s.id ${fence}
        ) u on true
        where u.state is distinct from 0`,
  )

const HeldRow = Type.Object({ id: IdOf<UserId>(), is_there: Type.Boolean() })

// `is_there` is a column, not a condition: with a condition, a planner that expects few live users would read the whole project.

/** Locks these users against being merged or erased until the transaction ends; `is_there` is false for those who were. */
export const lockUsers = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    HeldRow,
    sql`select u.id, ${isLiveUser} as is_there from users u
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[])
        order by u.id
        for key share`,
  )

const IdRow = Type.Object({ id: IdOf<UserId>() })

const ADDRESS_OF: Record<AddressKind, Sql> = { email: sql`lower(u.email collate "C")`, phone: sql`u.phone` }

/** Every user with a normalised address, without locks. As an array, so that the planner takes the index of addresses. */
export const usersWithAddress = (ctx: ProjectCtx, channel: Addressed, address: string) =>
  ctx.db.many(
    IdRow,
    sql`select u.id from users u where u.project_id = ${ctx.projectId} and ${ADDRESS_OF[addressKindOf(channel)]} = any(${[address]}::text[])`,
  )

/**
 * Locks every user with a phone number against being merged or erased until the transaction ends; `is_there` is false for those who were.
 */
export const lockByPhone = (ctx: InTx, phone: string) =>
  ctx.db.many(
    HeldRow,
    sql`select u.id, ${isLiveUser} as is_there from users u
        where u.project_id = ${ctx.projectId} and u.phone = any(${[phone]}::text[])
        order by u.id
        for key share`,
  )
