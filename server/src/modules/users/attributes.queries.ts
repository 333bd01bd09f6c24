import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { Nullable } from '../../lib/shapes.ts'
import type { AttributeRule } from './attributes.ts'

const AttributeRow = Type.Object({
  key: Type.String(),
  min_role: Nullable(Type.String()),
  is_hidden: Type.Boolean(),
  is_end_user: Type.Boolean(),
  label: Nullable(Type.String()),
  is_personal: Type.Boolean(),
})

export const listAttributes = (ctx: Pick<ProjectCtx, 'db' | 'projectId'>) =>
  ctx.db.many(
    AttributeRow,
    sql`select key, min_role, is_hidden, is_end_user, label, is_personal from attributes where project_id = ${ctx.projectId} order by key`,
  )

export const saveAttribute = (ctx: ProjectCtx, key: string, rule: Omit<AttributeRule, 'key'>) =>
  ctx.db.run(
    sql`insert into attributes (project_id, key, min_role, is_hidden, is_end_user, label, is_personal, updated_at)
        values (${ctx.projectId}, ${key}, ${rule.min_role}, ${rule.is_hidden}, ${rule.is_end_user}, ${rule.label}, ${rule.is_personal},
                ${ctx.clock.now()})
        on conflict (project_id, key) do update
        set min_role = excluded.min_role, is_hidden = excluded.is_hidden, is_end_user = excluded.is_end_user, label = excluded.label,
            is_personal = excluded.is_personal, updated_at = excluded.updated_at`,
  )

export const deleteAttribute = (ctx: ProjectCtx, key: string) =>
  ctx.db.run(sql`delete from attributes where project_id = ${ctx.projectId} and key = ${key}`)
