import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, MemberCtx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId, SessionId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'
import type { Holder } from './second-factor.queries.ts'

type NewRedirect = { stateHash: string; bindingHash: string; sealed: string; expiresAt: Date }

export const insertRedirect = (ctx: Ctx, { stateHash, bindingHash, sealed, expiresAt }: NewRedirect) =>
  ctx.db.run(
    sql`insert into sign_in_redirects (state_hash, binding_hash, sealed, expires_at)
        values (${stateHash}, ${bindingHash}, ${sealed}, ${expiresAt})`,
  )

const Redirect = Type.Object({ sealed: Type.String() })

/** Deletes and returns a sign-in that has begun, so that no other answer with the same state can use it. */
export const useRedirect = (ctx: Ctx, stateHash: string, bindingHash: string) =>
  ctx.db.first(
    Redirect,
    sql`delete from sign_in_redirects
        where state_hash = ${stateHash} and binding_hash = ${bindingHash} and expires_at > ${ctx.clock.now()}
        returning sealed`,
  )

const PURGE_BATCH = 10_000

/** Deletes sign-ins that expired before the browser came back from the provider. Returns how many. */
export const purgeRedirects = (ctx: Ctx): Promise<number> =>
  ctx.db.run(
    sql`delete from sign_in_redirects
        where state_hash in (select state_hash from sign_in_redirects where expires_at <= ${ctx.clock.now()} limit ${PURGE_BATCH})`,
  )

export type Identity = { issuer: string; subject: string }

const IdentityRow = Type.Object({ member_id: IdOf<MemberId>(), organization_id: IdOf<OrganisationId>() })
export type IdentityRow = Static<typeof IdentityRow>

/** Notes the use of an identity, and returns its member. Undefined when the identity is new. */
export const useIdentity = (ctx: Ctx, { issuer, subject }: Identity) =>
  ctx.db.first(
    IdentityRow,
    sql`update member_identities set used_at = ${ctx.clock.now()}
        where issuer = ${issuer} and subject = ${subject}
        returning member_id, organization_id`,
  )

/** Links a member to an identity. 0 if the member already has an identity of the issuer, or if the identity is already linked. */
export const insertIdentity = (ctx: InTx<Ctx>, { id, organization_id }: Holder, { issuer, subject }: Identity) =>
  ctx.db.run(
    sql`insert into member_identities (issuer, subject, member_id, organization_id, created_at, used_at)
        values (${issuer}, ${subject}, ${id}, ${organization_id}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict do nothing`,
  )

const IssuerRow = Type.Object({ issuer: Type.String() })

/** The providers that have named the member. */
export const issuersOf = async (ctx: Ctx, { id, organization_id }: Holder): Promise<string[]> =>
  (
    await ctx.db.many(IssuerRow, sql`select issuer from member_identities where organization_id = ${organization_id} and member_id = ${id}`)
  ).map(({ issuer }) => issuer)

export const deleteIdentities = (ctx: Ctx, { id, organization_id }: Holder) =>
  ctx.db.run(sql`delete from member_identities where organization_id = ${organization_id} and member_id = ${id}`)

/** Notes that the member has joined, if they have not accepted their invitation yet. */
export const noteJoined = (ctx: InTx<Ctx>, { id, organization_id }: Holder) =>
  ctx.db.run(
    sql`update members set joined_at = ${ctx.clock.now()}, updated_at = ${ctx.clock.now()}
        where organization_id = ${organization_id} and id = ${id} and joined_at is null`,
  )

export const keepIdToken = (ctx: Ctx, organisationId: OrganisationId, id: SessionId, idToken: string) =>
  ctx.db.run(sql`update member_sessions set id_token = ${idToken} where organization_id = ${organisationId} and id = ${id}`)

const Token = Type.Object({ id_token: Nullable(Type.String()) })

/** The ID token with which the session of a request began, encrypted. */
export const findIdToken = async (ctx: MemberCtx): Promise<string | null> =>
  (
    await ctx.db.first(
      Token,
      sql`select id_token from member_sessions where organization_id = ${ctx.organisationId} and id = ${ctx.sessionId}`,
    )
  )?.id_token ?? null
