/** How long items that could not be applied are kept. */
import { Type } from 'typebox'
import { Instant } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import type { InTx } from '../runtime/ctx.ts'
import { type Store, store } from './retention.ts'

const OldParked = Type.Object({ id: Type.Integer(), created_at: Instant })
const IdRow = Type.Object({ id: Type.Integer() })

const nextParked = (ctx: InTx, after: number, limit: number) =>
  ctx.db.many(
    OldParked,
    sql`select id, parked_at as created_at from parked_items where project_id = ${ctx.projectId} and id > ${after} order by id limit ${limit}`,
  )

const deleteParked = (ctx: InTx, ids: number[]) =>
  ctx.db.many(IdRow, sql`delete from parked_items where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) returning id`)

/** Items that were parked long ago. */
export const parkedStore: Store = store({
  name: 'parked_items',
  column: 'parked_at',
  days: ({ PARKED_RETENTION_DAYS }) => PARKED_RETENTION_DAYS,
  nextRows: nextParked,
  remove: async (ctx, items) =>
    (
      await deleteParked(
        ctx,
        items.map(({ id }) => id),
      )
    ).map(({ id }) => id),
})
