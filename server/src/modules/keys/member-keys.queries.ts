import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import { MemberKeyRow } from './schema.ts'

/** The member whose key is meant. */
export type KeyOwner = { memberId: MemberId; organisationId: OrganisationId; name: string }

/** The key of a member in a project, or without a project in the organisation. */
export const findMemberKey = (ctx: Ctx, { memberId, organisationId }: KeyOwner, projectId: ProjectId | null) =>
  ctx.db.first(
    MemberKeyRow,
    sql`select k.id, p.locale, p.timezone, coalesce(p.api_version, o.api_version) as api_version
        from api_keys k
        join organisations o on o.id = k.organization_id
        left join projects p on p.id = k.project_id
        where k.member_id = ${memberId} and k.organization_id = ${organisationId} and k.archived_at is null
          and coalesce(k.project_id, 0) = coalesce(${projectId}::bigint, 0) and p.deleted_at is null`,
  )

/**
 * Creates the key of a member, unless the project is of another organisation or another request was first. Its hash is not the hash of any
 * key value, so nothing can authenticate with it.
 */
export const insertMemberKey = (ctx: Ctx, { memberId, organisationId, name }: KeyOwner, projectId: ProjectId | null) =>
  ctx.db.run(
    sql`insert into api_keys (organization_id, project_id, scope, role, name, hash, prefix, last4, member_id, created_at, updated_at)
        select o.id, p.id, case when p.id is null then 'organisation' else 'secret' end, 'support', ${name},
               ${`member:${memberId}:${projectId ?? 'organisation'}:`} || gen_random_uuid(), '', '', ${memberId}, ${ctx.clock.now()}, ${ctx.clock.now()}
        from organisations o
        left join projects p on p.organization_id = o.id and p.id = ${projectId} and p.deleted_at is null
        where o.id = ${organisationId} and (p.id is not null or ${projectId}::bigint is null)
        on conflict (member_id, coalesce(project_id, 0)) where member_id is not null and archived_at is null do nothing`,
  )

/** Archives the keys of a member who was removed, with the user tokens that they created. */
export const archiveMemberKeys = (ctx: Ctx, organisationId: OrganisationId, memberId: MemberId) =>
  ctx.db.run(
    sql`update api_keys set archived_at = ${ctx.clock.now()}
        where organization_id = ${organisationId} and member_id = ${memberId} and archived_at is null`,
  )
