/** What is delivered to the mail hosts of a domain, over which route, and what happened to it, recipient by recipient. Types only. */
import type { MayBeSent, RecipientReports } from '../../../lib/smtp/session.ts'
import type { FailedStage, Peer } from '../smtp/failures.ts'
import type { ConnectionFault } from '../smtp/words.ts'
import type { SmtpReply } from '../smtp-relays.ts'

/**
 * What happened at one step of an attempt, in order; each is a webhook event. `peer` may say that the connection was not encrypted: the
 * step that tells it is among these already.
 */
export type DeliveryStep =
  | { is: 'mx-lookup-failed'; domain: string; reason: string; fallback?: 'implicit-mx' }
  | { is: 'null-mx'; domain: string }
  | { is: 'ip-lookup-failed'; host: string; reason: string }
  | {
      is: 'failed'
      host: string
      stage: FailedStage
      peer: Peer
      reply?: SmtpReply
      reason: string
      /** At `RCPT`: the recipient. */
      to?: string
      /** How delivery continues after TLS could not be established. */
      fallback?: 'plaintext' | 'next-host' | 'none'
      /** STARTTLS is not offered. `required`: this host gets nothing without it. */
      noTls?: true
      required?: boolean
      /** There was no reply after the last byte of the mail, so the host may have it. */
      uncertain?: true
      /** It happened to the connection that was opened for another mail, whose attempt has the step too. */
      isShared?: true
    }

/**
 * What happened to one recipient. `reply` is that of the host; without a `host` it is ours, with the code that the fact has in the RFCs. `fault` is
 * what was wrong with the connection, if there was no reply because of that. `isOfSender`: the host has refused the sender, before it
 * knew of the recipient. `isShared`: no host could be connected to for another mail, whose attempt has the outcome too.
 */
export type RecipientOutcome =
  | { is: 'delivered'; host: string; peer: Peer; reply: SmtpReply }
  | { is: 'permanent'; reason: string; host?: string; reply?: SmtpReply; isOfSender?: true; isShared?: true }
  /** `site`: it says something about the host, such as that it is busy, and nothing about the recipient. */
  | {
      is: 'temporary'
      reason: string
      host?: string
      reply?: SmtpReply
      isOfSender?: true
      isShared?: true
      fault?: ConnectionFault
      scope: 'recipient' | 'site'
    }
  | { is: 'uncertain'; reason: string; host: string; fault?: ConnectionFault }

/**
 * Each recipient of the mail has exactly one outcome, under the address as it was given. With `postponedTo` there is none: nothing was sent, because
 * the site gets no further connection before this time.
 */
export type AttemptOutcome = { steps: DeliveryStep[]; recipients: Map<string, RecipientOutcome>; elapsedMs: number; postponedTo?: number }

/**
 * `envelopeId` is returned in reports about the mail (ENVID of RFC 3461), with as much of it as `returns` says; `reports` are those that the
 * sender asks for, in the order of `to`. `from` is empty for the null sender.
 */
export type OutgoingMail = {
  from: string
  to: readonly string[]
  content: Buffer
  needs8Bit?: boolean
  needsSmtpUtf8?: boolean
  envelopeId?: string
  returns?: 'FULL' | 'HDRS'
  reports?: readonly RecipientReports[]
  /** Asked right before the commands of the mail and before its content. Once it is false, nothing is sent, and no outcome counts. */
  mayBeSent?: MayBeSent
}

/** The mail hosts of a domain, best first; `routeOf` makes it. Domains with the same `site` share connections and limits. */
export type Route = {
  site: string
  domain: string
  hosts: readonly { host: string; preference: number }[]
  /** The steps of the look-up, which are the first ones of each attempt over this route. */
  steps: readonly DeliveryStep[]
  /** The answer about the hosts was validated, so their TLSA records count (RFC 7672). */
  isSecure?: boolean
  /** The patterns of an MTA-STS policy in the mode `enforce` (RFC 8461): other hosts get no mail, and these need a valid certificate. */
  enforcedHosts?: readonly string[]
  /** There is an MTA-STS policy in the mode `testing`. */
  isTested?: true
  /** Further hosts are left out for now. */
  isPartial?: true
}

/** What a site takes from this process at the same time, and over one connection. */
export type SiteLimits = {
  connections: number
  mailsPerConnection: number
  isTlsRequired?: boolean
  /** Asked before each new connection: whether it may be opened now, and when the next one may be. */
  admitConnection?(): { isAdmitted: boolean; nextAt: number }
}

/** Delivers mails over connections that it keeps for each site. `deliver` does not throw: what goes wrong is an outcome. */
export type MxClient = { deliver(route: Route, mail: OutgoingMail, limits: SiteLimits): Promise<AttemptOutcome>; close(): void }
