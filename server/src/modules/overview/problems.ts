/** What needs attention in a project, in sentences. Pure. */
import { MINUTE_MS } from '../../lib/times.ts'
import type { campaignsInProgress } from '../campaigns/index.ts'
import type { listDomains } from '../domains/index.ts'
import type { findPauses } from '../mta/index.ts'
import type { listEndpoints } from '../webhooks/index.ts'
import type { Overview, Problem } from './schema.ts'

/** What is known of a project. */
export type Known = Pick<Overview, 'processing' | 'channels'> & {
  campaigns: Awaited<ReturnType<typeof campaignsInProgress>>
  endpoints: Awaited<ReturnType<typeof listEndpoints>>['results']
  domains: Awaited<ReturnType<typeof listDomains>>['results']
  pauses: Awaited<ReturnType<typeof findPauses>>
  now: Date
}

const LATE_MS = MINUTE_MS
/** Rates say something from so many messages on. */
const MESSAGES_MIN = 100
const BOUNCE_PERCENT_MAX = 5
const FAILURE_PERCENT_MAX = 10

/** The problems of a project, those that stop messages first. */
export const problemsOf = (known: Known): Problem[] => [
  ...ofProcessing(known),
  ...ofMail(known),
  ...known.campaigns.filter(({ is_paused }) => is_paused).map(ofCampaign),
  ...ofRates(known),
  ...known.endpoints.filter(({ status }) => status === 'disabled').map(ofEndpoint),
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

const ofMail = ({ pauses }: Known): Problem[] =>
  pauses.some(({ scope }) => scope === 'project')
    ? [{ kind: 'mail_paused', message: 'Email delivery is paused. Resume it when you are ready.', object: null }]
    : []

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
