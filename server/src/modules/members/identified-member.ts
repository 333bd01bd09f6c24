/** The member that a provider names (D-CON-12): found by the identity, linked by the address, or created where the mapping gives a role. */
import { type Ctx, type InTx, inTx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { recordAction } from '../audit/index.ts'
import { findFirstProject, projectsOf } from '../projects/index.ts'
import type { MappedRoles } from './mapped-roles.ts'
import { requireMemberRoom } from './member-room.ts'
import { findByEmail, findMember, insertMember, lockMembers } from './queries.ts'
import type { MemberRow } from './schema.ts'
import { requireRenewal } from './sessions.queries.ts'
import { type Identity, insertIdentity, noteJoined, useIdentity } from './single-sign-on.queries.ts'
import * as team from './team.queries.ts'

/** What a provider has vouched for. Without `roles`, they are given in the console. */
export type Identified = { identity: Identity; email: string; name: string; roles: MappedRoles | undefined }

/** The context of what the provider makes of a member, for the audit log: the server does it, not the member. */
const bySystem = (ctx: InTx<Ctx>, requestId: string, organisationId: OrganisationId): InTx<Ctx> => ({
  ...ctx,
  origin: { via: 'system', requestId, organisationId },
})

/** Finds, links or creates the member, and gives the roles of the mapping. Undefined if there is no member and no mapping gives a role. */
export const identifiedMember = (ctx: Ctx, identified: Identified, requestId: string): Promise<MemberRow | undefined> =>
  inTx(ctx, async (ctx) => {
    const known = await useIdentity(ctx, identified.identity)
    const member = known ? await findMember(ctx, known.organization_id, known.member_id) : await linkedMember(ctx, identified, requestId)
    if (!member) return undefined
    await noteJoined(ctx, member)
    if (!identified.roles) return member
    const by = bySystem(ctx, requestId, member.organization_id)
    return { ...member, role: await giveRoles(by, member, identified.roles) }
  })

/** The member with the address, or a new one, who has the identity from now on. Throws 403 when the member has another identity. */
async function linkedMember(ctx: InTx<Ctx>, identified: Identified, requestId: string): Promise<MemberRow | undefined> {
  const { identity, email } = identified
  const member = (await findByEmail(ctx, email)) ?? (await createdMember(ctx, identified, requestId))
  if (!member) return undefined
  if ((await insertIdentity(ctx, member, identity)) === 0)
    throw new ApiError(
      'permission_denied',
      'Your email address belongs to a member who signs in with a different account at the provider.',
      {
        reason: 'single_sign_on',
      },
    )
  const by = bySystem(ctx, requestId, member.organization_id)
  await recordAction(by, null, 'member.single_sign_on_linked', member.id, { after: { email: member.email, issuer: identity.issuer } })
  return member
}

async function createdMember(ctx: InTx<Ctx>, { email, name, roles }: Identified, requestId: string): Promise<MemberRow | undefined> {
  const first = roles && (await findFirstProject(ctx))
  if (!first) return undefined
  const { organization_id: organisationId } = first
  await requireMemberRoom(ctx, organisationId)
  const made = await insertMember(ctx, { organisationId, email, name, role: 'member', passwordHash: null, joinedAt: ctx.clock.now() })
  if (made) await recordAction(bySystem(ctx, requestId, organisationId), null, 'member.created', made.id, { after: { email, name } })
  return made
}

/** Gives a member the roles of the mapping. The last owner stays one. Returns the role in the organisation. */
async function giveRoles(ctx: InTx<Ctx>, { id, organization_id: organisationId }: MemberRow, mapped: MappedRoles) {
  await lockMembers(ctx, organisationId)
  const before = await team.findTeamMember(ctx, organisationId, id)
  if (!before) return mapped.role
  const isLastOwner = before.role === 'owner' && (await team.countOtherOwners(ctx, organisationId, id)) === 0
  const role = isLastOwner ? 'owner' : mapped.role
  const own = new Set<number>((await projectsOf(ctx as unknown as Ctx, organisationId)).map(({ id }) => id))
  const projects = mapped.projects
    .filter(({ project_id }) => own.has(project_id))
    .map(({ project_id, role }) => ({ project_id: project_id as ProjectId, role }))
    .toSorted((a, b) => a.project_id - b.project_id)
  const after = { role, projects }
  if (JSON.stringify(after) === JSON.stringify({ role: before.role, projects: before.projects })) return role
  await team.updateMember(ctx, organisationId, id, { role })
  await team.setRoles(ctx, organisationId, id, projects)
  await requireRenewal(ctx, organisationId, id)
  await recordAction(ctx, null, 'member.updated', id, {
    before: { name: before.name, role: before.role, projects: before.projects },
    after: { name: before.name, ...after },
  })
  return role
}
