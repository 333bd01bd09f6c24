import type { Credential, MemberSession } from '../../infra/http/route.ts'
import type { Ctx, MemberCtx, OrganisationCtx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import type { MemberId, ProjectId } from '../../lib/ids.ts'
import { organisationAtLeast, type Role } from '../../lib/roles.ts'
import { findMemberKey } from '../keys/index.ts'
import { findOrganisation, findProject, type OwnedProject, projectsOf } from '../projects/index.ts'
import { hasRoleInProject } from './project-members.queries.ts'
import * as queries from './queries.ts'
import type { ConsoleSession, OwnProject } from './schema.ts'
import { findOwnSession } from './sessions.queries.ts'
import { endOf } from './sessions.ts'

/** Which of these projects have a provider, and in which the sandbox acts out faults. Those without a provider are sandboxes. */
export type EnvironmentsOf = (ctx: Ctx, ids: ProjectId[]) => Promise<{ live: ProjectId[]; faulty: ProjectId[] }>

const noRole = () =>
  new ApiError('permission_denied', 'You have no role in the project named in the `Carillon-Project` header.', { reason: 'project' })

/**
 * What a member may do in a project: as a key with the member’s role there. Without a project, as an organisation key. The keys have no value;
 * they stand for the member where a key is named (D-CON-4).
 */
export async function memberCredential(ctx: Ctx, session: MemberSession, projectId: ProjectId | null): Promise<Credential> {
  const { memberId, organisationId, name, role } = session
  const actor = { kind: 'member', id: memberId, name } as const
  const owner = { memberId, organisationId, name }
  if (projectId === null) {
    const key = await findMemberKey(ctx, owner, null)
    if (!key) throw noRole()
    return { kind: 'organisation', keyId: key.id, organisationId, role, apiVersion: key.api_version, actor }
  }
  const projectRole = await roleIn(ctx, session, projectId)
  const key = projectRole && (await findMemberKey(ctx, owner, projectId))
  if (!key) throw noRole()
  return {
    kind: 'secret',
    keyId: key.id,
    allowedOrigins: [],
    role: projectRole,
    projectId,
    organisationId,
    project: { locale: key.locale ?? 'en', timezone: key.timezone ?? 'UTC' },
    apiVersion: key.api_version,
    actor,
  }
}

/** Whether this is the address of a member who has joined and has a role in the project. */
export async function isMemberOfProject(ctx: ProjectCtx, email: string): Promise<boolean> {
  const { organization_id } = await findProject(ctx, ctx.projectId)
  return hasRoleInProject(ctx, organization_id, email)
}

async function roleIn(ctx: Ctx, { memberId, role }: MemberSession, projectId: ProjectId): Promise<Role | undefined> {
  if (organisationAtLeast(role, 'admin')) return 'admin'
  return (await queries.findRole(ctx, memberId, projectId))?.role
}

/** The projects that the caller may read, with the role in each; null for all of them, which keys and admins of the organisation have. */
export async function readableProjects(ctx: OrganisationCtx): Promise<Map<ProjectId, Role> | null> {
  const { actor, caller } = ctx
  if (actor?.kind !== 'member' || organisationAtLeast(caller.role, 'admin')) return null
  const roles = await queries.rolesOf({ ...ctx, memberId: actor.id as MemberId })
  return new Map(roles.map(({ project_id, role }) => [project_id, role]))
}

/** The member, the organisation and the projects of a session. */
export async function getSession(ctx: MemberCtx, environmentsOf: EnvironmentsOf): Promise<ConsoleSession> {
  const { organisationId, memberId, role } = ctx
  const member = await queries.findMember(ctx, organisationId, memberId)
  const session = await findOwnSession(ctx)
  if (!member) throw new Error('The session of the request has no member.')
  return {
    id: ctx.sessionId,
    member: { id: memberId, email: member.email, name: member.name },
    organisation: await findOrganisation(ctx, organisationId),
    role,
    projects: await ownProjects(ctx, environmentsOf),
    expires_at: endOf(ctx, session),
  }
}

async function ownProjects(ctx: MemberCtx, environmentsOf: EnvironmentsOf): Promise<OwnProject[]> {
  const roles = new Map((await queries.rolesOf(ctx)).map(({ project_id, role }) => [project_id, role]))
  const isAdmin = organisationAtLeast(ctx.role, 'admin')
  const projects = (await projectsOf(ctx, ctx.organisationId)).filter(({ id }) => isAdmin || roles.has(id))
  const { live, faulty } = await environmentsOf(
    ctx,
    projects.map(({ id }) => id),
  )
  const present = ({ id, name, locale, timezone }: OwnedProject): OwnProject => ({
    id,
    name,
    role: isAdmin ? 'admin' : (roles.get(id) as Role),
    environment: live.includes(id) ? 'live' : 'sandbox',
    has_faults: faulty.includes(id),
    locale,
    timezone,
  })
  return projects.map(present)
}
