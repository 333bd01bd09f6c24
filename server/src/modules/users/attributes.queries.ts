import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { Nullable } from '../../lib/shapes.ts'

const AttributeRow = Type.Object({
  key: Type.String(),
  min_role: Nullable(Type.String()),
  is_hidden: Type.Boolean(),
  is_end_user: Type.Boolean(),
})

export const listAttributes = (ctx: Pick<ProjectCtx, 'db' | 'projectId'>) =>
  ctx.db.many(
    AttributeRow,
    sql`select key, min_role, is_hidden, is_end_user from attributes where project_id = ${ctx.projectId} order by key`,
  )

export const saveAttribute = (ctx: ProjectCtx, key: string, rule: { min_role: string | null; is_hidden: boolean; is_end_user: boolean }) =>
  ctx.db.run(
    sql`insert into attributes (project_id, key, min_role, is_hidden, is_end_user, updated_at)
        values (${ctx.projectId}, ${key}, ${rule.min_role}, ${rule.is_hidden}, ${rule.is_end_user}, ${ctx.clock.now()})
        on conflict (project_id, key) do update
        set min_role = excluded.min_role, is_hidden = excluded.is_hidden, is_end_user = excluded.is_end_user, updated_at = excluded.updated_at`,
  )

export const deleteAttribute = (ctx: ProjectCtx, key: string) =>
  ctx.db.run(sql`delete from attributes where project_id = ${ctx.projectId} and key = ${key}`)
