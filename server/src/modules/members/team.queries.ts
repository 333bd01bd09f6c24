import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import type { OrganisationRole, Role } from '../../lib/roles.ts'
import { Count, IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const TeamRow = Type.Object({
  id: IdOf<MemberId>(),
  email: Type.String(),
  name: Type.String(),
  role: Type.Unsafe<OrganisationRole>({ type: 'string' }),
  projects: Type.Unsafe<{ project_id: ProjectId; role: Role }[]>({}),
  has_totp: Type.Boolean(),
  has_passkey: Type.Boolean(),
  joined_at: Nullable(Instant),
  active_at: Nullable(Instant),
  created_at: Instant,
})
export type TeamRow = Static<typeof TeamRow>

const columns = sql`m.id, m.email, m.name, m.role, m.totp_confirmed_at is not null as has_totp,
  exists (select from member_passkeys p where p.member_id = m.id) as has_passkey, m.joined_at, m.active_at, m.created_at,
  coalesce((select json_agg(json_build_object('project_id', r.project_id, 'role', r.role) order by r.project_id)
            from member_roles r join projects p on p.id = r.project_id and p.deleted_at is null
            where r.member_id = m.id), '[]') as projects`

/** The members of an organisation, by name. */
export const listTeam = (ctx: Ctx, organisationId: OrganisationId) =>
  ctx.db.many(
    TeamRow,
    sql`select ${columns} from members m where m.organization_id = ${organisationId} and m.removed_at is null order by lower(m.name), m.id`,
  )

export const findTeamMember = (ctx: Ctx, organisationId: OrganisationId, id: MemberId) =>
  ctx.db.first(
    TeamRow,
    sql`select ${columns} from members m where m.organization_id = ${organisationId} and m.id = ${id} and m.removed_at is null`,
  )

export const countMembers = (ctx: Ctx, organisationId: OrganisationId): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from members where organization_id = ${organisationId} and removed_at is null`)

/** The number of owners who have joined, not counting this member. */
export const countOtherOwners = (ctx: Ctx, organisationId: OrganisationId, id: MemberId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from members
        where organization_id = ${organisationId} and role = 'owner' and removed_at is null and joined_at is not null and id <> ${id}`,
  )

type Changes = { name?: string; role?: OrganisationRole }

export const updateMember = (ctx: Ctx, organisationId: OrganisationId, id: MemberId, { name, role }: Changes) =>
  ctx.db.run(
    sql`update members set name = coalesce(${name ?? null}, name), role = coalesce(${role ?? null}, role), updated_at = ${ctx.clock.now()}
        where organization_id = ${organisationId} and id = ${id} and removed_at is null`,
  )

/** Replaces the roles of a member in projects. The caller has checked that the projects belong to the organisation. */
export async function setRoles(
  ctx: InTx<Ctx>,
  organisationId: OrganisationId,
  id: MemberId,
  roles: { project_id: ProjectId; role: Role }[],
): Promise<void> {
  await deleteRoles(ctx, organisationId, id)
  await insertRoles(ctx, organisationId, id, roles)
}

const deleteRoles = (ctx: InTx<Ctx>, organisationId: OrganisationId, id: MemberId) =>
  ctx.db.run(
    sql`delete from member_roles where member_id = (select id from members where organization_id = ${organisationId} and id = ${id})`,
  )

const insertRoles = (ctx: InTx<Ctx>, organisationId: OrganisationId, id: MemberId, roles: { project_id: ProjectId; role: Role }[]) =>
  ctx.db.run(
    sql`insert into member_roles (project_id, member_id, role)
        select r.project_id, m.id, r.role
        from unnest(${roles.map(({ project_id }) => project_id)}::bigint[], ${roles.map(({ role }) => role)}::text[]) as r(project_id, role)
        join members m on m.organization_id = ${organisationId} and m.id = ${id}`,
  )

/** Removes a member. Another member can have the address afterwards. */
export const removeMember = (ctx: Ctx, organisationId: OrganisationId, id: MemberId) =>
  ctx.db.run(
    sql`update members set removed_at = ${ctx.clock.now()}, password_hash = null, totp_secret = null, totp_confirmed_at = null
        where organization_id = ${organisationId} and id = ${id} and removed_at is null`,
  )

/** Saves the password of an invited member, who has joined now. Returns 0 for a member who has joined before or was removed. */
export const join = (ctx: Ctx, organisationId: OrganisationId, id: MemberId, name: string | null, passwordHash: string) =>
  ctx.db.run(
    sql`update members
        set password_hash = ${passwordHash}, name = coalesce(${name}, name), joined_at = ${ctx.clock.now()}, updated_at = ${ctx.clock.now()}
        where organization_id = ${organisationId} and id = ${id} and joined_at is null and removed_at is null`,
  )
