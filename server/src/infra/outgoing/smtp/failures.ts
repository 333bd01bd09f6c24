/** Why there is no session with a server, or no longer one, and what is known of that server. */
import type { Reply } from '../../../lib/smtp/replies.ts'
import type { Stage } from '../../../lib/smtp/session.ts'

/** Where an attempt failed: at a stage of the session, or before it. `TLS` is that of connections that are encrypted from the first byte. */
export type FailedStage = Stage | 'DNS' | 'CONNECT' | 'TLS'

/** Why there is no session, or no longer one. The reply of a broken one is a refusal of TLS that is required. */
export type Failure =
  | { is: 'refused'; stage: Stage; reply: Reply; peer: Peer }
  | { is: 'broken'; stage: FailedStage; error: Error & { code?: string }; reply?: Reply; peer?: Peer }

/**
 * The host at the other end. `plainBecause`: why the connection is not encrypted although that was wanted. `isDane`: the host has TLSA records (RFC 7672),
 * which the connection must agree with, or they could not be looked up. `hadBrokenTls`: TLS failed over another connection, so that it was
 * not asked for over this one.
 */
export type Peer = { ip?: string; tls?: PeerTls; plainBecause?: string; isDane?: true; hadBrokenTls?: true }
type PeerTls = { protocol: string; cipher: string; verified: boolean }

/** The code of the error when TLS is required and not offered. */
export const NO_TLS = 'ENOTLS'

/** TLS is required, and the server does not offer it, or refuses it with this reply. */
export const withoutTls = (peer: Peer, reply: Reply | undefined): Failure => ({
  is: 'broken',
  stage: 'STARTTLS',
  error: Object.assign(new Error('The server offers no TLS'), { code: NO_TLS }),
  ...(reply && { reply }),
  peer,
})
