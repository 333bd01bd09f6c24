import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListVersionId } from '../../../lib/ids.ts'

const key = (ctx: InTx, id: ListVersionId) => sql`hashtextextended('parts of list version ' || ${id}::bigint, ${ctx.projectId})`

/** Waits for parts of earlier steps that may still be running, because the transaction of their step was lost. */
export const waitForParts = (ctx: InTx, id: ListVersionId) =>
  ctx.db.run(sql`select pg_advisory_lock(${key(ctx, id)}), pg_advisory_unlock(${key(ctx, id)})`)

/** Makes later steps wait until the end of this transaction. */
export const holdPart = (ctx: InTx, id: ListVersionId) => ctx.db.run(sql`select pg_advisory_xact_lock_shared(${key(ctx, id)})`)

const PartRow = Type.Object({ partition: Type.String(), after: Type.Integer(), until: Type.Integer() })

/** Users with an id above `after` and up to `until`; with the name of a partition of events, its pages from `after` up to, but not including, `until`. */
export type Part = Static<typeof PartRow>

export const notePart = (ctx: InTx, id: ListVersionId, { partition, after, until }: Part) =>
  ctx.db.run(
    sql`insert into list_build_parts (project_id, version_id, partition, after, until)
        values (${ctx.projectId}, ${id}, ${partition}, ${after}, ${until})`,
  )

export const takeParts = (ctx: InTx, id: ListVersionId) =>
  ctx.db.many(
    PartRow,
    sql`delete from list_build_parts where project_id = ${ctx.projectId} and version_id = ${id} returning partition, after, until`,
  )
