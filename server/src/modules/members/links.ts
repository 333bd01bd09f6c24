/** Links that can be used once. Their token is in the fragment of the URL, which browsers do not send, so that no log has it. */
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { ApiError } from '../../lib/errors.ts'
import type { MemberId, OrganisationId } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'
import * as queries from './links.queries.ts'

export type LinkKind = queries.LinkRow['kind']

const TOKEN_BYTES = 32
const VALID_MS: Record<LinkKind, number> = { owner: 24 * HOUR_MS, invitation: 7 * 24 * HOUR_MS, password: HOUR_MS, operator: HOUR_MS }

/** The pages of the console that links lead to. */
const PAGES: Record<LinkKind, string> = {
  owner: '/sign-in',
  invitation: '/accept-invitation',
  password: '/reset-password',
  operator: '/reset-password',
}

/** Creates a link and returns its path. Links that have expired are deleted on the way. */
export async function createLink(ctx: Ctx, kind: LinkKind, organisationId: OrganisationId, memberId: MemberId | null): Promise<string> {
  await queries.deleteExpiredLinks(ctx)
  const token = ctx.secrets.random(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(ctx.clock.now().getTime() + VALID_MS[kind])
  await queries.insertLink(ctx, { tokenHash: sha256(token), kind, organisationId, memberId, expiresAt })
  return `${PAGES[kind]}#token=${token}`
}

const hashIn = (path: string): string => sha256(path.slice(path.indexOf('=') + 1))

/** Deletes the link of a lost password with this path. */
export const deleteLinkAt = (ctx: Ctx, path: string) => queries.deleteLink(ctx, ['password'], hashIn(path))

/** Whether a member can still join with the link with this path. */
export const isInvitation = (ctx: Ctx, path: string): Promise<boolean> => queries.hasLink(ctx, 'invitation', hashIn(path))

/** The links that set a password. */
export const PASSWORD_LINKS: readonly LinkKind[] = ['password', 'operator']

export const linkInvalid = () =>
  new ApiError('authentication_required', 'This link was used or has expired. Request a new one.', {
    reason: 'link_invalid',
    headers: { 'www-authenticate': 'Bearer realm="api"' },
  })

/** Uses up a link of one of these kinds. Throws 401, the same for a link that was used, has expired or never existed. */
export async function useLink(ctx: InTx<Ctx>, kinds: readonly LinkKind[], token: string): Promise<queries.LinkRow> {
  const link = await queries.deleteLink(ctx, kinds, sha256(token))
  if (!link || link.expires_at <= ctx.clock.now()) throw linkInvalid()
  return link
}
