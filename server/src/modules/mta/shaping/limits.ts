/** The limits on delivery to a site, and the narrowest of several. Pure. */
import { type Static, Type } from 'typebox'
import { Exact } from '../../../lib/shapes.ts'

const CONNECTIONS_MAX = 1000
const MAILS_MAX = 10_000
const RATE_MAX = 100_000

/** What a site may be sent at most. */
export const SiteLimits = Exact({
  connections: Type.Integer({ minimum: 1, maximum: CONNECTIONS_MAX, description: 'Connections at the same time.' }),
  mails_per_connection: Type.Integer({ minimum: 1, maximum: MAILS_MAX, description: 'Emails before a connection is closed.' }),
  connections_per_minute: Type.Number({ exclusiveMinimum: 0, maximum: RATE_MAX, description: 'New connections in a minute.' }),
  mails_per_second: Type.Number({
    exclusiveMinimum: 0,
    maximum: RATE_MAX,
    description: 'Emails in a second; 0.1 is one email every ten seconds.',
  }),
})
export type SiteLimits = Static<typeof SiteLimits>

/** Some of the limits. */
export const SomeLimits = Exact({
  connections: Type.Optional(SiteLimits.properties.connections),
  mails_per_connection: Type.Optional(SiteLimits.properties.mails_per_connection),
  connections_per_minute: Type.Optional(SiteLimits.properties.connections_per_minute),
  mails_per_second: Type.Optional(SiteLimits.properties.mails_per_second),
})
export type SomeLimits = Static<typeof SomeLimits>

/** For hosts of no known provider. */
export const DEFAULT_LIMITS: SiteLimits = { connections: 10, mails_per_connection: 100, connections_per_minute: 100, mails_per_second: 100 }

const NAMES = Object.keys(DEFAULT_LIMITS) as (keyof SiteLimits)[]

/** The lower one of each limit. */
export const narrowed = (limits: SiteLimits, others: SomeLimits): SiteLimits => {
  const least = { ...limits }
  for (const name of NAMES) least[name] = Math.min(limits[name], others[name] ?? limits[name])
  return least
}

/** The part of the limits that one of several processes may use. Each has at least one connection. */
export const shareOf = (limits: SiteLimits, processes: number): SiteLimits => ({
  ...limits,
  connections: Math.max(1, Math.floor(limits.connections / processes)),
  connections_per_minute: limits.connections_per_minute / processes,
  mails_per_second: limits.mails_per_second / processes,
})
