/** What the erasure and the export of a user need of the queue of accepted requests. */
import { type Static, Type } from 'typebox'
import type { UserId } from '../../lib/ids.ts'
import { Instant, Nullable } from '../../lib/shapes.ts'
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

const ParkedRow = Type.Object({
  id: Type.Integer(),
  kind: Type.String(),
  item: Type.Unknown(),
  reason: Type.String(),
  received_at: Instant,
  parked_at: Instant,
})

const PAGE_ROWS = 100

/** Names by which items tell their user: `u` the id of a row, `e` an external id, `a` an anonymous id. */
type Name = { kind: string; name: string }

/** The parked items of a user, page by page. An anonymous id counts only in an item without another id. */
export async function* parkedItemsOf(ctx: ProjectCtx, names: Name[]): AsyncGenerator<Static<typeof ParkedRow>[]> {
  const among = (kind: string) => names.flatMap((one) => (one.kind === kind ? [one.name] : []))
  let after = 0
  while (true) {
    const rows = await ctx.db.many(
      ParkedRow,
      sql`select id, kind, item, reason, received_at, parked_at from parked_items
          where project_id = ${ctx.projectId} and id > ${after}
            and (item ->> 'user_id' = any(${among('u')}::text[]) or item ->> 'external_id' = any(${among('e')}::text[])
                 or (item ->> 'user_id' is null and item ->> 'external_id' is null and item ->> 'anonymous_id' = any(${among('a')}::text[])))
          order by id
          limit ${PAGE_ROWS}`,
    )
    if (rows.length > 0) yield rows
    if (rows.length < PAGE_ROWS) return
    after = rows.at(-1)?.id ?? after
  }
}

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
