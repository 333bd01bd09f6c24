import { type Static, Type } from 'typebox'
import { fence, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ErasureId, ProjectId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { columns, isLiveRow } from './queries.ts'
import { ErasureRow, UserRow } from './schema.ts'

/**
 * Marks a live user as erased, which takes effect at once. The data is deleted in the background. Returns 0 if the user was merged or erased
 * meanwhile.
 */
export const requestErasure = (ctx: InTx, id: UserId) =>
  ctx.db.run(
    sql`update users u set erase_requested_at = ${ctx.clock.now()} where u.project_id = ${ctx.projectId} and u.id = ${id} and ${isLiveRow}`,
  )

/**
 * Deletes the anonymous ids and the searched text of locked users. It is a separate statement that runs after the one that locks them, such as
 * `requestErasure`: it must see the rows of the transactions that the lock waited for.
 */
export const unlinkUsers = (ctx: InTx, ids: UserId[]) =>
  ctx.db.run(
    sql`with aliases as (
          delete from user_anonymous_ids where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
        )
        delete from user_search where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])`,
  )

const Id = IdOf<ErasureId>()

/** Creates the receipt of an erasure, with what was removed at once. */
export const insertErasure = (ctx: InTx, userId: UserId, removed: Record<string, number>): Promise<ErasureId> =>
  ctx.db.value(
    Id,
    sql`insert into erasures (project_id, user_id, removed, requested_at)
        values (${ctx.projectId}, ${userId}, ${JSON.stringify(removed)}::jsonb, ${ctx.clock.now()})
        returning id`,
  )

/** The numbers of a receipt with further ones, under the same names or others. */
const sumWith = (removed: Record<string, number>) =>
  sql`removed || (select coalesce(jsonb_object_agg(key, value::bigint + coalesce((removed ->> key)::bigint, 0)), '{}')
                  from jsonb_each_text(${JSON.stringify(removed)}::jsonb))`

/** Adds what was removed of a user that is being erased to the receipts. */
export const addToReceipt = (ctx: InTx, userId: UserId, removed: Record<string, number>) =>
  ctx.db.run(
    sql`update erasures set removed = ${sumWith(removed)}
        where project_id = ${ctx.projectId} and user_id = ${userId} and state = 'requested'`,
  )

/** Completes the receipts of a user that is erased now. */
export const finishErasure = (ctx: InTx, userId: UserId, removed: Record<string, number>) =>
  ctx.db.run(
    sql`update erasures set state = 'finished', removed = ${sumWith(removed)}, finished_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and user_id = ${userId} and state = 'requested'`,
  )

export const findErasure = (ctx: ProjectCtx, id: ErasureId) =>
  ctx.db.first(
    ErasureRow,
    sql`select id, user_id, state, removed, requested_at, finished_at from erasures where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** The id of a user, and of the users merged into it. */
export const idsWithMerged = async (ctx: ProjectCtx, id: UserId): Promise<UserId[]> => {
  const rows = await ctx.db.many(
    IdRow,
    sql`select id from users where project_id = ${ctx.projectId} and (id = ${id} or merged_into = ${id}) order by id`,
  )
  return rows.map((row) => row.id)
}

const IdRow = Type.Object({ id: IdOf<UserId>() })

const ContactRow = Type.Object({ email: Nullable(Type.String()), phone: Nullable(Type.String()) })

/** The addresses of a user, and of the users merged into it. */
export const contactsWithMerged = (ctx: ProjectCtx, id: UserId) =>
  ctx.db.many(
    ContactRow,
    sql`select email, phone from users where project_id = ${ctx.projectId} and (id = ${id} or merged_into = ${id}) order by id`,
  )

type Contact = Static<typeof ContactRow>

/** Addresses without those that live users have. */
export const contactsWithoutOwner = (ctx: ProjectCtx, contacts: Contact[]): Promise<Contact[]> =>
  ctx.db.many(
    ContactRow,
    sql`select case when not exists (select from users u where u.project_id = ${ctx.projectId} and lower(u.email collate "C") = lower(c.email collate "C")
                                     and ${isLiveRow}) then c.email end as email,
               case when not exists (select from users u where u.project_id = ${ctx.projectId} and u.phone = c.phone and ${isLiveRow}) then c.phone end as phone
        from unnest(${contacts.map(({ email }) => email)}::text[], ${contacts.map(({ phone }) => phone)}::text[]) as c(email, phone)`,
  )

const Erasable = Type.Object({ id: IdOf<UserId>(), project_id: IdOf<ProjectId>(), erase_requested_at: Instant })

/**
 * For conditions of other modules: the ids of users whose data is still to be erased, and of those merged into them. Most of the time there are
 * none, which one look into a small index tells.
 */
export const idsToErase = (ctx: Pick<ProjectCtx, 'projectId'>) => sql`
  (with marked as materialized (
     select e.id from users e where e.project_id + 0 = ${ctx.projectId} and e.erase_requested_at is not null
   )
   select id from marked
   union all
   select m.id from marked cross join lateral (
     select id from users where project_id = ${ctx.projectId} and merged_into = marked.id ${fence}
   ) m)`

const ERASED_AT_ONCE = 20

/** Users to erase, oldest request first, but not these. */
export const findErasable = (ctx: Ctx, except: UserId[]) =>
  ctx.db.many(
    Erasable,
    sql`select id, project_id, erase_requested_at from users
        where erase_requested_at is not null and id <> all(${except}::bigint[])
        order by erase_requested_at, id
        limit ${ERASED_AT_ONCE}`,
  )

/** Live users by id; locked, always in the same order. */
export const lockLiveUsers = (ctx: InTx, ids: UserId[]): Promise<UserRow[]> =>
  ctx.db.many(
    UserRow,
    sql`select ${columns} from users u
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${isLiveRow}
        order by u.id
        for update of u`,
  )

const HeldRow = Type.Object({ id: IdOf<UserId>() })

/** The live users among these; none of them can be deleted until the transaction ends. */
export const keepLiveUsers = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    HeldRow,
    sql`select u.id from users u
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${isLiveRow}
        order by u.id
        for key share of u`,
  )

const MergedRow = Type.Object({ merged_into: IdOf<UserId>() })

/** The users among these that others were merged into. */
export const usersWithMerges = (ctx: ProjectCtx, ids: UserId[]) =>
  ctx.db.many(
    MergedRow,
    sql`select distinct merged_into from users where project_id = ${ctx.projectId} and merged_into = any(${ids}::bigint[])`,
  )

const ErasedRow = Type.Object({
  id: IdOf<UserId>(),
  external_id: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phone: Nullable(Type.String()),
})

/** The ids and addresses of a user, and of the users merged into it. */
export const namesWithMerged = (ctx: ProjectCtx, id: UserId) =>
  ctx.db.many(
    ErasedRow,
    sql`select id, external_id, email, phone from users where project_id = ${ctx.projectId} and (id = ${id} or merged_into = ${id}) order by id`,
  )

/** Deletes the rows of users, and of the users merged into them, in this module; returns their ids and addresses. */
export const eraseUsers = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    ErasedRow,
    sql`with deleted_devices as (
          delete from devices where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
        )
        delete from users where project_id = ${ctx.projectId} and (id = any(${ids}::bigint[]) or merged_into = any(${ids}::bigint[]))
        returning id, external_id, email, phone`,
  )
