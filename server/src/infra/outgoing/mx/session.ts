/** A session at a mail host, over which the mails of a site are sent, and which mails it may carry. */
import { matchesMx } from '../../../lib/mta-sts.ts'
import { CLOSING, type Envelope, type Replies, type Stage } from '../../../lib/smtp/session.ts'
import type { Connection } from '../smtp/connection.ts'
import type { DeliveryStep, OutgoingMail, RecipientOutcome, Route, SiteLimits } from './outcome.ts'

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
export type UnopenedOutcome = Extract<RecipientOutcome, { is: 'temporary' | 'permanent' }>

export type MxSession = {
  readonly connection: Connection<Waiting>
  readonly host: string
  /** Whether the TLSA records of the host were considered, and there were some. */
  readonly dane: 'unchecked' | 'none' | 'records'
  /** Whether it was opened for a domain that tests its MTA-STS policy, so that TLS was tried. */
  readonly isTest: boolean
  /** The steps before it was open, which the first mail reports. */
  readonly firstSteps: DeliveryStep[]
  /** How many mails it was given. */
  mails: number
  /** It takes no further mail. */
  isLeaving: boolean
}

/** May this session carry the mails of a route? Another domain of the site may have other hosts, and other demands on them. */
export function mayCarry({ connection, host, dane, isTest }: MxSession, route: Route, limits: SiteLimits): boolean {
  const { tls, hadBrokenTls } = connection.peer()
  if (!route.hosts.some((other) => other.host === host)) return false
  // Of a domain whose records are not validated, the TLSA records of the host prove nothing.
  if (route.isSecure ? dane === 'unchecked' : dane === 'records' && route.enforcedHosts) return false
  if (limits.isTlsRequired && !tls) return false
  if (route.isTested && hadBrokenTls && !isTest) return false
  return !route.enforcedHosts || dane === 'records' || (tls?.verified === true && matchesMx(route.enforcedHosts, host))
}

/** How often a mail goes over another connection because one that had carried others was closed. */
const LOSSES_MAX = 2

/** Whether the host has read nothing of a mail, because it ended a session that had carried others: it closed that, or replied 421 to the sender. */
export const isUnread = ({ mails }: MxSession, { losses }: Waiting, { mail }: Replies, stage?: Stage): boolean =>
  (stage === 'MAIL' || mail?.code === CLOSING) && mails > 1 && losses < LOSSES_MAX

/**
 * Whether a step is at a host of the route. The session may have been opened for a mail of another project, whose other hosts can have the name of
 * its domain, such as `example-com.mail.protection.outlook.com`.
 */
export const isOnRoute = (step: DeliveryStep, { hosts }: Route): boolean => 'host' in step && hosts.some(({ host }) => host === step.host)

/** Do both have the same hosts, of which the same is asked? Then what no host of one does, none does for the other. */
export const isSameRoute = (a: Route, b: Route): boolean => a === b || demandsOf(a) === demandsOf(b)

const demandsOf = ({ hosts, enforcedHosts, isSecure = false, isTested, isPartial }: Route): string =>
  JSON.stringify([hosts.map(({ host }) => host), enforcedHosts, isSecure, isTested === true, isPartial === true])

export const envelopeOf = ({ from, to, needs8Bit, needsSmtpUtf8, envelopeId, returns, reports }: OutgoingMail): Envelope => ({
  from,
  to,
  ...(needs8Bit && { needs8Bit }),
  ...(needsSmtpUtf8 && { needsSmtpUtf8 }),
  ...(envelopeId !== undefined && { reports: { envelopeId, ...(returns && { returns }), ...(reports && { recipients: reports }) } }),
})
