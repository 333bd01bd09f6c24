import { Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { DomainId, ProjectId } from '../../../lib/ids.ts'
import { IdOf, Nullable, OneOf } from '../../../lib/shapes.ts'
import { DkimKeyRow } from '../schema.ts'

const columns = sql`domain_id, selector, algorithm, public_key, private_key_sealed, state, created_at, retired_at`

/** The keys of these domains, oldest first. */
export const findKeys = (ctx: ProjectCtx | InTx, ids: readonly DomainId[]) =>
  ctx.db.many(
    DkimKeyRow,
    sql`select ${columns} from dkim_keys where project_id = ${ctx.projectId} and domain_id = any(${ids}::bigint[])
        order by created_at, algorithm desc, selector`,
  )

export type NewKey = Pick<DkimKeyRow, 'selector' | 'algorithm' | 'public_key' | 'private_key_sealed'>

export const insertKeys = (ctx: InTx, id: DomainId, keys: readonly NewKey[]) =>
  ctx.db.run(
    sql`insert into dkim_keys (project_id, domain_id, selector, algorithm, public_key, private_key_sealed, created_at)
        select ${ctx.projectId}, ${id}, k.*, ${ctx.clock.now()}
        from unnest(${keys.map(({ selector }) => selector)}::text[], ${keys.map(({ algorithm }) => algorithm)}::text[],
                    ${keys.map(({ public_key }) => public_key)}::text[], ${keys.map((key) => key.private_key_sealed)}::text[]) as k`,
  )

/** Changes the states of keys, given by their selectors. One that stops signing keeps when, also if it was only that its record is gone. */
export const setStates = (ctx: InTx, id: DomainId, changes: readonly { selector: string; state: string }[]) =>
  ctx.db.run(
    sql`update dkim_keys k
        set state = c.state, retired_at = case when c.state <> 'active' then ${ctx.clock.now()}::timestamptz end
        from unnest(${changes.map(({ selector }) => selector)}::text[], ${changes.map(({ state }) => state)}::text[]) as c(selector, state)
        where k.project_id = ${ctx.projectId} and k.domain_id = ${id} and k.selector = c.selector`,
  )

/** Deletes keys that were retired before an instant, and those that are given by their selectors. */
export const deleteUnused = (ctx: InTx, id: DomainId, before: Date, selectors: readonly string[]) =>
  ctx.db.run(
    sql`delete from dkim_keys
        where project_id = ${ctx.projectId} and domain_id = ${id}
          and (selector = any(${selectors}::text[]) or (state = 'retired' and retired_at < ${before}))`,
  )

export const deleteKeys = (ctx: InTx, id: DomainId) =>
  ctx.db.run(sql`delete from dkim_keys where project_id = ${ctx.projectId} and domain_id = ${id}`)

const Sender = Type.Object({
  id: IdOf<DomainId>(),
  sending_domain: Type.String(),
  is_verified: Type.Boolean(),
  is_strict: Type.Boolean(),
  has_return_path: Type.Boolean(),
  spf_alignment: Nullable(OneOf(['relaxed', 'strict'])),
  keys: Type.Array(Type.Pick(DkimKeyRow, ['selector', 'algorithm', 'private_key_sealed'])),
})

const findSenders = jointMany(
  Sender,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, d.*
        from ${callRows(calls)}
        cross join lateral (
          select id, sending_domain, sending_verified_at is not null as is_verified, is_strict, has_return_path, spf_alignment,
                 coalesce((select jsonb_agg(jsonb_build_object('selector', selector, 'algorithm', algorithm, 'private_key_sealed', private_key_sealed)
                                            order by algorithm desc)
                           from dkim_keys where project_id = q.project_id and domain_id = domains.id and state = 'active'), '[]') as keys
          from domains where project_id = q.project_id and sending_domain is not null ${fence}
        ) d`,
)

/** The sending domains of a project, with the keys that sign. */
export const sendersOf = (ctx: Ctx, projectId: ProjectId) => findSenders(ctx, projectId, null)
