import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { PublicReply } from '../../infra/http/public-page.ts'
import type { SafeFetch } from '../../infra/outgoing/safe-fetch.ts'
import type { SmtpRelays } from '../../infra/outgoing/smtp-relays.ts'
import type { Clock } from '../../lib/clock.ts'
import type { MessageId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'

/** A finished message: whom it reaches, one line for lists, and what it says. */
export type Rendered = { channel: Channel; recipient: string; summary: string; content: Record<string, unknown> }

/** A device that takes pushes. The token is a credential: it goes to the push service and nowhere else. */
export type PushTarget = { device_id: string; os: string | null; token: string }

/** A finished message on its way out. */
export type Outgoing = Rendered & {
  id: MessageId
  /** The same at every attempt of this message, and no other's: vendors that know idempotency keys get it. At most 64 of `[A-Za-z0-9_-]`. */
  key: string
  /** Headers of a mail beyond what its content says, such as `List-Unsubscribe`. */
  headers: Record<string, string>
  /** The person's devices; for pushes only. */
  devices: PushTarget[]
}

/** What became of a handover. Whatever a provider answers is one of these; `send` never throws. */
export type ProviderResponse =
  /**
   * It is the provider's now. `delivered` says that it is known to have arrived; otherwise a report may follow, under `reference`.
   * A `capture` or `inbox` copy is stored in the transaction that settles the message. `deadTokens` are those of devices that are gone.
   */
  | { is: 'accepted'; delivered: boolean; reference?: string; capture?: Rendered; inbox?: Rendered; deadTokens?: string[] }
  /** It never will be. `bounced` says that the address is at fault, and is to get nothing more. */
  | { is: 'rejected'; reason: string; code?: string; bounced?: true; deadTokens?: string[] }
  /** Not now: try again, at `retryAt` when the provider says so. */
  | { is: 'deferred'; reason: string; code?: string; retryAt?: Date }
  /** The vendor may have it or not: the connection broke after everything was sent. Never sent again blindly. */
  | { is: 'uncertain'; reason: string }

/** All that a provider may reach, and where its vendor reports to: without a query, so that one may be added. */
export type ProviderTools = { fetch: SafeFetch; smtp: SmtpRelays; clock: Clock; baseUrl: string; callbackUrl: string }

/** What a vendor tells us later of a message, or a person of themselves. */
export type Report = {
  /** `bounced` is for good and of the address; `failed` is for good; `delayed` is for information. `received` is a message from a person. */
  what: 'delivered' | 'bounced' | 'failed' | 'complained' | 'unsubscribed' | 'delayed' | 'received'
  /** Our id, when the vendor gives it back; otherwise the vendor's own. */
  messageId?: MessageId
  reference?: string
  at: Date
  /** The address or number that it is about; of a received message, the sender's. */
  address?: string
  code?: string
  diagnostic?: string
  /** Of a received message: what it says. */
  text?: string
}

/** A vendor's call as it came. */
export type Callback = {
  headers: IncomingHttpHeaders
  query: URLSearchParams
  body: Buffer
  /** The whole address that was called. */
  url: string
}

/**
 * What it said; `reply` when the vendor expects other than an empty 204, `answer` when it takes words for the person who wrote
 * as the reply to this very call. Or that its signature does not verify.
 */
export type CallbackReading =
  | { is: 'read'; reports: Report[]; reply?: PublicReply; answer?: (text: string) => PublicReply }
  | { is: 'unverified' }

/** Somebody who carries messages. */
export type Provider<S extends TSchema = TSchema> = {
  label: string
  channels: readonly Channel[]
  /** What has to be configured, with a `title` each; secrets are `writeOnly`. An `Exact` object. */
  settings: S
  /** Rules about the values together. */
  check?(settings: Static<S>): { param: string; message: string }[]
  /** May a handover that was begun be repeated, because nothing leaves the database before it is settled? */
  repeatable: boolean
  /** Does the vendor carry out a handover with the same `key` once? Then one in doubt is repeated. */
  idempotent: boolean
  /** How many handovers of one process are under way at once. */
  atOnce: number
  send(settings: Static<S>, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse>
  /** Do the settings work? Sends nothing to anybody. Never throws. */
  test(settings: Static<S>, outside: ProviderTools): Promise<{ works: true } | { works: false; message: string }>
  /** Reads the vendor's callbacks; absent when it makes none. */
  read?(settings: Static<S>, callback: Callback, outside: ProviderTools): Promise<CallbackReading>
}

/** Declares a provider. */
export const provider = <S extends TSchema>(definition: Provider<S>): Provider => definition as unknown as Provider

/** What of a message may be kept: tokens of devices are credentials and stay outside. */
export const rendered = ({ channel, recipient, summary, content }: Outgoing): Rendered => ({ channel, recipient, summary, content })
