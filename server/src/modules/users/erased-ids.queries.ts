import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'

const NameRow = Type.Object({ kind: Type.String(), name: Type.String() })

/**
 * The ids and addresses of a user and of those merged into it, each once, also when they have an address in common: `e` an external id,
 * `a` an anonymous id, `u` the id of a row, `c` an email address in lower case or a phone number.
 */
export const namesOfUser = (ctx: InTx | ProjectCtx, id: UserId) =>
  ctx.db.many(
    NameRow,
    sql`with ids as (select id, external_id, email, phone from users where project_id = ${ctx.projectId} and (id = ${id} or merged_into = ${id}))
        select 'u' as kind, id::text as name from ids
        union
        select 'e', external_id from ids where external_id is not null
        union
        select 'c', lower(email) from ids where email is not null
        union
        select 'c', phone from ids where phone is not null
        union
        select 'a', anonymous_id from user_anonymous_ids where project_id = ${ctx.projectId} and user_id in (select id from ids)`,
  )

/** Stores the ids that requests accepted up to this position must not create again. */
export const insertErasedIds = (ctx: InTx, hashes: string[], position: number) =>
  ctx.db.run(
    sql`insert into erased_ids as e (project_id, id_hash, position, erased_at)
        select ${ctx.projectId}, h.hash, ${position}, ${ctx.clock.now()} from unnest(${hashes}::text[]) as h(hash)
        order by h.hash
        on conflict (project_id, id_hash) do update set position = excluded.position, erased_at = excluded.erased_at`,
  )

const ErasedRow = Type.Object({ id_hash: Type.String(), position: Type.Integer() })

/** Those of these ids that were erased. */
export const findErasedIds = (ctx: ProjectCtx, hashes: string[]) =>
  ctx.db.many(
    ErasedRow,
    sql`select id_hash, position from erased_ids where project_id = ${ctx.projectId} and id_hash = any(${hashes}::text[])`,
  )

/** Deletes ids that were erased before `before`, and before everything that waits to be applied was accepted. */
export const purgeErasedIds = (ctx: Ctx, before: Date, oldestPosition: number | null) =>
  ctx.db.run(
    sql`delete from erased_ids
        where erased_at < ${before} and (${oldestPosition}::bigint is null or position < ${oldestPosition}::bigint)`,
  )
