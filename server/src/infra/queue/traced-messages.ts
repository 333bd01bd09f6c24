/** Which request a message came from, remembered only while traces are exported. */
import { Type } from 'typebox'
import type { MessageId, ProjectId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'

const KEPT_DAYS = 7
const PURGED_AT_ONCE = 10_000

const Traced = Type.Object({ message_id: IdOf<MessageId>(), request_id: Type.String() })

/** Remembers the requests of messages. */
export const rememberRequests = (ctx: InTx, traced: { id: MessageId; requestId: string }[]) =>
  ctx.db.run(
    sql`insert into traced_messages (project_id, message_id, request_id, created_at)
        select ${ctx.projectId}, t.message_id, t.request_id, ${ctx.clock.now()}
        from unnest(${traced.map(({ id }) => id)}::bigint[], ${traced.map(({ requestId }) => requestId)}::text[]) as t(message_id, request_id)
        on conflict do nothing`,
  )

/** The requests of messages. Messages that came from no request are not in the map. */
export async function requestsOf(ctx: Ctx, projectIds: ProjectId[], ids: MessageId[]): Promise<Map<MessageId, string>> {
  const rows = await ctx.db.many(
    Traced,
    sql`select message_id, request_id from traced_messages
        where project_id = any(${projectIds}::bigint[]) and message_id = any(${ids}::bigint[])`,
  )
  return new Map(rows.map(({ message_id, request_id }) => [message_id, request_id]))
}

/** Forgets the oldest. Messages that wait for longer in a journey or a schedule begin a trace of their own. */
export const purgeTraced = (ctx: Ctx): Promise<number> =>
  ctx.db.run(
    sql`delete from traced_messages
        where ctid = any(array(select ctid from traced_messages where created_at < ${new Date(ctx.clock.now().getTime() - KEPT_DAYS * DAY_MS)}
                               order by created_at limit ${PURGED_AT_ONCE}))`,
  )
