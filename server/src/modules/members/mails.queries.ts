import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { databaseNow, databaseTime, ownTimeAt } from '../../infra/runtime/lease-time.ts'
import { Instant, Nullable } from '../../lib/shapes.ts'

const MailRow = Type.Object({ id: Type.Integer(), sealed: Type.String(), attempts: Type.Integer() })
export type MailRow = Static<typeof MailRow>

/** Queues an email. What is claimed is due at the end of its lease, so `due_at` is by the time of the database. */
export const insertMail = (ctx: Ctx, sealed: string) =>
  ctx.db.run(sql`insert into member_mails (sealed, due_at, created_at) values (${sealed}, ${databaseNow(ctx)}, ${ctx.clock.now()})`)

/** Claims an email that is due. If the process stops, it is due again at `again`. */
export const claimMail = (ctx: Ctx, again: Date) =>
  ctx.db.first(
    MailRow,
    sql`update member_mails set attempts = attempts + 1, due_at = ${databaseTime(ctx, again)}
        where id = (select id from member_mails where due_at <= ${databaseNow(ctx)} order by due_at limit 1 for update skip locked)
        returning id, sealed, attempts`,
  )

export const deleteMail = (ctx: Ctx, id: number) => ctx.db.run(sql`delete from member_mails where id = ${id}`)

export const changeMail = (ctx: Ctx, id: number, sealed: string) =>
  ctx.db.run(sql`update member_mails set sealed = ${sealed} where id = ${id}`)

export const delayMail = (ctx: Ctx, id: number, until: Date) =>
  ctx.db.run(sql`update member_mails set due_at = ${databaseTime(ctx, until)} where id = ${id}`)

const Next = Type.Object({ due_at: Nullable(Instant) })

/** When the next email is due. */
export const nextMailAt = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.one(Next, sql`select ${ownTimeAt(ctx, sql`min(due_at)`)} as due_at from member_mails`)).due_at
