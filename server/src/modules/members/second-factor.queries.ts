import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId } from '../../lib/ids.ts'
import { Count, Instant, Nullable } from '../../lib/shapes.ts'

/** The member whose second factor is meant. */
export type Holder = { id: MemberId; organization_id: OrganisationId }

const TotpRow = Type.Object({ totp_secret: Nullable(Type.String()), totp_confirmed_at: Nullable(Instant) })

export const findTotp = (ctx: Ctx, { id, organization_id }: Holder) =>
  ctx.db.one(TotpRow, sql`select totp_secret, totp_confirmed_at from members where organization_id = ${organization_id} and id = ${id}`)

export const setTotp = (ctx: Ctx, { id, organization_id }: Holder, secret: string | null) =>
  ctx.db.run(
    sql`update members set totp_secret = ${secret}, totp_confirmed_at = null, totp_step = 0
        where organization_id = ${organization_id} and id = ${id}`,
  )

export const confirmTotp = (ctx: Ctx, { id, organization_id }: Holder) =>
  ctx.db.run(
    sql`update members set totp_confirmed_at = ${ctx.clock.now()}
        where organization_id = ${organization_id} and id = ${id} and totp_secret is not null and totp_confirmed_at is null`,
  )

/** Uses the code of a time step. 0 if it, or a later one, was used before. */
export const useStep = (ctx: Ctx, { id, organization_id }: Holder, step: number) =>
  ctx.db.run(sql`update members set totp_step = ${step} where organization_id = ${organization_id} and id = ${id} and totp_step < ${step}`)

/** Uses a recovery code. 0 if there is none. */
export const useRecoveryCode = (ctx: Ctx, { id, organization_id }: Holder, codeHash: string) =>
  ctx.db.run(
    sql`delete from member_recovery_codes
        where organization_id = ${organization_id} and member_id = ${id} and code_hash = ${codeHash}`,
  )

export const deleteRecoveryCodes = (ctx: Ctx, { id, organization_id }: Holder) =>
  ctx.db.run(sql`delete from member_recovery_codes where organization_id = ${organization_id} and member_id = ${id}`)

export const insertRecoveryCodes = (ctx: Ctx, { id, organization_id }: Holder, hashes: string[]) =>
  ctx.db.run(
    sql`insert into member_recovery_codes (organization_id, member_id, code_hash)
        select ${organization_id}, ${id}, h.hash from unnest(${hashes}::text[]) as h(hash)`,
  )

export const countRecoveryCodes = (ctx: Ctx, { id, organization_id }: Holder): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from member_recovery_codes where organization_id = ${organization_id} and member_id = ${id}`,
  )
