import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { MemberCtx } from '../../infra/runtime/ctx.ts'
import { findOrganisation, renameOrganisation } from '../projects/index.ts'
import { Organisation, OrganisationChanges } from './schema.ts'

const organisationAudit = audits('organisation', {
  keyOf: () => 'organisation',
  idOf: () => null,
  read: (ctx: MemberCtx) => findOrganisation(ctx, ctx.organisationId),
})

/** The organisation of the member. */
export const organisationRoutes = [
  route({
    method: 'PATCH',
    path: '/api/console/organisation',
    summary: 'Rename the organisation.',
    description: 'The members see the name in the console and in their invitations.',
    access: { member: 'owner' },
    audit: organisationAudit('updated'),
    body: OrganisationChanges,
    reply: Organisation,
    run: (ctx, { body }) => renameOrganisation(ctx, ctx.organisationId, body.name),
  }),
]
