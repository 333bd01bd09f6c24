import { route } from '../../infra/http/route.ts'
import { Page } from '../../lib/shapes.ts'
import { auditListing } from './queries.ts'
import { AuditCheck, AuditEntry, AuditQuery } from './schema.ts'
import { checkChain, listEntries } from './service.ts'

export const auditRoutes = [
  route({
    method: 'GET',
    path: '/api/client/audit',
    summary: 'List the audit log, newest first.',
    description:
      'There is an entry for each configuration change. This includes changes to projects, keys, members, campaigns, templates, lists, journeys, providers, domains, webhook endpoints, subscription types, manual suppressions, attributes, settings, imports, replays and pauses. Each entry is committed together with its change, so neither exists without the other. `before` and `after` have the members that changed; secrets are masked. Data of users and events is not configuration. An organisation key lists the entries of the organisation and of all its projects.',
    access: { secret: 'admin', organisation: 'admin' },
    query: AuditQuery,
    list: auditListing,
    reply: Page(AuditEntry),
    run: (ctx, { page, query }) => listEntries(ctx, page, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/audit/check',
    summary: 'Check that no entry of the audit log was changed or removed.',
    description:
      'Each entry has the hash of the one before it. The check computes all hashes of the project again (with an organisation key, those of the organisation) and compares them. Entries that were removed because of `AUDIT_RETENTION_DAYS` are not reported as missing.',
    access: { secret: 'admin', organisation: 'admin' },
    reply: AuditCheck,
    run: (ctx) => checkChain(ctx),
  }),
]
