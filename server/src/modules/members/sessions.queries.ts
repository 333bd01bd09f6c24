import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, MemberCtx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId, SessionId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'
import { SessionRow } from './schema.ts'

export type NewSession = {
  memberId: MemberId
  organisationId: OrganisationId
  tokenHash: string
  address: string
  userAgent: string
  expiresAt: Date
}

const NewId = Type.Object({ id: IdOf<SessionId>() })

/**
 * Begins a session, of a member who has the password with this hash, if there is one: the update waits for another request that changes it. Undefined if it
 * was changed.
 */
export const insertSession = (ctx: Ctx, session: NewSession, passwordHash: string | null) =>
  ctx.db.first(
    NewId,
    sql`with member as (update members set active_at = ${ctx.clock.now()}
                        where organization_id = ${session.organisationId} and id = ${session.memberId}
                          and (${passwordHash}::text is null or password_hash = ${passwordHash})
                        returning id, organization_id)
        insert into member_sessions (member_id, organization_id, token_hash, address, user_agent, created_at, used_at, expires_at)
        select id, organization_id, ${session.tokenHash}, ${session.address}, ${session.userAgent},
               ${ctx.clock.now()}::timestamptz, ${ctx.clock.now()}::timestamptz, ${session.expiresAt}::timestamptz
        from member
        returning id`,
  )

/** The live session with this token, or with the one before its last renewal. `usedAfter` is the limit of a session that is not used. */
export const findSession = (ctx: Ctx, tokenHash: string, usedAfter: Date) =>
  ctx.db.first(
    SessionRow,
    sql`select s.id, s.member_id, s.organization_id, m.name, m.role, s.is_renewal_due, s.used_at, s.expires_at
        from member_sessions s
        join members m on m.id = s.member_id and m.removed_at is null
        where (s.token_hash = ${tokenHash} or (s.previous_hash = ${tokenHash} and s.previous_until > ${ctx.clock.now()}))
          and s.expires_at > ${ctx.clock.now()} and s.used_at > ${usedAfter}`,
  )

/** Notes the use of a session for it and its member, unless that was done shortly before. */
export const noteUse = (ctx: Ctx, organisationId: OrganisationId, id: SessionId, unlessAfter: Date) =>
  ctx.db.run(
    sql`with used as (update member_sessions set used_at = ${ctx.clock.now()}
                      where organization_id = ${organisationId} and id = ${id} and used_at <= ${unlessAfter}
                      returning member_id)
        update members set active_at = ${ctx.clock.now()} where id = (select member_id from used)`,
  )

/** Gives a session a new token. 0 if another request did, or if the session has ended. */
export const renewSession = (ctx: Ctx, organisationId: OrganisationId, id: SessionId, tokenHash: string, previousUntil: Date) =>
  ctx.db.run(
    sql`update member_sessions
        set previous_hash = token_hash, previous_until = ${previousUntil}, token_hash = ${tokenHash}, is_renewal_due = false
        where organization_id = ${organisationId} and id = ${id} and is_renewal_due`,
  )

/** The next request of each session of the member gets a new token. */
export const requireRenewal = (ctx: Ctx, organisationId: OrganisationId, memberId: MemberId) =>
  ctx.db.run(sql`update member_sessions set is_renewal_due = true where organization_id = ${organisationId} and member_id = ${memberId}`)

const Times = Type.Object({ created_at: Instant, used_at: Instant, expires_at: Instant })

/** The times of the session of a request. */
export const findOwnSession = (ctx: MemberCtx) =>
  ctx.db.one(
    Times,
    sql`select created_at, used_at, expires_at from member_sessions where organization_id = ${ctx.organisationId} and id = ${ctx.sessionId}`,
  )

const ListedRow = Type.Object({
  id: IdOf<SessionId>(),
  address: Type.String(),
  user_agent: Type.String(),
  created_at: Instant,
  used_at: Instant,
  expires_at: Instant,
})

/** The live sessions of the member, the newest first. */
export const listSessions = (ctx: MemberCtx, usedAfter: Date) =>
  ctx.db.many(
    ListedRow,
    sql`select id, address, user_agent, created_at, used_at, expires_at
        from member_sessions
        where organization_id = ${ctx.organisationId} and member_id = ${ctx.memberId}
          and expires_at > ${ctx.clock.now()} and used_at > ${usedAfter}
        order by id desc`,
  )

export const deleteSession = (ctx: Ctx, organisationId: OrganisationId, memberId: MemberId, id: SessionId) =>
  ctx.db.run(sql`delete from member_sessions where organization_id = ${organisationId} and member_id = ${memberId} and id = ${id}`)

/** Ends all sessions of a member, or all but one. */
export const deleteSessions = (ctx: Ctx, organisationId: OrganisationId, memberId: MemberId, except: SessionId | null) =>
  ctx.db.run(
    sql`delete from member_sessions
        where organization_id = ${organisationId} and member_id = ${memberId} and id is distinct from ${except}`,
  )

const PURGE_BATCH = 10_000

/** Deletes sessions that have ended. Returns how many. */
export const purgeSessions = (ctx: Ctx, usedAfter: Date): Promise<number> =>
  ctx.db.run(
    sql`delete from member_sessions
        where id in (select id from member_sessions where expires_at <= ${ctx.clock.now()} or used_at <= ${usedAfter} limit ${PURGE_BATCH})`,
  )
