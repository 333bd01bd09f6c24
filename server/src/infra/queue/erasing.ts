/** What an erasure of a user needs of the queue of accepted requests. */
import { Type } from 'typebox'
import type { UserId } from '../../lib/ids.ts'
import { Nullable } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../runtime/ctx.ts'

/** Deletes the parked items of these users, by their ids and external ids. */
export const eraseParked = (ctx: InTx, users: { id: UserId; external_id: string | null }[]) => {
  const ids = users.map(({ id }) => String(id))
  const externalIds = users.flatMap(({ external_id }) => external_id ?? [])
  return ctx.db.run(
    sql`delete from parked_items
        where project_id = ${ctx.projectId}
          and (item ->> 'external_id' = any(${externalIds}::text[]) or item ->> 'user_id' = any(${ids}::text[]))`,
  )
}

/** Deletes the parked items with these anonymous ids that are not known to be about a user. */
export const eraseParkedAnonymous = (ctx: InTx, anonymousIds: string[]) =>
  ctx.db.run(
    sql`delete from parked_items
        where project_id = ${ctx.projectId}
          and hashtextextended(item ->> 'anonymous_id', 0) = any(array(select hashtextextended(a.id, 0) from unnest(${anonymousIds}::text[]) as a(id)))
          and item ->> 'anonymous_id' = any(${anonymousIds}::text[]) and item ->> 'user_id' is null`,
  )

const Position = Type.Integer()

/** The newest position that an entry can have by now. */
export const newestPosition = (ctx: InTx): Promise<number> =>
  ctx.db.value(
    Position,
    sql`select coalesce(pg_sequence_last_value(pg_get_serial_sequence('queue_entries', 'position')::regclass), 0) as position`,
  )

/** A separate position for work that is accepted now but is not in the queue: after all entries so far, and before later ones. */
export const takePosition = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Position, sql`select nextval(pg_get_serial_sequence('queue_entries', 'position')) as position`)

/** The position of the oldest entry of all projects; null without one. */
export const oldestPosition = (ctx: Ctx): Promise<number | null> =>
  ctx.db.value(Nullable(Position), sql`select (select position from queue_entries order by position limit 1) as position`)
