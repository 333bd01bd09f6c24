import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'

const ContactRow = Type.Object({
  id: IdOf<UserId>(),
  external_id: Nullable(Type.String()),
  anonymous_id: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phone: Nullable(Type.String()),
  timezone: Nullable(Type.String()),
  has_push_device: Type.Boolean(),
})

/** How these people can be reached and where their clocks stand, without what else is known of them. Who is gone has no row. */
export const contactsOf = (ctx: ProjectCtx, ids: UserId[]) =>
  ctx.db.many(
    ContactRow,
    sql`select id, external_id, anonymous_id, email, phone, timezone, has_push_device
        from users
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and merged_into is null and erase_requested_at is null`,
  )
