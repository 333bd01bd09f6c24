/**
 * Sessions (D-CON-3): an opaque token of 256 bits, of which only the hash is stored. A session ends when it was not used for a while, and
 * at a limit that use does not move.
 */
import type { Browser, MemberSession, SessionToken } from '../../infra/http/route.ts'
import type { Ctx, MemberCtx } from '../../infra/runtime/ctx.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { unauthenticated } from '../../lib/credentials.ts'
import { ApiError } from '../../lib/errors.ts'
import type { MemberId, OrganisationId, SessionId } from '../../lib/ids.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/times.ts'
import type { SessionRow } from './schema.ts'
import * as queries from './sessions.queries.ts'
import type { ListedSession, SessionEnd } from './sessions.schema.ts'

const TOKEN_BYTES = 32
/** Uses are noted once in this time, because a page makes many requests. */
const NOTED_EVERY_MS = MINUTE_MS
/** Requests that were sent before a renewal reached the browser have the earlier token. */
const OVERLAP_MS = MINUTE_MS

const before = (ctx: Ctx, ms: number) => new Date(ctx.clock.now().getTime() - ms)
const after = (ctx: Ctx, ms: number) => new Date(ctx.clock.now().getTime() + ms)

/** A session that was last used before this has ended. */
const usedAfter = (ctx: Ctx): Date => before(ctx, ctx.config.CONSOLE_IDLE_H * HOUR_MS)

/** When a session ends if it is not used again. */
export const endOf = (ctx: Ctx, { used_at, expires_at }: { used_at: Date; expires_at: Date }): Date =>
  new Date(Math.min(expires_at.getTime(), used_at.getTime() + ctx.config.CONSOLE_IDLE_H * HOUR_MS))

const newToken = (ctx: Ctx): string => ctx.secrets.random(TOKEN_BYTES).toString('base64url')

/**
 * Begins a session of a member in a browser, and gives the browser its cookie. With the hash of a password that was checked, undefined if the password
 * was changed meanwhile.
 */
export async function beginSession(
  ctx: Ctx,
  { id: memberId, organization_id: organisationId }: { id: MemberId; organization_id: OrganisationId },
  { address, userAgent, setSession }: Browser,
  passwordHash: string | null,
): Promise<SessionId | undefined> {
  const token = newToken(ctx)
  const expiresAt = after(ctx, ctx.config.CONSOLE_SESSION_H * HOUR_MS)
  const session = { memberId, organisationId, tokenHash: sha256(token), address, userAgent, expiresAt }
  const made = await queries.insertSession(ctx, session, passwordHash)
  if (made) setSession({ token, expiresAt })
  return made?.id
}

/** Looks up a session. Throws 401, the same for a token that is unknown, has expired or was revoked. */
export async function sessionOf(ctx: Ctx, token: string): Promise<MemberSession> {
  const session = await findLive(ctx, token)
  const { id, organization_id: organisationId } = session
  if (session.used_at <= before(ctx, NOTED_EVERY_MS)) await queries.noteUse(ctx, organisationId, id, before(ctx, NOTED_EVERY_MS))
  const renewed = session.is_renewal_due ? await renew(ctx, session) : undefined
  return { ...memberOf(session), ...(renewed && { renewed }) }
}

/** Looks up a session for a request that is no use of it: it is neither renewed nor kept from ending. Throws 401. */
export const peekSession = async (ctx: Ctx, token: string): Promise<MemberSession> => memberOf(await findLive(ctx, token))

async function findLive(ctx: Ctx, token: string): Promise<SessionRow> {
  const session = await queries.findSession(ctx, sha256(token), usedAfter(ctx))
  if (!session) throw unauthenticated('session_invalid')
  return session
}

const memberOf = ({ id, member_id, organization_id, name, role }: SessionRow): MemberSession => ({
  sessionId: id,
  memberId: member_id,
  organisationId: organization_id,
  name,
  role,
})

async function renew(ctx: Ctx, session: SessionRow): Promise<SessionToken | undefined> {
  const { id, organization_id: organisationId, expires_at: expiresAt } = session
  const token = newToken(ctx)
  const isRenewed = (await queries.renewSession(ctx, organisationId, id, sha256(token), after(ctx, OVERLAP_MS))) === 1
  return isRenewed ? { token, expiresAt } : undefined
}

/** When the session of the request ends. */
export async function readEnd(ctx: MemberCtx): Promise<SessionEnd> {
  const session = await queries.findOwnSession(ctx)
  const expiresAt = endOf(ctx, session)
  const remainingMs = Math.max(0, expiresAt.getTime() - ctx.clock.now().getTime())
  return { expires_at: expiresAt, latest_expires_at: session.expires_at, remaining_seconds: Math.floor(remainingMs / SECOND_MS) }
}

/** The live sessions of the member. */
export async function listSessions(ctx: MemberCtx): Promise<{ results: ListedSession[] }> {
  const rows = await queries.listSessions(ctx, usedAfter(ctx))
  return { results: rows.map((row) => ({ ...row, is_current: row.id === ctx.sessionId, expires_at: endOf(ctx, row) })) }
}

/** Ends a session of the member. Throws 404. */
export async function revokeSession(ctx: MemberCtx, id: SessionId): Promise<void> {
  if ((await queries.deleteSession(ctx, ctx.organisationId, ctx.memberId, id)) === 0)
    throw new ApiError('resource_missing', 'You have no session with that identifier.')
}

/** Ends the session of the request. */
export async function signOut(ctx: MemberCtx, browser: Browser): Promise<void> {
  await queries.deleteSession(ctx, ctx.organisationId, ctx.memberId, ctx.sessionId)
  browser.clearSession()
}

/** Deletes sessions that have ended. */
export const purgeSessions = (ctx: Ctx): Promise<number> => queries.purgeSessions(ctx, usedAfter(ctx))
