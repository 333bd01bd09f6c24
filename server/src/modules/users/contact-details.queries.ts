import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'
import { isLive } from './queries.ts'

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
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${isLive}`,
  )

const OwnerRow = Type.Object({
  value: Type.String(),
  id: IdOf<UserId>(),
  external_id: Nullable(Type.String()),
  anonymous_id: Nullable(Type.String()),
})

const owned = sql`u.id, u.external_id, u.anonymous_id`

/** The users who have these email addresses, which are in lower case: at most two for each. */
export const ownersOfEmails = (ctx: ProjectCtx, emails: string[]) =>
  ctx.db.many(
    OwnerRow,
    sql`select e.value, o.*
        from unnest(${emails}::text[]) as e(value)
        cross join lateral (
          select ${owned} from users u
          where u.project_id = ${ctx.projectId} and lower(u.email) = e.value and u.email is not null and ${isLive}
          limit 2
        ) o`,
  )

/** The users who have these phone numbers: at most two for each. */
export const ownersOfPhones = (ctx: ProjectCtx, phones: string[]) =>
  ctx.db.many(
    OwnerRow,
    sql`select e.value, o.*
        from unnest(${phones}::text[]) as e(value)
        cross join lateral (
          select ${owned} from users u
          where u.project_id = ${ctx.projectId} and u.phone = e.value and ${isLive}
          limit 2
        ) o`,
  )
