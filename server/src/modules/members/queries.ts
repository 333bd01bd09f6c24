import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, MemberCtx } from '../../infra/runtime/ctx.ts'
import type { MemberId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import type { OrganisationRole, Role } from '../../lib/roles.ts'
import { Flag, IdOf } from '../../lib/shapes.ts'
import { MemberRow } from './schema.ts'

const columns = sql`id, organization_id, email, name, role, password_hash, joined_at`

type NewMember = {
  organisationId: OrganisationId
  email: string
  name: string
  role: OrganisationRole
  passwordHash: string | null
  /** Null for a member who was invited. */
  joinedAt: Date | null
}

/** Undefined when a member has the address already. */
export const insertMember = (ctx: Ctx, member: NewMember) =>
  ctx.db.first(
    MemberRow,
    sql`insert into members (organization_id, email, name, role, password_hash, joined_at, created_at, updated_at)
        values (${member.organisationId}, ${member.email}, ${member.name}, ${member.role}, ${member.passwordHash},
                ${member.joinedAt}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (email) where removed_at is null do nothing
        returning ${columns}`,
  )

/** The member with this address, in whichever organisation: an address belongs to one member. */
export const findByEmail = (ctx: Ctx, email: string) =>
  ctx.db.first(MemberRow, sql`select ${columns} from members where email = ${email} and removed_at is null`)

export const findMember = (ctx: Ctx, organisationId: OrganisationId, id: MemberId) =>
  ctx.db.first(
    MemberRow,
    sql`select ${columns} from members where organization_id = ${organisationId} and id = ${id} and removed_at is null`,
  )

export const hasOwner = (ctx: Ctx, organisationId: OrganisationId): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select from members where organization_id = ${organisationId} and role = 'owner' and removed_at is null) as exists`,
  )

/** Locks the members of an organisation until the transaction ends: for decisions about its owners. */
export const lockMembers = (ctx: InTx<Ctx>, organisationId: OrganisationId) =>
  ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`members of ${organisationId}`}, 0))`)

export const setPasswordHash = (ctx: Ctx, organisationId: OrganisationId, id: MemberId, passwordHash: string) =>
  ctx.db.run(
    sql`update members set password_hash = ${passwordHash}, joined_at = coalesce(joined_at, ${ctx.clock.now()}), updated_at = ${ctx.clock.now()}
        where organization_id = ${organisationId} and id = ${id} and removed_at is null`,
  )

/** Replaces a password with another one, or its hash. 0 if it is no longer the one with the hash `from`. */
export const replacePasswordHash = (ctx: Ctx, organisationId: OrganisationId, id: MemberId, from: string, passwordHash: string) =>
  ctx.db.run(
    sql`update members set password_hash = ${passwordHash}, updated_at = ${ctx.clock.now()}
        where organization_id = ${organisationId} and id = ${id} and password_hash = ${from} and removed_at is null`,
  )

const RoleRow = Type.Object({ project_id: IdOf<ProjectId>(), role: Type.Unsafe<Role>({ type: 'string' }) })

/** The role of a member in a project. Admins and owners of the organisation have none here. */
export const findRole = (ctx: Ctx, memberId: MemberId, projectId: ProjectId) =>
  ctx.db.first(RoleRow, sql`select project_id, role from member_roles where project_id = ${projectId} and member_id = ${memberId}`)

/** The roles of a member in projects. */
export const rolesOf = (ctx: Pick<MemberCtx, 'db' | 'memberId'>) =>
  ctx.db.many(RoleRow, sql`select project_id, role from member_roles where member_id = ${ctx.memberId} order by project_id`)
