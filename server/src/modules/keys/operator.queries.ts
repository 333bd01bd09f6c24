/** The keys that reach a project, as an operator with access to the database manages them: its own and those of its organisation. */
import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { KeyId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'
import { KeyRow } from './schema.ts'

const AnyKeyRow = Type.Object({
  ...Type.Pick(KeyRow, ['id', 'name', 'role', 'prefix', 'last4', 'created_at']).properties,
  project_id: Nullable(IdOf<ProjectId>()),
  scope: Type.Unsafe<'public' | 'secret' | 'organisation'>({ type: 'string' }),
})

/** A project and its organisation. */
export type Owner = { projectId: ProjectId; organisationId: OrganisationId }

const reaches = ({ projectId, organisationId }: Owner) =>
  sql`(project_id = ${projectId} or (project_id is null and organization_id = ${organisationId})) and archived_at is null and member_id is null`

export const listKeysReaching = (ctx: Ctx, owner: Owner) =>
  ctx.db.many(
    AnyKeyRow,
    sql`select id, project_id, name, scope, role, prefix, last4, created_at from api_keys where ${reaches(owner)} order by id`,
  )

/** Archives a key and returns it. Undefined if there is no such key, or if the system manages it. */
export const archiveKeyReaching = (ctx: InTx<Ctx>, owner: Owner, id: KeyId) =>
  ctx.db.first(
    AnyKeyRow,
    sql`update api_keys set archived_at = ${ctx.clock.now()}
        where id = ${id} and ${reaches(owner)} and not is_system_key
        returning id, project_id, name, scope, role, prefix, last4, created_at`,
  )
