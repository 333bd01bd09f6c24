/** What needs attention in a project, in sentences. Pure. */
import { MINUTE_MS } from '../../lib/times.ts'
import type { findPausedCampaigns } from '../campaigns/index.ts'
import type { listDomains } from '../domains/index.ts'
import type { findPauses } from '../mta/index.ts'
import type { findDisabledEndpoints } from '../webhooks/index.ts'
import type { Overview, Problem } from './schema.ts'

/** What is known of a project. */
export type Known = Pick<Overview, 'processing' | 'channels'> & {
  /** Those that are paused. */
  campaigns: Awaited<ReturnType<typeof findPausedCampaigns>>
  /** Those that are disabled. */
  endpoints: Awaited<ReturnType<typeof findDisabledEndpoints>>
  domains: Awaited<ReturnType<typeof listDomains>>['results']
  pauses: Awaited<ReturnType<typeof findPauses>>
  now: Date
}

const LATE_MS = MINUTE_MS
/** Rates say something from so many messages on. */
const MESSAGES_MIN = 100
const BOUNCE_PERCENT_MAX = 5
const FAILURE_PERCENT_MAX = 10
const NAMES_SHOWN = 3

/** The problems of a project, those that stop messages first. */
export const problemsOf = (known: Known): Problem[] => [
  ...ofProcessing(known),
  ...ofMail(known),
  ...known.campaigns.map(ofCampaign),
  ...ofRates(known),
  ...known.endpoints.map(ofEndpoint),
  ...known.domains.flatMap(ofDomain),
]

function ofProcessing({ processing: { waiting_since, parked }, now }: Known): Problem[] {
  const late: Problem[] =
    waiting_since && now.getTime() - waiting_since.getTime() > LATE_MS
      ? [{ kind: 'processing_late', message: `Accepted events have been waiting since ${waiting_since.toISOString()}.`, object: null }]
      : []
  const message = `${parked} accepted item${parked === 1 ? '' : 's'} could not be applied. Ask the operator of the server to check the parked items.`
  return parked > 0 ? [...late, { kind: 'items_parked', message, object: null }] : late
}

/** A pause of the whole project includes the others. */
function ofMail({ pauses }: Known): Problem[] {
  const valuesOf = (scope: Known['pauses'][number]['scope']) => pauses.filter((pause) => pause.scope === scope).map(({ value }) => value)
  const [sites, campaigns] = [valuesOf('site'), valuesOf('campaign')]
  const paused =
    valuesOf('project').length > 0
      ? ['']
      : [
          ...(sites.length > 0 ? [` to ${someOf(sites, 'site')}`] : []),
          ...(campaigns.length > 0 ? [` for ${someOf(campaigns, 'campaign')}`] : []),
        ]
  return paused.map((part) => ({
    kind: 'mail_paused',
    message: `Email delivery${part} is paused. Resume it when you are ready.`,
    object: null,
  }))
}

/** The first names, and how many others there are. */
function someOf(names: string[], what: 'site' | 'campaign'): string {
  const shown = names.slice(0, NAMES_SHOWN).map((name) => `\`${name}\``)
  const others = names.length - shown.length
  const listed = `the ${what}${shown.length === 1 ? '' : 's'} ${shown.join(', ')}`
  return others > 0 ? `${listed} and ${others} other${others === 1 ? '' : 's'}` : listed
}

const ofCampaign = ({ id, name, paused_reason }: Known['campaigns'][number]): Problem => ({
  kind: 'campaign_paused',
  message: paused_reason
    ? `The campaign “${name}” was paused by the server: ${paused_reason}.`
    : `The campaign “${name}” is paused. Its messages wait until it is resumed.`,
  object: { type: 'campaign', id: String(id), name },
})

const ofEndpoint = ({ id, name, disabled_reason }: Known['endpoints'][number]): Problem => ({
  kind: 'webhook_disabled',
  message: `The webhook endpoint “${name}” was disabled. ${disabled_reason ?? ''}`.trim(),
  object: { type: 'webhook', id: String(id), name },
})

function ofDomain({ id, host, problem, sending }: Known['domains'][number]): Problem[] {
  const object = { type: 'domain' as const, id: String(id), name: sending?.domain ?? host }
  return [problem, sending?.problem]
    .filter((text) => typeof text === 'string')
    .map((message) => ({ kind: 'domain_problem', message, object }))
}

const ofRates = ({ channels }: Known): Problem[] =>
  channels.flatMap(({ channel, last_7_days: { sent, bounced, failed } }) => {
    const object = { type: 'channel' as const, id: channel, name: channel }
    const rates = [
      { kind: 'bounces_high' as const, what: 'bounced', count: bounced, base: sent, max: BOUNCE_PERCENT_MAX },
      { kind: 'failures_high' as const, what: 'failed', count: failed, base: sent + failed, max: FAILURE_PERCENT_MAX },
    ]
    return rates
      .filter(({ count, base, max }) => base >= MESSAGES_MIN && (100 * count) / base > max)
      .map(
        ({ kind, what, count, base }): Problem => ({
          kind,
          message: `${((100 * count) / base).toFixed(1)} % of ${base} messages on the channel \`${channel}\` ${what} in the last 7 days.`,
          object,
        }),
      )
  })
