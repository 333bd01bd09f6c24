import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, MemberCtx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId, PasskeyId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import type { Holder } from './second-factor.queries.ts'

const PasskeyRow = Type.Object({ id: IdOf<PasskeyId>(), name: Type.String(), created_at: Instant, used_at: Nullable(Instant) })
export type PasskeyRow = Static<typeof PasskeyRow>

const columns = sql`id, name, created_at, used_at`

/** The passkeys of the member, the oldest first. */
export const listPasskeys = (ctx: MemberCtx) =>
  ctx.db.many(
    PasskeyRow,
    sql`select ${columns} from member_passkeys
        where organization_id = ${ctx.organisationId} and member_id = ${ctx.memberId}
        order by id`,
  )

const CredentialRow = Type.Object({ credential_id: Type.String(), transports: Type.Array(Type.String()) })

/** The credentials of the member, as browsers name them. */
export const listCredentials = (ctx: MemberCtx) =>
  ctx.db.many(
    CredentialRow,
    sql`select credential_id, transports from member_passkeys
        where organization_id = ${ctx.organisationId} and member_id = ${ctx.memberId}`,
  )

export const hasPasskey = (ctx: Ctx, { id, organization_id }: Holder): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select from member_passkeys where organization_id = ${organization_id} and member_id = ${id}) as exists`,
  )

const Handle = Type.Object({ passkey_handle: Type.String() })

/** Gives the member this handle if they have none, and returns the handle that they have. */
export const giveHandle = async (ctx: MemberCtx, handle: string): Promise<string> =>
  (
    await ctx.db.one(
      Handle,
      sql`update members set passkey_handle = coalesce(passkey_handle, ${handle})
          where organization_id = ${ctx.organisationId} and id = ${ctx.memberId}
          returning passkey_handle`,
    )
  ).passkey_handle

export type NewPasskey = { credentialId: string; publicKey: string; signCount: number; transports: string[]; name: string }

/** Undefined if any member already has this credential. */
export const insertPasskey = (
  ctx: InTx<Ctx>,
  { id, organization_id }: Holder,
  { credentialId, publicKey, signCount, transports, name }: NewPasskey,
) =>
  ctx.db.first(
    PasskeyRow,
    sql`insert into member_passkeys (member_id, organization_id, credential_id, public_key, sign_count, transports, name, created_at)
        values (${id}, ${organization_id}, ${credentialId}, ${publicKey}, ${signCount}, ${transports}::text[], ${name}, ${ctx.clock.now()})
        on conflict (credential_id) do nothing
        returning ${columns}`,
  )

const KnownPasskey = Type.Object({
  id: IdOf<PasskeyId>(),
  member_id: IdOf<MemberId>(),
  organization_id: IdOf<OrganisationId>(),
  public_key: Type.String(),
  sign_count: Type.Integer(),
  passkey_handle: Nullable(Type.String()),
})
export type KnownPasskey = Static<typeof KnownPasskey>

/** The passkey with a credential, of a member who was not removed. */
export const findPasskey = (ctx: Ctx, credentialId: string) =>
  ctx.db.first(
    KnownPasskey,
    sql`select p.id, p.member_id, p.organization_id, p.public_key, p.sign_count, m.passkey_handle
        from member_passkeys p
        join members m on m.id = p.member_id and m.removed_at is null
        where p.credential_id = ${credentialId}`,
  )

/** Notes a use with the count that the authenticator sent. 0 if another use was noted meanwhile with the same count or a higher one. */
export const notePasskeyUse = (ctx: Ctx, { id, organization_id }: KnownPasskey, signCount: number) =>
  ctx.db.run(
    sql`update member_passkeys set sign_count = ${signCount}, used_at = ${ctx.clock.now()}
        where organization_id = ${organization_id} and id = ${id} and (sign_count < ${signCount} or (sign_count = 0 and ${signCount}::bigint = 0))`,
  )

export const deletePasskey = (ctx: InTx<Ctx>, { id: memberId, organization_id }: Holder, id: PasskeyId) =>
  ctx.db.first(
    PasskeyRow,
    sql`delete from member_passkeys
        where organization_id = ${organization_id} and member_id = ${memberId} and id = ${id}
        returning ${columns}`,
  )

export const deletePasskeys = (ctx: Ctx, { id, organization_id }: Holder) =>
  ctx.db.run(sql`delete from member_passkeys where organization_id = ${organization_id} and member_id = ${id}`)

export const insertChallenge = (ctx: Ctx, challengeHash: string, memberId: MemberId | null, expiresAt: Date) =>
  ctx.db.run(
    sql`insert into member_challenges (challenge_hash, member_id, expires_at) values (${challengeHash}, ${memberId}, ${expiresAt})`,
  )

/** Uses a challenge of a member, or of a sign-in. 0 if it was used, has expired, or is of another member. */
export const useChallenge = (ctx: Ctx, challengeHash: string, memberId: MemberId | null) =>
  ctx.db.run(
    sql`delete from member_challenges
        where challenge_hash = ${challengeHash} and member_id is not distinct from ${memberId} and expires_at > ${ctx.clock.now()}`,
  )

const PURGE_BATCH = 10_000

/** Deletes challenges that expired without an answer. Returns how many. */
export const purgeChallenges = (ctx: Ctx): Promise<number> =>
  ctx.db.run(
    sql`delete from member_challenges
        where challenge_hash in (select challenge_hash from member_challenges where expires_at <= ${ctx.clock.now()} limit ${PURGE_BATCH})`,
  )
