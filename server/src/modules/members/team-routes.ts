import { Type } from 'typebox'
import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { MemberId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Exact } from '../../lib/shapes.ts'
import { Invitation, Member, MemberChanges, MemberInput } from './schema.ts'
import { getMember, inviteAgain, inviteMember, listMembers, removeMember, updateMember } from './team.ts'

const params = { memberId: pathId<MemberId>() }

const memberAudit = audits('member', { id: 'memberId', read: getMember, ignored: ['active_at'] })

/** The members of an organisation. */
export const teamRoutes = [
  route({
    method: 'GET',
    path: '/api/console/members',
    summary: 'List the members of the organisation.',
    description: 'Sorted by name. Includes members who were invited and have not joined.',
    access: { member: 'member' },
    reply: Exact({ results: Type.Array(Member) }, { title: 'MemberList' }),
    run: (ctx) => listMembers(ctx),
  }),
  route({
    method: 'POST',
    path: '/api/console/members',
    summary: 'Invite a member.',
    description: 'Only an owner may invite an owner. Only this reply contains the invitation link.',
    access: { member: 'admin' },
    audit: memberAudit('created'),
    body: MemberInput,
    reply: Invitation,
    status: 201,
    location: (member) => `/api/console/members/${member.id}`,
    errors: ['quota_exceeded'],
    run: (ctx, { body }) => inviteMember(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/console/members/{memberId}',
    summary: 'Read a member of the organisation.',
    description: 'A removed member returns 404.',
    access: { member: 'member' },
    params,
    reply: Member,
    run: (ctx, { params }) => getMember(ctx, params.memberId),
  }),
  route({
    method: 'PATCH',
    path: '/api/console/members/{memberId}',
    summary: 'Change the name or the roles of a member.',
    description:
      'The new roles apply from the member’s next request. Only an owner may change an owner. An organisation always keeps at least one owner.',
    access: { member: 'admin' },
    audit: memberAudit('updated'),
    params,
    body: MemberChanges,
    reply: Member,
    run: (ctx, { params, body }) => updateMember(ctx, params.memberId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/console/members/{memberId}',
    summary: 'Remove a member.',
    description: 'The member’s sessions end at once. The audit log keeps the member’s actions and name.',
    access: { member: 'admin' },
    audit: memberAudit('deleted'),
    params,
    status: 204,
    run: (ctx, { params }) => removeMember(ctx, params.memberId),
  }),
  route({
    method: 'POST',
    path: '/api/console/members/{memberId}/invite',
    summary: 'Create a new invitation link for a member who has not joined.',
    description: 'Earlier links stop working. Only this reply contains the new link.',
    access: { member: 'admin' },
    audit: memberAudit('invited', { always: true }),
    params,
    reply: Invitation,
    run: (ctx, { params }) => inviteAgain(ctx, params.memberId),
  }),
]
