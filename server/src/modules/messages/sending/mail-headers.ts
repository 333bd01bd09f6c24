/** The headers by which receivers tell streams of email apart (D-MTA-44), and those of a request (D-MSG-7). Pure. */
import type { CampaignId, ProjectId, SubscriptionId } from '../../../lib/ids.ts'
import { isDomainName } from '../../../lib/urls.ts'

/** What an email is about. */
export type Stream = {
  projectId: ProjectId
  campaignId: CampaignId
  subscriptionId: SubscriptionId
  isTransactional: boolean
  baseUrl: string
}

/** The last field of `Feedback-ID`, which must be the same for all emails of a sender. */
const SENDER = 'carillon'

/**
 * `Feedback-ID`, by which Gmail reports complaints: the campaign, the project, the kind and the sender. `List-Id` (RFC 2919) is for what users
 * can leave. Neither shows anything about the user.
 */
export function streamHeaders({ projectId, campaignId, subscriptionId, isTransactional, baseUrl }: Stream): Record<string, string> {
  const feedback = `${campaignId}:${projectId}:${isTransactional ? 'transactional' : 'marketing'}:${SENDER}`
  if (isTransactional) return { 'Feedback-ID': feedback }
  const { hostname } = new URL(baseUrl)
  // RFC 2919 §3: without a domain of its own, a list is of `localhost`.
  const host = isDomainName(hostname) ? hostname : 'localhost'
  return { 'Feedback-ID': feedback, 'List-Id': `<${subscriptionId}.${projectId}.${host}>` }
}

/** The headers of an email, in which those of its request replace others of the same name. The case of a name has no meaning (RFC 5322 §1.2.2). */
export function withRequested(headers: Record<string, string>, requested: Record<string, string>): Record<string, string> {
  const byName = new Map<string, [string, string]>()
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(requested)]) byName.set(name.toLowerCase(), [name, value])
  return Object.fromEntries(byName.values())
}
