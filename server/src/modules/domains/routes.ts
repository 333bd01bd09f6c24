import { audits } from '../../infra/http/audited.ts'
import { DownloadOf, type Route, route } from '../../infra/http/route.ts'
import { createResolver } from '../../infra/outgoing/dns/system.ts'
import type { DomainId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import type { ResolverOf } from './dns-check.ts'
import { domainListing } from './queries.ts'
import { Domain, DomainChanges, DomainInput, Domains } from './schema.ts'
import { createDomain, deleteDomain, downloadZoneFile, getDomain, listDomains, rotateKeys, updateDomain } from './service.ts'
import { verifyDomain } from './verify.ts'
import { WarmUp, WarmUpInput } from './warm-up/schema.ts'
import { getWarmUp, setWarmUp } from './warm-up/service.ts'

const params = { domainId: pathId<DomainId>() }

const domainAudit = audits('domain', { id: 'domainId', read: getDomain })
const warmUpAudit = audits('warm_up', { id: 'domainId', read: getWarmUp, ignored: ['sites'] })

/** `resolver` creates a resolver for each check. */
export const domainRoutes = (resolver: ResolverOf = ({ config }) => createResolver(config)): Route[] => [
  route({
    method: 'GET',
    path: '/api/client/domains',
    summary: 'List the custom domains of the project.',
    description: '`records` has the records that a domain needs, with the results of the last check.',
    access: { secret: 'support' },
    list: domainListing,
    reply: Domains,
    run: (ctx, { page }) => listDomains(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/domains',
    summary: 'Add a custom domain.',
    description:
      'The domain is used once it is verified: publish its `records`, and then verify it. With `sending_domain`, the domain gets two keys that sign emails (DKIM): an RSA key of 2,048 bits and an Ed25519 key. Publish the records of both. Carillon checks the records again every hour, and every day once they are found.',
    access: { secret: 'admin' },
    audit: domainAudit('created'),
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
    description: '`records` has the records that the domain needs; `problem` and `sending.problem` say what is wrong with them.',
    access: { secret: 'support' },
    params,
    reply: Domain,
    run: (ctx, { params }) => getDomain(ctx, params.domainId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/domains/{domainId}',
    summary: 'Change whether a custom domain is the default of the project.',
    description: 'Campaigns without a domain use the default. A new default replaces the previous one.',
    access: { secret: 'admin' },
    audit: domainAudit('updated'),
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
    audit: domainAudit('deleted'),
    params,
    status: 204,
    run: (ctx, { params }) => deleteDomain(ctx, params.domainId),
  }),
  route({
    method: 'POST',
    path: '/api/client/domains/{domainId}/verify',
    summary: 'Check the DNS records of a custom domain.',
    description:
      'The reply contains the result and, if it failed, the problem. If records of a verified domain are missing, this request stops its use at once. Background checks do so only after three failures in a row.',
    access: { secret: 'admin' },
    audit: { none: 'it stores what the DNS says' },
    params,
    records: 'around_call',
    bucket: 'egress',
    reply: Domain,
    run: (ctx, { params }) => verifyDomain(ctx, params.domainId, resolver(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/client/domains/{domainId}/rotate-keys',
    summary: 'Add new keys to a sending domain.',
    description:
      'The reply lists the records of the new keys too. The current keys sign until those records are found. Then the new keys sign, and the records of the old keys must stay for seven days. While a new RSA key is waiting for its record, no further keys are created.',
    access: { secret: 'admin' },
    audit: domainAudit('keys_rotated', { always: true }),
    params,
    reply: Domain,
    run: (ctx, { params }) => rotateKeys(ctx, params.domainId),
  }),
  route({
    method: 'GET',
    path: '/api/client/domains/{domainId}/zone-file',
    summary: 'Download the records of a domain as a zone file.',
    description: 'Most DNS hosts can import the file.',
    access: { secret: 'support' },
    params,
    reply: DownloadOf('text/dns', 'The records in the format of RFC 1035.'),
    run: (ctx, { params }) => downloadZoneFile(ctx, params.domainId),
  }),
  route({
    method: 'GET',
    path: '/api/client/domains/{domainId}/warm-up',
    summary: 'Read the warm-up plan of a sending domain.',
    description: '`sites` lists the mail sites, with their ceilings and counts for today.',
    access: { secret: 'support' },
    params,
    reply: WarmUp,
    run: (ctx, { params }) => getWarmUp(ctx, params.domainId),
  }),
  route({
    method: 'PUT',
    path: '/api/client/domains/{domainId}/warm-up',
    summary: 'Set the warm-up plan of a sending domain.',
    description:
      'While a plan is active, each mail site gets no more emails from the domain in a day than its ceiling, which grows while few of them bounce or are deferred. Further emails wait until the next day. The plan applies to email that this server delivers itself (provider `mta`).',
    access: { secret: 'admin' },
    audit: warmUpAudit('updated'),
    params,
    body: WarmUpInput,
    reply: WarmUp,
    run: (ctx, { params, body }) => setWarmUp(ctx, params.domainId, body),
  }),
]
