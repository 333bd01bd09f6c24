import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { IdOf, Nullable } from '../../../lib/shapes.ts'
import { columns, isThere, unreadOf } from '../queries.ts'
import { InboxRow, type StreamPosition } from '../schema.ts'

const positionsOf = (positions: StreamPosition[]) =>
  sql`unnest(${positions.map(({ projectId }) => projectId)}::bigint[], ${positions.map(({ userId }) => userId)}::bigint[],
             ${positions.map(({ position }) => position)}::bigint[]) as l(project_id, user_id, position)`

const ChangedRow = Type.Object({
  user_id: IdOf<UserId>(),
  position: Type.Integer(),
  seq: Nullable(Type.Integer()),
  unread: Nullable(Type.Integer()),
})
export type ChangedRow = Static<typeof ChangedRow>

/** The stream positions with changes after them. If `seq` is null, the user was merged or erased. */
export const findChanged = (ctx: Ctx, positions: StreamPosition[], limit: number) =>
  ctx.db.many(
    ChangedRow,
    sql`select l.user_id, l.position, c.seq, ${unreadOf(ctx)}
        from ${positionsOf(positions)}
        left join inbox_counters c
          on c.project_id = l.project_id and c.user_id = l.user_id and c.user_id = any(${positions.map(({ userId }) => userId)}::bigint[])
        where coalesce(c.seq > l.position, true)
        limit ${limit}`,
  )

const ChangeRow = Type.Object({ ...InboxRow.properties, user_id: IdOf<UserId>(), position: Type.Integer(), seq: Type.Integer() })
export type ChangeRow = Static<typeof ChangeRow>

/** The changed messages after each position, up to the number beside it and `limit` of them, in order. */
export const findChanges = (ctx: Ctx, positions: (StreamPosition & { upTo: number })[], limit: number) =>
  ctx.db.many(
    ChangeRow,
    sql`select l.user_id, l.position, message.*
        from unnest(${positions.map(({ projectId }) => projectId)}::bigint[], ${positions.map(({ userId }) => userId)}::bigint[],
                    ${positions.map(({ position }) => position)}::bigint[], ${positions.map(({ upTo }) => upTo)}::bigint[])
             as l(project_id, user_id, position, up_to)
        cross join lateral (
          select ${columns}, m.seq from inbox_messages m
          where m.project_id = l.project_id and m.user_id = l.user_id and m.seq > l.position and m.seq <= l.up_to and ${isThere(ctx)}
          order by m.seq
          limit ${limit}
        ) message
        order by l.user_id, l.position, message.seq`,
  )
