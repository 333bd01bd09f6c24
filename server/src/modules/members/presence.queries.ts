import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, MemberCtx } from '../../infra/runtime/ctx.ts'
import type { MemberId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant } from '../../lib/shapes.ts'

/** Records that the session has opened or closed an object. Deletes records from before `notedAfter`. */
export const noteEditing = (ctx: MemberCtx, key: string, isHere: boolean, notedAfter: Date) =>
  ctx.db.run(
    sql`update member_sessions s
        set editing = coalesce((select jsonb_object_agg(e.key, e.value)
                                from jsonb_each(s.editing) e
                                where e.key <> ${key} and (e.value->>'at')::timestamptz > ${notedAfter}), '{}'::jsonb)
                      || case when ${isHere}::boolean
                           then jsonb_build_object(${key}::text, jsonb_build_object('at', ${ctx.clock.now()}::timestamptz, 'since',
                             case when (s.editing->${key}::text->>'at')::timestamptz > ${notedAfter} then s.editing->${key}::text->'since'
                                  else to_jsonb(${ctx.clock.now()}::timestamptz) end))
                           else '{}'::jsonb end
        where s.organization_id = ${ctx.organisationId} and s.id = ${ctx.sessionId}`,
  )

/** Locks an object for those who open it only if no other member has it open. */
export const lockObject = (ctx: InTx<MemberCtx>, key: string) =>
  ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`presence at ${key}`}, ${ctx.organisationId}))`)

/** Whether the session has the object open. */
export const isEditing = (ctx: MemberCtx, key: string, notedAfter: Date): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select coalesce((editing->${key}::text->>'at')::timestamptz > ${notedAfter}, false) as exists
        from member_sessions
        where organization_id = ${ctx.organisationId} and id = ${ctx.sessionId}`,
  )

const EditorRow = Type.Object({ member_id: IdOf<MemberId>(), name: Type.String(), since: Instant })

/** The other members who have the object open, in the order in which they opened it. */
export const otherEditors = (ctx: MemberCtx, key: string, notedAfter: Date) =>
  ctx.db.many(
    EditorRow,
    sql`select m.id as member_id, m.name, min((s.editing->${key}::text->>'since')::timestamptz) as since
        from member_sessions s
        join members m on m.id = s.member_id and m.removed_at is null
        where s.organization_id = ${ctx.organisationId} and s.member_id <> ${ctx.memberId} and s.expires_at > ${ctx.clock.now()}
          and (s.editing->${key}::text->>'at')::timestamptz > ${notedAfter}
        group by m.id, m.name
        order by since, m.id`,
  )
