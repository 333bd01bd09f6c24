import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'

export const LinkRow = Type.Object({
  kind: Type.Unsafe<'owner' | 'invitation' | 'password' | 'operator'>({ type: 'string' }),
  organization_id: IdOf<OrganisationId>(),
  member_id: Nullable(IdOf<MemberId>()),
  expires_at: Instant,
})
export type LinkRow = Static<typeof LinkRow>

type NewLink = { tokenHash: string; kind: LinkRow['kind']; organisationId: OrganisationId; memberId: MemberId | null; expiresAt: Date }

export const insertLink = (ctx: Ctx, { tokenHash, kind, organisationId, memberId, expiresAt }: NewLink) =>
  ctx.db.run(
    sql`insert into member_links (token_hash, organization_id, kind, member_id, created_at, expires_at)
        values (${tokenHash}, ${organisationId}, ${kind}, ${memberId}, ${ctx.clock.now()}, ${expiresAt})`,
  )

/** Deletes and returns a link, so that only one of two requests with the same link gets it. */
export const deleteLink = (ctx: Ctx, kinds: readonly LinkRow['kind'][], tokenHash: string) =>
  ctx.db.first(
    LinkRow,
    sql`delete from member_links
        where token_hash = ${tokenHash} and kind = any(${kinds}::text[])
        returning kind, organization_id, member_id, expires_at`,
  )

/** Whether there is a link that has not expired. */
export const hasLink = (ctx: Ctx, kind: LinkRow['kind'], tokenHash: string): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select from member_links where token_hash = ${tokenHash} and kind = ${kind} and expires_at > ${ctx.clock.now()}) as exists`,
  )

export const deleteLinksOf = (ctx: Ctx, organisationId: OrganisationId, kinds: readonly LinkRow['kind'][], memberId: MemberId | null) =>
  ctx.db.run(
    sql`delete from member_links
        where organization_id = ${organisationId} and kind = any(${kinds}::text[]) and member_id is not distinct from ${memberId}`,
  )

/** Whether a member got a link for a lost password since a time. */
export const wasLinkedSince = (ctx: Ctx, organisationId: OrganisationId, memberId: MemberId, since: Date): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select from member_links
                       where organization_id = ${organisationId} and member_id = ${memberId} and kind = 'password' and created_at > ${since}) as exists`,
  )

export const deleteExpiredLinks = (ctx: Ctx) => ctx.db.run(sql`delete from member_links where expires_at <= ${ctx.clock.now()}`)
