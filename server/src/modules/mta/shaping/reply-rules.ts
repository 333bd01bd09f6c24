/** What replies mean for a whole site: it is slowed or suspended for a time. Facts that operators and providers publish. A table. */
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import type { SomeLimits } from './limits.ts'
import { hasAny, normalised } from './phrases.ts'

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
    phrases: ['rl000001', 'rl000002', 'rl000003', 'rl000004', 'rl000005', 'rl000006', 'rl000007', 'rl000008', 'rl000009', 'rl000010'],
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
      'rate limits',
      'rate limited',
      'rate limiting',
      'rate-limited',
      'rate-limiting',
      'rate exceeded',
      'throttle',
      'throttled',
      'throttling',
      'sending too quickly',
      'sending mail too quickly',
      'sending messages too quickly',
      'server busy',
      'server is busy',
      'slow down',
    ],
    repliesInAnHour: 3,
    does: { is: 'slow', to: { connections: 2, mails_per_second: 1 }, forMs: 30 * MINUTE_MS },
  },
]

/** A reply, as far as rules read it. */
export type RuledReply = { enhancedCode?: string; response: string }

/** The rule for a reply of a site, if there is one. What is about one mailbox says nothing about the site. */
export function ruleFor(siteKey: string, { enhancedCode, response }: RuledReply): ReplyRule | undefined {
  if (enhancedCode?.split('.')[1] === MAILBOX_SUBJECT) return undefined
  const text = normalised(response.slice(0, TEXT_MAX))
  return REPLY_RULES.find(({ site, phrases }) => (site ?? siteKey) === siteKey && hasAny(text, phrases))
}

/** Of enhanced codes (RFC 3463 §3.3). */
const MAILBOX_SUBJECT = '2'
const TEXT_MAX = 2000
