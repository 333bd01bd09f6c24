/** The members of an organisation, for those who manage them (D-CON-1, D-CON-9). */
import type { Browser } from '../../infra/http/route.ts'
import { type Ctx, type InTx, inTx, type MemberCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, fault } from '../../lib/errors.ts'
import type { MemberId, ProjectId } from '../../lib/ids.ts'
import { type OrganisationRole, organisationAtLeast } from '../../lib/roles.ts'
import { archiveMemberKeys } from '../keys/index.ts'
import { findOrganisation, projectsOf } from '../projects/index.ts'
import { deleteLinksOf } from './links.queries.ts'
import { createLink, PASSWORD_LINKS, useLink } from './links.ts'
import { canMail, sendLater } from './mails.ts'
import { requireMemberRoom } from './member-room.ts'
import { deletePasskeys } from './passkeys.queries.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import { findMember, insertMember, lockMembers } from './queries.ts'
import type { AcceptInput, Invitation, Member, MemberChanges, MemberInput } from './schema.ts'
import { deleteSessions, requireRenewal } from './sessions.queries.ts'
import { normalEmail, requireLocalSignIn, signedIn } from './sign-in.ts'
import { deleteIdentities } from './single-sign-on.queries.ts'
import * as queries from './team.queries.ts'

const missingMember = () => new ApiError('resource_missing', 'The organisation has no member with this identifier.')

const present = ({ joined_at, ...row }: queries.TeamRow): Member => ({ ...row, is_invited: joined_at === null, joined_at })

/** The members of the organisation, by name. */
export const listMembers = async (ctx: MemberCtx): Promise<{ results: Member[] }> => ({
  results: (await queries.listTeam(ctx, ctx.organisationId)).map(present),
})

/** A member of the organisation. Throws 404. */
export async function getMember(ctx: MemberCtx, id: MemberId): Promise<Member> {
  const member = await queries.findTeamMember(ctx, ctx.organisationId, id)
  if (!member) throw missingMember()
  return present(member)
}

/** Checks that a member gives, takes and changes only roles up to their own. Throws 403. */
function requireRank({ role: own }: MemberCtx, ...roles: (OrganisationRole | undefined)[]): void {
  if (roles.every((role) => role === undefined || organisationAtLeast(own, role))) return
  throw new ApiError('permission_denied', 'Only an owner may invite, change or remove owners.', { reason: 'role' })
}

async function requireProjects(ctx: MemberCtx, roles: { project_id: ProjectId }[] | undefined): Promise<void> {
  if (roles === undefined) return
  const own = new Set((await projectsOf(ctx, ctx.organisationId)).map(({ id }) => id))
  const at = roles.findIndex(({ project_id }) => !own.has(project_id))
  if (at !== -1) throw fault('validation_failed', `projects[${at}].project_id`, 'The organisation has no project with this id.')
  if (new Set(roles.map(({ project_id }) => project_id)).size < roles.length)
    throw fault('validation_failed', 'projects', 'Each project may be named only once.')
}

/** Adds a member, who joins with the link of the result. The link is sent by email too, if the server can send emails. */
export const inviteMember = (ctx: MemberCtx, { email, name, role, projects = [] }: MemberInput): Promise<Invitation> =>
  inTx(ctx, async (tx) => {
    const ctx = tx as unknown as InTx<MemberCtx> & MemberCtx
    requireRank(ctx, role)
    await requireProjects(ctx, projects)
    const { organisationId } = ctx
    await requireMemberRoom(ctx, organisationId)
    const made = await insertMember(ctx, { organisationId, email: normalEmail(email), name, role, passwordHash: null, joinedAt: null })
    if (!made) throw new ApiError('resource_already_exists', 'A member with this email address already exists.', { param: 'email' })
    await queries.setRoles(ctx, organisationId, made.id, projects)
    return invitationOf(ctx, made.id)
  })

/** Creates a new link for a member who has not joined. Earlier links stop working. Throws 404, and 422 if the member has joined. */
export const inviteAgain = (ctx: MemberCtx, id: MemberId): Promise<Invitation> =>
  inTx(ctx, async (tx) => {
    const ctx = tx as unknown as InTx<MemberCtx> & MemberCtx
    const member = await getMember(ctx, id)
    requireRank(ctx, member.role)
    if (!member.is_invited) throw new ApiError('validation_failed', 'The member has already joined.')
    return invitationOf(ctx, id)
  })

async function invitationOf(ctx: InTx<MemberCtx> & MemberCtx, id: MemberId): Promise<Invitation> {
  const { organisationId } = ctx
  const member = await getMember(ctx, id)
  await deleteLinksOf(ctx, organisationId, ['invitation'], id)
  const link = await createLink(ctx, 'invitation', organisationId, id)
  const { name: organisation } = await findOrganisation(ctx, organisationId)
  await sendLater(ctx, { kind: 'invitation', to: member.email, link, organisation, by: ctx.actor?.name ?? 'A member' })
  return { ...member, invitation_url: `${ctx.baseUrl()}${link}`, is_mailed: canMail(ctx) }
}

/** Joins with an invitation, and signs in. Throws 401 for a link that is not valid. */
export async function acceptInvitation(ctx: Ctx, { token, name, password }: AcceptInput, browser: Browser): Promise<MemberCtx> {
  requireLocalSignIn(ctx)
  const passwordHash = await hashPassword(ctx, password)
  const member = await inTx(ctx, async (ctx) => {
    const { organization_id: organisationId, member_id: id } = await useLink(ctx, ['invitation'], token)
    const found = id === null ? undefined : await findMember(ctx, organisationId, id)
    if (!found) throw missingMember()
    requireGoodPassword(password, found.email)
    await queries.join(ctx, organisationId, found.id, name ?? null, passwordHash)
    return { ...found, name: name ?? found.name }
  })
  return signedIn(ctx, member, browser)
}

/** Changes a member. A change of a role renews the tokens of the member’s sessions. Throws 403, 404, and 422 for the last owner. */
export const updateMember = (ctx: MemberCtx, id: MemberId, { projects, ...changes }: MemberChanges): Promise<Member> =>
  inTx(ctx, async (tx) => {
    const ctx = tx as unknown as InTx<MemberCtx> & MemberCtx
    const { organisationId } = ctx
    await lockMembers(ctx, organisationId)
    const member = await getMember(ctx, id)
    requireRank(ctx, member.role, changes.role)
    await requireProjects(ctx, projects)
    if (member.role === 'owner' && changes.role !== undefined && changes.role !== 'owner') await requireOtherOwner(ctx, id)
    await queries.updateMember(ctx, organisationId, id, changes)
    if (projects) await queries.setRoles(ctx, organisationId, id, projects)
    if (projects || changes.role) await requireRenewal(ctx, organisationId, id)
    return getMember(ctx, id)
  })

async function requireOtherOwner(ctx: MemberCtx, id: MemberId): Promise<void> {
  if ((await queries.countOtherOwners(ctx, ctx.organisationId, id)) > 0) return
  throw new ApiError('validation_failed', 'An organisation needs an owner. Make another member an owner first.')
}

/**
 * Removes a member: sessions, links, roles and keys end at once. Records of what the member did keep their name. Throws 403, 404, and 422
 * for the last owner.
 */
export const removeMember = (ctx: MemberCtx, id: MemberId): Promise<void> =>
  inTx(ctx, async (tx) => {
    const ctx = tx as unknown as InTx<MemberCtx> & MemberCtx
    const { organisationId } = ctx
    await lockMembers(ctx, organisationId)
    const member = await getMember(ctx, id)
    requireRank(ctx, member.role)
    if (member.role === 'owner') await requireOtherOwner(ctx, id)
    await deleteSessions(ctx, organisationId, id, null)
    await deleteLinksOf(ctx, organisationId, ['invitation', ...PASSWORD_LINKS], id)
    await queries.setRoles(ctx, organisationId, id, [])
    await deletePasskeys(ctx, { id, organization_id: organisationId })
    await deleteIdentities(ctx, { id, organization_id: organisationId })
    await archiveMemberKeys(ctx, organisationId, id)
    await queries.removeMember(ctx, organisationId, id)
  })
