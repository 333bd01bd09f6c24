/** What replies mean for a whole site: it is slowed or suspended for a time. Facts that operators and providers publish. A table. */
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import type { SomeLimits } from './limits.ts'

export type ReplyRule = {
  name: string
  /** For this site only; for all sites without it. */
  site?: string
  /** The rule applies to replies with one of these, in lower case. */
  phrases: readonly string[]
  /** So many replies within an hour, or one. */
  repliesInAnHour?: number
  does: { is: 'slow'; to: SomeLimits; forMs: number } | { is: 'suspend'; forMs: number }
}

/** The first rule that applies counts. */
const REPLY_RULES: readonly ReplyRule[] = [
  { name: 'yahoo-deferred', site: 'yahoo', phrases: ['[tss04]', '[ts04]'], does: { is: 'suspend', forMs: 2 * HOUR_MS } },
  {
    name: 'yahoo-slow-down',
    site: 'yahoo',
    phrases: ['[tss01]', '[ts01]', '[tss02]', '[ts02]', '[tss03]', '[ts03]', '[gl01]'],
    does: { is: 'slow', to: { connections: 2, mails_per_second: 1 }, forMs: 30 * MINUTE_MS },
  },
  {
    name: 'comcast-rate',
    site: 'comcast',
    phrases: ['rl0000'],
    repliesInAnHour: 2,
    does: { is: 'slow', to: { connections: 2, connections_per_minute: 10, mails_per_second: 1 }, forMs: 2 * HOUR_MS },
  },
  {
    name: 'google-rate',
    site: 'google',
    phrases: ['unusual rate', 'rate limited', 'too many messages'],
    repliesInAnHour: 5,
    does: { is: 'slow', to: { connections: 1, mails_per_second: 1 }, forMs: 90 * MINUTE_MS },
  },
  {
    name: 'microsoft-reputation',
    site: 'outlook',
    phrases: ['rp-001', 'rp-002', 'rp-003', '[s77719]', '[s775]'],
    does: { is: 'slow', to: { connections: 1, mails_per_second: 0.1 }, forMs: HOUR_MS },
  },
  {
    name: 'reputation-rate',
    phrases: ['temporarily deferred', 'rate limited due to ip reputation', 'try again later from'],
    does: { is: 'slow', to: { connections: 1, mails_per_second: 1 / 60 }, forMs: 90 * MINUTE_MS },
  },
  {
    name: 'rate',
    phrases: [
      'too many connections',
      'too many concurrent',
      'too many simultaneous',
      'too many messages',
      'rate limit',
      'rate exceeded',
      'throttl',
      'too quickly',
      'at a rate that',
      'server busy',
      'server is busy',
      'slow down',
    ],
    repliesInAnHour: 3,
    does: { is: 'slow', to: { connections: 2, mails_per_second: 1 }, forMs: 30 * MINUTE_MS },
  },
]

/** The rule for a reply of a site, if there is one. */
export function ruleFor(siteKey: string, response: string): ReplyRule | undefined {
  const text = response.slice(0, TEXT_MAX).toLowerCase()
  return REPLY_RULES.find(({ site, phrases }) => (site ?? siteKey) === siteKey && phrases.some((phrase) => text.includes(phrase)))
}

const TEXT_MAX = 2000
