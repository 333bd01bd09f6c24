import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'
import { isLive, isLiveRow } from './queries.ts'

const ContactRow = Type.Object({
  id: IdOf<UserId>(),
  external_id: Nullable(Type.String()),
  anonymous_id: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phone: Nullable(Type.String()),
  timezone: Nullable(Type.String()),
  has_push_device: Type.Boolean(),
})

/** The addresses and time zones of the live users among these, without the rest of their profiles. */
export const contactsOf = (ctx: ProjectCtx, ids: UserId[]) =>
  ctx.db.many(
    ContactRow,
    sql`select u.id, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.has_push_device
        from users u
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${isLiveRow}`,
  )

const OwnerRow = Type.Object({
  value: Type.String(),
  owners: Type.Integer(),
  external_id: Nullable(Type.String()),
  anonymous_id: Nullable(Type.String()),
})

/**
 * The number of live owners of an address, and the ids of one of them. Each address is read by its key: they are aggregated one by one, and
 * the condition on live users is apart, because it would let another index seem as good.
 */
const owned = sql`count(*) filter (where ${isLive}) as owners, (array_agg(u.external_id) filter (where ${isLive}))[1] as external_id,
  (array_agg(u.anonymous_id) filter (where ${isLive}))[1] as anonymous_id`

/** Who has these email addresses, which are in lower case. */
export const ownersOfEmails = (ctx: ProjectCtx, emails: string[]) =>
  ctx.db.many(
    OwnerRow,
    sql`select a.value, o.*
        from unnest(${emails}::text[]) as a(value)
        cross join lateral (
          select ${owned} from users u
          where u.project_id = ${ctx.projectId} and lower(u.email collate "C") = a.value and u.email is not null
        ) o
        where o.owners > 0`,
  )

/** Who has these phone numbers. */
export const ownersOfPhones = (ctx: ProjectCtx, phones: string[]) =>
  ctx.db.many(
    OwnerRow,
    sql`select a.value, o.*
        from unnest(${phones}::text[]) as a(value)
        cross join lateral (
          select ${owned} from users u where u.project_id = ${ctx.projectId} and u.phone = a.value
        ) o
        where o.owners > 0`,
  )

const RECENT_USERS = 20_000

/** The newest live users with a phone number, among the newest of the project: looking further could read all of it. */
export const newestWithPhone = async (ctx: ProjectCtx, limit: number): Promise<UserId[]> => {
  const rows = await ctx.db.many(
    Type.Object({ id: IdOf<UserId>() }),
    sql`select id
        from (select u.id, u.phone from users u where u.project_id = ${ctx.projectId} and ${isLiveRow} order by u.id desc limit ${RECENT_USERS}) recent
        where phone is not null
        order by id desc
        limit ${limit}`,
  )
  return rows.map(({ id }) => id)
}
