import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { Instant, Nullable } from '../../../lib/shapes.ts'

const OldMail = Type.Object({ id: Type.Integer(), created_at: Instant, completed_at: Nullable(Instant) })
export type OldMail = Static<typeof OldMail>

/** The next emails after an id. */
export const nextMails = (ctx: InTx, after: number, limit: number) =>
  ctx.db.many(
    OldMail,
    sql`select id, created_at, completed_at from mail_messages where project_id = ${ctx.projectId} and id > ${after} order by id limit ${limit}`,
  )

/** Deletes those of these emails that are completed, with their recipients and attempts. */
export const deleteMail = (ctx: InTx, ids: number[]) =>
  ctx.db.run(
    sql`with gone as (
          delete from mail_messages where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and completed_at is not null returning id
        )
        delete from mail_recipients where project_id = ${ctx.projectId} and mail_id in (select id from gone)`,
  )
