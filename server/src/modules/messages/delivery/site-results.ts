/** What attempts show about the sites that they were made at. Pure. */
import type { Site, SiteResults } from '../../mta/index.ts'
import type { MailAttempt } from './events.ts'
import type { Decided } from './results.ts'

const isDelivered = ({ outcome }: Decided) => outcome.is === 'delivered'
const isDeferred = ({ outcome }: Decided) => outcome.is === 'temporary' || outcome.is === 'uncertain'
const isBounced = ({ outcome }: Decided) => outcome.is === 'permanent'
const count = (decided: readonly Decided[], is: (one: Decided) => boolean) => decided.filter(is).length

type AtSite = { mail: MailAttempt['mail']; site: Site; decided: Decided[] }

const atSites = (attempts: readonly MailAttempt[]): AtSite[] =>
  attempts.flatMap(({ mail, site, decided }) => (site && decided.some(({ isAttempt }) => isAttempt) ? [{ mail, site, decided }] : []))

/** The results of attempts by site. */
export function siteResultsOf(attempts: readonly MailAttempt[]): SiteResults[] {
  const bySite = Map.groupBy(atSites(attempts), ({ site }) => site.key)
  return [...bySite.values()].map((some) => {
    const { site } = some[0] as AtSite
    const decided = some.flatMap((one) => one.decided)
    return {
      site: site.key,
      label: site.label,
      delivered: count(decided, isDelivered),
      deferred: count(decided, isDeferred),
      bounced: count(decided, isBounced),
      last_reply: decided.map(refusalOf).findLast((reply) => reply !== null) ?? null,
    }
  })
}

const refusalOf = ({ outcome, recipient }: Decided): string | null =>
  (outcome.is === 'temporary' || outcome.is === 'permanent') && outcome.reply
    ? withoutAddresses(outcome.reply.response, recipient.address)
    : null

const OUTSIDE_OF_WORDS = /([\s<>"'()[\],;]+)/

/** A reply without the addresses in it: what is known of a site outlives its recipients. */
function withoutAddresses(reply: string, address: string): string {
  const local = address.slice(0, address.lastIndexOf('@')).toLowerCase()
  // Servers end the sentence, or add “...”, right behind it.
  const isLocalPart = (word: string) => local !== '' && word.toLowerCase().startsWith(local) && /^[.:]*$/.test(word.slice(local.length))
  return reply
    .split(OUTSIDE_OF_WORDS)
    .map((word) => (word.includes('@') || isLocalPart(word) ? '[address]' : word))
    .join('')
}
