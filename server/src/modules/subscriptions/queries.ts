import { Type } from 'typebox'
import type { Ctx, InTx, ProjectCtx } from '../../infra/ctx.ts'
import { sql } from '../../infra/db.ts'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/paging.ts'
import type { ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import {
  type SubscriptionChanges,
  type SubscriptionInput,
  type SubscriptionPair,
  SubscriptionRow,
  UserSubscription,
  type UserSubscriptionChanges,
} from './schema.ts'

const columns = sql`id, project_id, name, channel, is_public, created_at, updated_at`

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
  pageOf(
    ctx.db,
    SubscriptionRow,
    subscriptionListing,
    page,
    { select: columns, from: sql`subscriptions`, where: sql`project_id = ${ctx.projectId}` },
    ctx.config.LIST_ALL_MAX,
  )

/** A subscription type of this project; undefined when there is none with this id. */
export const findSubscription = (ctx: ProjectCtx, id: SubscriptionId) =>
  ctx.db.first(SubscriptionRow, sql`select ${columns} from subscriptions where project_id = ${ctx.projectId} and id = ${id}`)

const Count = Type.Object({ count: Type.Integer() })

export const countSubscriptions = async (ctx: ProjectCtx): Promise<number> =>
  (await ctx.db.first(Count, sql`select count(*) as count from subscriptions where project_id = ${ctx.projectId}`))?.count ?? 0

/** Inserts types; those whose name and channel are taken are left out of the answer. */
export const insertSubscriptions = (ctx: Ctx, projectId: ProjectId, inputs: SubscriptionInput[]) =>
  ctx.db.all(
    SubscriptionRow,
    sql`insert into subscriptions (project_id, name, channel, is_public, default_state, created_at, updated_at)
        select ${projectId}, i.name, i.channel, coalesce(i.is_public, true), coalesce(i.default_state, 1), ${ctx.clock.now()}, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(inputs)}::jsonb) as i(name text, channel text, is_public boolean, default_state smallint)
        on conflict (project_id, name, channel) do nothing
        returning ${columns}`,
  )

/** Members that are undefined keep their value; `updated_at` moves only when something changed. */
export const updateSubscription = (ctx: ProjectCtx, id: SubscriptionId, { name, is_public, default_state }: SubscriptionChanges) =>
  ctx.db.first(
    SubscriptionRow,
    sql`update subscriptions s
        set name = n.name, is_public = n.is_public, default_state = n.default_state,
            updated_at = case when (s.name, s.is_public, s.default_state) is distinct from (n.name, n.is_public, n.default_state)
                              then ${ctx.clock.now()} else s.updated_at end
        from (select coalesce(${name ?? null}, name) as name,
                     coalesce(${is_public ?? null}, is_public) as is_public,
                     coalesce(${default_state ?? null}, default_state) as default_state
              from subscriptions where project_id = ${ctx.projectId} and id = ${id}) n
        where s.project_id = ${ctx.projectId} and s.id = ${id}
        returning s.id, s.project_id, s.name, s.channel, s.is_public, s.created_at, s.updated_at`,
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

/** Every subscription type with where the user stands; only public ones when asked. */
export const listUserSubscriptions = (
  ctx: ProjectCtx,
  userId: UserId,
  page: PageRequest,
  publicOnly: boolean,
): Promise<PageOf<UserSubscription>> =>
  pageOf(
    ctx.db,
    UserSubscription,
    userSubscriptionListing,
    page,
    {
      select: sql`s.id as subscription_id, coalesce(u.state, s.default_state) as state, s.name, s.channel`,
      from: sql`subscriptions s
        left join user_subscriptions u on u.subscription_id = s.id and u.user_id = ${userId} and u.project_id = ${ctx.projectId}`,
      where: sql`s.project_id = ${ctx.projectId} and (s.is_public or not ${publicOnly}::boolean)`,
    },
    ctx.config.LIST_ALL_MAX,
  )

const IdRow = Type.Object({ id: IdOf<SubscriptionId>() })

/** Which of these ids are types of this project (and public, when asked). */
export const knownSubscriptions = (ctx: ProjectCtx, ids: SubscriptionId[], publicOnly: boolean) =>
  ctx.db.all(
    IdRow,
    sql`select id from subscriptions
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and (is_public or not ${publicOnly}::boolean)`,
  )

/** Stores states; each type at most once. */
export const saveStates = (ctx: InTx, userId: UserId, changes: UserSubscriptionChanges) =>
  ctx.db.run(
    sql`insert into user_subscriptions as u (project_id, user_id, subscription_id, state, updated_at)
        select ${ctx.projectId}, ${userId}, i.subscription_id, i.state, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as i(subscription_id bigint, state smallint)
        order by i.subscription_id
        on conflict (user_id, subscription_id) do update set state = excluded.state, updated_at = excluded.updated_at, source = null
        where u.state <> excluded.state`,
  )

const PairRow = Type.Object({ user_id: IdOf<UserId>(), subscription_id: IdOf<SubscriptionId>() })

/** Subscribes those people for whom no state is stored, and says who they are. `source` tells where they agreed to it. */
export const insertSubscribed = (ctx: InTx, userIds: UserId[], subscriptionIds: SubscriptionId[], source: string) =>
  ctx.db.all(
    PairRow,
    sql`insert into user_subscriptions (project_id, user_id, subscription_id, state, updated_at, source)
        select ${ctx.projectId}, u.id, s.id, 1, ${ctx.clock.now()}, ${source}
        from unnest(${userIds}::bigint[]) as u(id)
        cross join (select id from subscriptions where project_id = ${ctx.projectId} and id = any(${subscriptionIds}::bigint[])) s
        order by u.id, s.id
        on conflict (user_id, subscription_id) do nothing
        returning user_id, subscription_id`,
  )

const StateRow = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  state: UserSubscription.properties.state,
})

/** Where each person stands with the type named beside them; a type of another project has no row in the answer. */
export const subscriptionStates = (ctx: ProjectCtx, pairs: SubscriptionPair[]) =>
  ctx.db.all(
    StateRow,
    sql`select p.user_id, p.subscription_id, coalesce(u.state, s.default_state) as state
        from unnest(${pairs.map((pair) => pair.user_id)}::bigint[], ${pairs.map((pair) => pair.subscription_id)}::bigint[])
             as p(user_id, subscription_id)
        join subscriptions s on s.id = p.subscription_id and s.project_id = ${ctx.projectId}
        left join user_subscriptions u
          on u.user_id = p.user_id and u.subscription_id = p.subscription_id and u.project_id = ${ctx.projectId}`,
  )

/**
 * Moves states to the survivors of merges: the survivor's own wins, but an explicit 0 on either side stays 0 (D-USER-1).
 * Of several people merged into one, the most reluctant counts.
 */
export const mergeSubscriptions = (ctx: InTx, pairs: { from_id: UserId; into_id: UserId }[]) =>
  ctx.db.run(
    sql`with moved as (
          delete from user_subscriptions u
          using unnest(${pairs.map((pair) => pair.from_id)}::bigint[], ${pairs.map((pair) => pair.into_id)}::bigint[]) as m(from_id, into_id)
          where u.project_id = ${ctx.projectId} and u.user_id = m.from_id
          returning m.into_id, u.subscription_id, u.state, u.updated_at, u.source
        )
        insert into user_subscriptions as u (project_id, user_id, subscription_id, state, updated_at, source)
        select ${ctx.projectId}, into_id, subscription_id, min(state), max(updated_at), (array_agg(source order by state, updated_at desc))[1]
        from moved
        group by into_id, subscription_id
        order by into_id, subscription_id
        on conflict (user_id, subscription_id) do update set state = 0, updated_at = excluded.updated_at, source = excluded.source
        where excluded.state = 0 and u.state <> 0`,
  )

/** Removes every state of these people. */
export const eraseSubscriptions = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(sql`delete from user_subscriptions where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`)
