import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { IdOf, Nullable } from '../../../lib/shapes.ts'

/** The most devices of a user that a push message is sent to. */
const TARGETS_MAX = 20

const Target = Type.Object({ user_id: IdOf<UserId>(), device_id: Type.String(), os: Nullable(Type.String()), token: Type.String() })

/** The devices with a token of these users, latest seen first. */
export const pushDevicesOf = (ctx: ProjectCtx, userIds: UserId[]) =>
  ctx.db.many(
    Target,
    sql`select d.user_id, d.device_id, d.os, d.token
        from (select user_id, device_id, os, token, row_number() over (partition by user_id order by updated_at desc, id desc) as place
              from devices
              where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) and token is not null) d
        where d.place <= ${TARGETS_MAX}
        order by d.user_id, d.place`,
  )

const Owner = Type.Object({ user_id: IdOf<UserId>() })

/** Takes these tokens from their devices. Returns the users. */
export const clearTokens = (ctx: InTx, tokens: string[]) =>
  ctx.db.many(
    Owner,
    sql`with held as (
          select id from devices
          where project_id = ${ctx.projectId} and token = any(${tokens}::text[])
          order by id
          for update
        )
        update devices d
        set token = null, updated_at = ${ctx.clock.now()}
        where d.project_id = ${ctx.projectId} and d.id = any(array(select id from held))
        returning d.user_id`,
  )
