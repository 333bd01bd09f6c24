import { Type } from 'typebox'
import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import { listMailSiteDays } from './mail-site-days.ts'
import { siteListing } from './mail-sites.queries.ts'
import { MailSite, MailSiteDays, MailSiteInput, MailSites } from './mail-sites.schema.ts'
import { getMailSite, listMailSites, setMailSite } from './mail-sites.ts'

const SITE_LENGTH_MAX = 64

const params = {
  site: {
    schema: Type.String({ minLength: 1, maxLength: SITE_LENGTH_MAX, description: 'The key of the site, such as `google`.' }),
    read(text: string): string {
      if (text.length > SITE_LENGTH_MAX || text.includes('\0')) throw missing('mail site')
      return text.toWellFormed()
    },
  },
}

const mailSiteAudit = audits('mail_site', {
  keyOf: ({ params }) => String(params.site),
  read: async (ctx: ProjectCtx, site) => ({ limits: (await getMailSite(ctx, site)).limits }),
})

export const mailSiteRoutes = [
  route({
    method: 'GET',
    path: '/api/client/mail-site-days',
    summary: 'List bounces and complaints by mail site and day.',
    description:
      'Covers email that this server delivers itself, in the last 29 days. Complaints are those that mailbox providers report by email. They are counted on the day of the report.',
    access: { secret: 'support' },
    reply: MailSiteDays,
    run: listMailSiteDays,
  }),
  route({
    method: 'GET',
    path: '/api/client/mail-sites',
    summary: 'List the mail sites that the project delivers to.',
    description:
      'A site is a mailbox provider, or a set of mail hosts that several domains can share. For each site, the reply has its limits, its state, the last reply that did not accept an email, and how many attempts were deferred and bounced in the last 24 hours.',
    access: { secret: 'support' },
    list: siteListing,
    reply: MailSites,
    run: (ctx, { page }) => listMailSites(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/mail-sites/{site}',
    summary: 'Read a mail site.',
    description: 'The reply has the site’s limits and state, and the results of the attempts of the last 24 hours.',
    access: { secret: 'support' },
    params,
    reply: MailSite,
    run: (ctx, { params }) => getMailSite(ctx, params.site),
  }),
  route({
    method: 'PUT',
    path: '/api/client/mail-sites/{site}',
    summary: 'Set the limits of the project for a mail site.',
    description:
      'The limits apply to the emails of this project, in addition to the `limits` of the site, which apply to all projects. They take effect within seconds. `null` removes them.',
    access: { secret: 'admin' },
    audit: mailSiteAudit('updated'),
    params,
    body: MailSiteInput,
    reply: MailSite,
    run: (ctx, { params, body }) => setMailSite(ctx, params.site, body),
  }),
]
