import { type Static, Type } from 'typebox'
import { Exact, Instant, Nullable, OneOf, Page, Timestamp } from '../../lib/shapes.ts'
import { SiteLimits } from './shaping/limits.ts'

/** What a project sets for a site. Connections are shared with other projects, so that it limits the emails instead. */
export const ProjectLimits = Exact({
  mails_at_once: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Emails that are delivered to the site at the same time.' }),
  ),
  mails_per_second: Type.Optional(SiteLimits.properties.mails_per_second),
})
export type ProjectLimits = Static<typeof ProjectLimits>

export const MailSiteInput = Exact({
  limits: Nullable(ProjectLimits),
})
export type MailSiteInput = Static<typeof MailSiteInput>

const share = (what: string) => Type.Number({ minimum: 0, maximum: 1, description: `The share of attempts that ${what}.` })

export const SITE_STATES = ['open', 'slowed', 'suspended', 'probing'] as const

/** A site in replies. */
export const MailSite = Exact({
  site: Type.String({ description: 'The key of the site: a provider, or a set of mail hosts.' }),
  label: Type.String({ description: 'The provider, or the name that the mail hosts have in common.' }),
  state: OneOf(SITE_STATES, {
    description:
      '`slowed`: the site asked for slower delivery. `suspended`: nothing is delivered for a time. `probing`: one email is tried after a suspension.',
  }),
  state_until: Nullable(Timestamp),
  state_reason: Nullable(Type.String({ description: 'The reply rule that applied, or `unreachable`; null if the site is open.' })),
  limits: SiteLimits,
  project_limits: Nullable(ProjectLimits),
  last_reply: Nullable(
    Type.String({
      description: 'The last reply that refused or deferred an email, with `[address]` for each address in it; null if there was none.',
    }),
  ),
  last_replied_at: Nullable(Timestamp),
  last_24_hours: Exact({
    delivered: Type.Integer({ description: 'Attempts that delivered the email.' }),
    deferred: Type.Integer({ description: 'Attempts that will be repeated.' }),
    bounced: Type.Integer({ description: 'Attempts that failed permanently.' }),
    deferral_share: share('will be repeated'),
    bounce_share: share('failed permanently'),
  }),
})
export type MailSite = Static<typeof MailSite>

export const MailSites = Page(MailSite)

/** Bounces and complaints of sites by day. */
export const MailSiteDays = Exact({
  first_day: Type.String({ description: 'The first of 29 days, in UTC.' }),
  last_day: Type.String({ description: 'Today, in UTC.' }),
  sites: Type.Array(
    Exact({
      site: Type.String({ description: 'The key of the site.' }),
      label: Type.String({ description: 'The provider, or the name that the mail hosts have in common.' }),
      days: Type.Array(
        Exact({
          day: Type.String({ description: 'The day, in UTC.' }),
          delivered: Type.Integer({ description: 'Attempts on this day that delivered the email.' }),
          bounced: Type.Integer({ description: 'Attempts on this day that failed permanently.' }),
          complained: Type.Integer({ description: 'Complaints that were reported on this day.' }),
        }),
        { description: 'The days with at least one attempt or complaint, earliest first.' },
      ),
    }),
    { description: 'The 20 sites with the most attempts, in descending order.' },
  ),
})
export type MailSiteDays = Static<typeof MailSiteDays>

export const MailSiteRow = Type.Object({
  site: Type.String(),
  label: Type.String(),
  limits: Nullable(ProjectLimits),
  last_reply: Nullable(Type.String()),
  last_replied_at: Nullable(Instant),
  delivered: Type.Integer(),
  deferred: Type.Integer(),
  bounced: Type.Integer(),
})
export type MailSiteRow = Static<typeof MailSiteRow>
