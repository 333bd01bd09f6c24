/** Every screen: its address below a project, or alone, and what is there when it is drawn. Tests and pictures go through them. */
import type { Site } from './site.ts'

export type Screen = { name: string; path: string | ((site: Site) => Promise<string>); heading: string | RegExp; isOutside?: true }

/** The address of a screen. Ids depend on what was made before. */
export const addressOf = async (site: Site, { path }: Screen): Promise<string> => (typeof path === 'string' ? path : path(site))

/** A screen of the newest campaign in a state. */
const campaignIn =
  (state: string, end = '') =>
  async (site: Site): Promise<string> => {
    const { results } = await site.api('GET', 'campaigns?limit=100&sort=id&direction=desc')
    return `/p/1/campaigns/${results.find((campaign: { state: string }) => campaign.state === state).id}${end}`
  }

/** A view of the newest journey. */
const newestJourney =
  (end: string) =>
  async (site: Site): Promise<string> => {
    const { results } = await site.api('GET', 'journeys?limit=1&sort=id&direction=desc')
    return `/p/1/journeys/${results[0].id}${end}`
  }

/** A view of the newest domain. */
const newestDomain =
  (end = '') =>
  async (site: Site): Promise<string> =>
    `/p/1/domains/${(await site.api('GET', 'domains?limit=1&direction=desc')).results[0].id}${end}`

/** The latest entry, which is on the first page. */
const auditEntry = async (site: Site): Promise<string> => `/p/1/audit?entry=${(await site.api('GET', 'audit?limit=1')).results[0].id}`

/** The latest request of the API log. */
const loggedRequest = async (site: Site): Promise<string> =>
  `/p/1/api-log?request=${(await site.api('GET', 'requests?limit=1')).results[0].id}`

export const SCREENS: Screen[] = [
  { name: 'users', path: '/p/1/users', heading: 'Users' },
  { name: 'users-by-rule', path: '/p/1/users?panel=rule', heading: 'Users' },
  { name: 'lists-archived', path: '/p/1/lists?show=archived', heading: 'Lists' },
  { name: 'user', path: '/p/1/users/sample-2', heading: /wilhelmina/i },
  { name: 'sandbox-inbox', path: '/p/1/sandbox', heading: 'Sandbox inbox' },
  // After others, because what it shows of messages is up to five seconds old.
  { name: 'home', path: '/p/1', heading: /./ },
  { name: 'lists', path: '/p/1/lists', heading: 'Lists' },
  { name: 'list', path: '/p/1/lists/1', heading: /./ },
  { name: 'list-rule', path: '/p/1/lists/1?view=rule', heading: /./ },
  { name: 'new-list', path: '/p/1/lists/new', heading: 'New dynamic list' },
  { name: 'imports', path: '/p/1/imports', heading: 'Imports' },
  { name: 'new-import', path: '/p/1/imports/new', heading: 'Import a file' },
  { name: 'attributes', path: '/p/1/schema', heading: 'Attributes and events' },
  { name: 'events', path: '/p/1/schema?view=events', heading: 'Attributes and events' },
  { name: 'event-days', path: '/p/1/schema?view=events&event=order_placed', heading: 'Attributes and events' },
  { name: 'templates', path: '/p/1/templates', heading: 'Templates' },
  { name: 'template-pictures', path: '/p/1/templates?view=pictures', heading: 'Templates' },
  { name: 'reports', path: '/p/1/reports', heading: 'Reports' },
  { name: 'message-log', path: '/p/1/messages', heading: 'Message log' },
  { name: 'message', path: '/p/1/messages?message=1', heading: 'Message log' },
  { name: 'domains', path: '/p/1/domains', heading: 'Domains' },
  { name: 'domain', path: newestDomain(), heading: 'bellbird.test' },
  { name: 'domain-warm-up', path: newestDomain('?view=warm-up'), heading: 'bellbird.test' },
  { name: 'mail-queue', path: '/p/1/mail-queue', heading: 'Mail queue' },
  { name: 'mail-sites', path: '/p/1/mail-queue?view=sites', heading: 'Mail queue' },
  { name: 'mail-trend', path: '/p/1/mail-queue?view=trend', heading: 'Mail queue' },
  { name: 'tls-results', path: '/p/1/mail-queue?view=tls', heading: 'Mail queue' },
  { name: 'suppressions', path: '/p/1/suppressions', heading: 'Suppressions' },
  { name: 'subscription-types', path: '/p/1/subscriptions', heading: 'Subscription types' },
  { name: 'preference-page', path: '/p/1/preference-page', heading: 'Preference page' },
  { name: 'campaigns', path: '/p/1/campaigns', heading: 'Campaigns' },
  { name: 'campaign-calendar', path: '/p/1/campaigns?view=calendar', heading: 'Campaigns' },
  { name: 'new-campaign', path: '/p/1/campaigns/new', heading: 'New campaign' },
  { name: 'campaign', path: campaignIn('finished', '?user=sample-2'), heading: /./ },
  { name: 'campaign-audience', path: campaignIn('draft', '/edit?step=audience'), heading: /./ },
  { name: 'email-editor', path: campaignIn('draft', '/edit?step=content'), heading: /./ },
  { name: 'campaign-delivery', path: campaignIn('draft', '/edit?step=delivery'), heading: /./ },
  { name: 'campaign-schedule', path: campaignIn('draft', '/edit?step=schedule'), heading: /./ },
  { name: 'campaign-review', path: campaignIn('draft', '/edit?step=review'), heading: /./ },
  { name: 'journeys', path: '/p/1/journeys', heading: 'Journeys' },
  { name: 'journey', path: newestJourney('?step=delay_1'), heading: /./ },
  { name: 'journey-users', path: newestJourney('?view=users&user=sample-2'), heading: /./ },
  { name: 'journey-settings', path: newestJourney('?view=settings'), heading: /./ },
  { name: 'journey-backtest', path: newestJourney('?view=backtest'), heading: /./ },
  { name: 'journey-simulator', path: newestJourney('?view=simulate'), heading: /./ },
  { name: 'journey-versions', path: newestJourney('?view=versions'), heading: /./ },
  { name: 'keys', path: '/p/1/keys', heading: 'API keys' },
  { name: 'webhooks', path: '/p/1/webhooks', heading: 'Webhooks' },
  { name: 'webhook', path: '/p/1/webhooks/1?delivery=1', heading: 'Warehouse' },
  { name: 'webhook-events', path: '/p/1/webhooks/1?view=events', heading: 'Warehouse' },
  { name: 'providers', path: '/p/1/providers', heading: 'Providers' },
  { name: 'provider', path: async (site) => `/p/1/providers/${(await site.api('GET', 'providers')).results[0].id}`, heading: 'Mail relay' },
  { name: 'team', path: '/p/1/team', heading: 'Team' },
  { name: 'api-log', path: '/p/1/api-log', heading: 'API log' },
  { name: 'api-request', path: loggedRequest, heading: 'API log' },
  { name: 'audit-log', path: '/p/1/audit', heading: 'Audit log' },
  { name: 'audit-entry', path: auditEntry, heading: 'Audit log' },
  { name: 'tools', path: '/p/1/tools', heading: 'Tools' },
  { name: 'settings', path: '/p/1/settings', heading: 'Settings' },
  { name: 'settings-sending', path: '/p/1/settings?view=sending', heading: 'Settings' },
  { name: 'organisation', path: '/p/1/settings?view=organisation', heading: 'Settings' },
  { name: 'system', path: '/p/1/system', heading: 'System health' },
  { name: 'account', path: '/account', heading: 'Your account' },
  { name: 'sign-in', path: '/sign-in', heading: 'Sign in', isOutside: true },
  { name: 'lost-password', path: '/lost-password', heading: 'Lost password', isOutside: true },
]
