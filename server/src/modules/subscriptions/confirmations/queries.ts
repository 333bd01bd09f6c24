import { Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import type { SubscriptionPair } from '../schema.ts'

const Confirmation = Type.Object({
  id: Type.Integer(),
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  requested_at: Instant,
})

const Unconfirmed = Type.Object({
  user_id: IdOf<UserId>(),
  subscription_id: IdOf<SubscriptionId>(),
  channel: OneOf(CHANNELS),
  email: Nullable(Type.String()),
  phone: Nullable(Type.String()),
})

/** Those of the pairs with state 1 of a type that requires a confirmation, with the channels of the types and the addresses of the users. */
export const unconfirmedAmong = (ctx: InTx, pairs: SubscriptionPair[]) =>
  ctx.db.many(
    Unconfirmed,
    sql`select u.user_id, u.subscription_id, s.channel, a.email, a.phone
        from unnest(${pairs.map((pair) => pair.user_id)}::bigint[], ${pairs.map((pair) => pair.subscription_id)}::bigint[])
             as p(user_id, subscription_id)
        join subscriptions s on s.id = p.subscription_id and s.project_id = ${ctx.projectId} and s.requires_confirmation
        join user_subscriptions u
          on u.user_id = p.user_id and u.subscription_id = p.subscription_id and u.project_id = ${ctx.projectId} and u.state = 1
        cross join lateral (select email, phone from users where project_id = ${ctx.projectId} and id = u.user_id ${fence}) a`,
  )

const Requested = Type.Object({ id: Type.Integer(), user_id: IdOf<UserId>(), subscription_id: IdOf<SubscriptionId>() })

/** A confirmation to request, with the hash of the address that it is about; null on channels without addresses. */
export type ConfirmationRequest = SubscriptionPair & { address_hash: string | null }

/** Inserts confirmation requests, except where there was one about the same address since `since`. Returns them. */
export const insertConfirmations = (ctx: InTx, requests: ConfirmationRequest[], since: Date) =>
  ctx.db.many(
    Requested,
    sql`with requested as (
          insert into confirmations (project_id, user_id, subscription_id, address_hash, requested_at)
          select ${ctx.projectId}, r.user_id, r.subscription_id, r.address_hash, ${ctx.clock.now()}
          from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as r(user_id bigint, subscription_id bigint, address_hash text)
          where not exists (
            select 1 from confirmations c
            where c.project_id = ${ctx.projectId} and c.user_id = r.user_id and c.subscription_id = r.subscription_id
              and c.requested_at > ${since} and coalesce(c.address_hash = r.address_hash, true)
          )
          returning id, user_id, subscription_id
        )
        select id, user_id, subscription_id from requested order by id`,
  )

/** A confirmation request. */
export const findConfirmation = (ctx: ProjectCtx, id: number) =>
  ctx.db.first(
    Confirmation,
    sql`select id, user_id, subscription_id, requested_at from confirmations where project_id = ${ctx.projectId} and id = ${id}`,
  )

const OldConfirmation = Type.Object({ id: Type.Integer(), created_at: Instant })

/** The next confirmation requests after an id. */
export const nextConfirmations = (ctx: InTx, after: number, limit: number) =>
  ctx.db.many(
    OldConfirmation,
    sql`select id, requested_at as created_at from confirmations
        where project_id = ${ctx.projectId} and id > ${after}
        order by id
        limit ${limit}`,
  )

const IdRow = Type.Object({ id: Type.Integer() })

/** Deletes confirmation requests. */
export const deleteConfirmations = (ctx: InTx, ids: number[]) =>
  ctx.db.many(IdRow, sql`delete from confirmations where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) returning id`)
