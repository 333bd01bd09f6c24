import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { KeyId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import { Count, IdOf } from '../../lib/shapes.ts'
import { CredentialRow, type KeyChanges, KeyRow } from './schema.ts'

const columns = sql`id, project_id, name, scope, role, prefix, last4, description, allowed_origins, is_system_key, created_at, updated_at`

export const keyListing = listing({
  resource: 'keys',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    scope: { column: sql`scope`, type: 'text' },
    role: { column: sql`role`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`name`, sql`description`],
  searchedFields: 'name, description',
})

export const listKeys = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<KeyRow>> =>
  pageOf(ctx, KeyRow, keyListing, page, {
    select: columns,
    from: sql`api_keys`,
    where: sql`project_id = ${ctx.projectId} and archived_at is null and member_id is null`,
  })

/** The live keys with these hashes, with the defaults of their projects. PostgreSQL cannot see how many hashes a JSON array has, and so keeps one plan. */
export const findCredentials = (ctx: Ctx, hashes: string[]) =>
  ctx.db.many(
    CredentialRow,
    sql`select k.hash, k.id, k.name, k.organization_id, k.project_id, k.scope, k.role, k.allowed_origins, p.locale, p.timezone, coalesce(p.api_version, o.api_version) as api_version
        from api_keys k
        join organisations o on o.id = k.organization_id
        left join projects p on p.id = k.project_id
        where k.hash = any(array(select jsonb_array_elements_text(${JSON.stringify(hashes)}::jsonb))) and k.archived_at is null and p.deleted_at is null`,
  )

/**
 * A number that grows with every change of an existing key, and of the settings of its project or organisation that its credential
 * contains.
 */
export const credentialsVersion = (ctx: Ctx) =>
  ctx.db.value(Count, sql`select coalesce(max(version), 0) as version from credentials_version`)

export type NewKey = {
  organisationId: OrganisationId
  projectId: ProjectId | null
  scope: 'public' | 'secret' | 'organisation'
  role: string
  name: string
  description: string | null
  hash: string
  prefix: string
  last4: string
  allowedOrigins?: string[]
  isSystemKey: boolean
}

/** Undefined when the same key exists. */
export const insertKey = (ctx: Ctx, key: NewKey) =>
  ctx.db.first(
    InsertedKey,
    sql`insert into api_keys (organization_id, project_id, scope, role, name, description, hash, prefix, last4, allowed_origins, is_system_key, created_at, updated_at)
        values (${key.organisationId}, ${key.projectId}, ${key.scope}, ${key.role}, ${key.name}, ${key.description}, ${key.hash},
                ${key.prefix}, ${key.last4}, ${key.allowedOrigins ?? []}::text[], ${key.isSystemKey}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (hash) do nothing
        returning id, created_at, updated_at`,
  )

const InsertedKey = Type.Pick(KeyRow, ['id', 'created_at', 'updated_at'])

export const countKeys = (ctx: Ctx, projectId: ProjectId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from api_keys where project_id = ${projectId} and archived_at is null and member_id is null`,
  )

export const findKey = (ctx: ProjectCtx, id: KeyId) =>
  ctx.db.first(
    KeyRow,
    sql`select ${columns} from api_keys
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null and member_id is null`,
  )

/** Undefined members keep their value; `updated_at` changes only when something else does. */
export const updateKey = (ctx: ProjectCtx, id: KeyId, changes: KeyChanges) =>
  ctx.db.first(
    KeyRow,
    sql`update api_keys k
        set name = n.name, description = n.description, scope = n.scope, role = n.role, allowed_origins = n.allowed_origins,
            updated_at = case when (k.name, k.description, k.scope, k.role, k.allowed_origins) is distinct from (n.name, n.description, n.scope, n.role, n.allowed_origins)
                              then ${ctx.clock.now()} else k.updated_at end
        from (select coalesce(${changes.name ?? null}, name) as name,
                     case when ${changes.description !== undefined} then ${changes.description ?? null}::text else description end as description,
                     coalesce(${changes.scope ?? null}, scope) as scope,
                     coalesce(${changes.role ?? null}, role) as role,
                     coalesce(${changes.allowed_origins ?? null}::text[], allowed_origins) as allowed_origins
              from api_keys where project_id = ${ctx.projectId} and id = ${id} and archived_at is null and member_id is null) n
        where k.project_id = ${ctx.projectId} and k.id = ${id} and k.archived_at is null
        returning k.id, k.project_id, k.name, k.scope, k.role, k.prefix, k.last4, k.description, k.allowed_origins, k.is_system_key, k.created_at, k.updated_at`,
  )

export const archiveKey = (ctx: ProjectCtx, id: KeyId) =>
  ctx.db.run(
    sql`update api_keys set archived_at = ${ctx.clock.now()} where project_id = ${ctx.projectId} and id = ${id} and archived_at is null and not is_system_key`,
  )

/** Archives all keys of a project, also those of its members. */
export const archiveKeys = (ctx: InTx) =>
  ctx.db.run(sql`update api_keys set archived_at = ${ctx.clock.now()} where project_id = ${ctx.projectId} and archived_at is null`)

const KeyIdRow = Type.Object({ id: IdOf<KeyId>() })

/** All keys that a project ever had. */
export const keyIdsOf = async (ctx: InTx): Promise<KeyId[]> =>
  (await ctx.db.many(KeyIdRow, sql`select id from api_keys where project_id = ${ctx.projectId}`)).map(({ id }) => id)

/** Whether a key is not archived. A user token is valid as long as the key that created it. */
export const isKeyAlive = async (ctx: Ctx, projectId: ProjectId, id: KeyId): Promise<boolean> =>
  (await ctx.db.first(
    KeyRow,
    sql`select ${columns} from api_keys where project_id = ${projectId} and id = ${id} and archived_at is null`,
  )) !== undefined
