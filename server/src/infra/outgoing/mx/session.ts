/** A session at a mail host, over which the mails of a site are sent, and which mails it may carry. */
import type { Connection } from '../smtp/connection.ts'
import type { DeliveryStep, OutgoingMail, Route, SiteLimits } from './outcome.ts'

/** A mail without outcomes. */
export type Waiting = {
  readonly route: Route
  readonly mail: OutgoingMail
  /** What happened so far. */
  readonly steps: DeliveryStep[]
  /** How often its connection was lost before the host had read anything of it. */
  losses: number
  /** Whether a connection is being opened for it. */
  isOpening: boolean
  /** The connection for it could not be opened, so it waits for another one. */
  failed: UnopenedOutcome | null
}

/** Why no host of a route could be connected to. */
export type UnopenedOutcome = Extract<import('./outcome.ts').RecipientOutcome, { is: 'temporary' | 'permanent' }>

export type MxSession = {
  readonly connection: Connection<Waiting>
  readonly host: string
  /** The TLSA records of the host were considered. */
  readonly isDaneChecked: boolean
  /** What happened before it was open: the first mail tells it. */
  readonly firstSteps: DeliveryStep[]
  /** How many mails it was given. */
  mails: number
  /** It takes no further mail. */
  isLeaving: boolean
}

/** May this session carry the mails of a route? Another domain of the site may have other hosts, and other demands on them. */
export function mayCarry({ connection, host, isDaneChecked }: MxSession, route: Route, limits: SiteLimits): boolean {
  const { tls } = connection.peer()
  if (!route.hosts.some((other) => other.host === host)) return false
  if (route.isSecure && !isDaneChecked) return false
  if (limits.isTlsRequired && !tls) return false
  return !route.enforcedHosts || (tls?.verified === true && isEnforced(route.enforcedHosts, host))
}

/** Is this a host of the MTA-STS policy? `*.` stands for one label (RFC 8461 §4.1). */
export const isEnforced = (patterns: readonly string[], host: string): boolean => patterns.some((pattern) => matches(pattern, host))

function matches(pattern: string, host: string): boolean {
  const [wanted, name] = [pattern, host].map((text) => text.toLowerCase().replace(/\.$/, '')) as [string, string]
  return wanted.startsWith('*.') ? name.slice(name.indexOf('.')) === wanted.slice(1) && name.indexOf('.') > 0 : name === wanted
}
