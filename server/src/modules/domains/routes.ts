import { type Route, route } from '../../infra/http/route.ts'
import { createResolver } from '../../infra/outgoing/dns.ts'
import type { DomainId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import type { DomainResolver } from './dns-check.ts'
import { domainListing } from './queries.ts'
import { Domain, DomainChanges, DomainInput, Domains } from './schema.ts'
import { createDomain, deleteDomain, getDomain, listDomains, updateDomain, verifyDomain } from './service.ts'

const params = { domainId: pathId<DomainId>() }

/** `resolver` creates a resolver for each check. */
export const domainRoutes = (resolver: () => DomainResolver = createResolver): Route[] => [
  route({
    method: 'GET',
    path: '/api/client/domains',
    summary: 'List the custom domains of the project.',
    description: '`dns` has the records that a domain needs.',
    access: { secret: 'support' },
    list: domainListing,
    reply: Domains,
    run: (ctx, { page }) => listDomains(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/domains',
    summary: 'Add a custom domain.',
    description: 'The domain is used once it is verified. Publish one of the records in `dns`, and then verify it.',
    access: { secret: 'admin' },
    body: DomainInput,
    reply: Domain,
    status: 201,
    location: (domain) => `/api/client/domains/${domain.id}`,
    run: (ctx, { body }) => createDomain(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/domains/{domainId}',
    summary: 'Read a custom domain.',
    description: '`dns` has the records that the domain needs, and `problem` what is wrong with them.',
    access: { secret: 'support' },
    params,
    reply: Domain,
    run: (ctx, { params }) => getDomain(ctx, params.domainId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/domains/{domainId}',
    summary: 'Change whether a custom domain is the default of the project.',
    description: 'Campaigns without a domain use the default. Setting it replaces the previous default.',
    access: { secret: 'admin' },
    params,
    body: DomainChanges,
    reply: Domain,
    run: (ctx, { params, body }) => updateDomain(ctx, params.domainId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/domains/{domainId}',
    summary: 'Delete a custom domain.',
    description: 'Links that were sent keep working as long as the host points to this server.',
    access: { secret: 'admin' },
    params,
    status: 204,
    run: (ctx, { params }) => deleteDomain(ctx, params.domainId),
  }),
  route({
    method: 'POST',
    path: '/api/client/domains/{domainId}/verify',
    summary: 'Check the DNS records of a custom domain.',
    description:
      'The reply contains the result and, if it failed, the problem. A verified domain that no longer points to this server is not used any more.',
    access: { secret: 'admin' },
    params,
    records: 'around_call',
    reply: Domain,
    run: (ctx, { params }) => verifyDomain(ctx, params.domainId, resolver()),
  }),
]
