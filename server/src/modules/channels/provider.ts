import type { Static, TSchema } from 'typebox'
import type { PublicReply, RequestHeaders } from '../../infra/http/public-page.ts'
import type { MailOutside } from '../../infra/outgoing/mail.ts'
import type { SafeFetch } from '../../infra/outgoing/safe-fetch.ts'
import type { FailedStage, Peer } from '../../infra/outgoing/smtp/failures.ts'
import type { Mail, SmtpRelays, SmtpReply } from '../../infra/outgoing/smtp-relays.ts'
import { type Channel, hasAddresses } from '../../lib/channels.ts'
import type { Clock } from '../../lib/clock.ts'
import type { MessageId } from '../../lib/ids.ts'
import type { Attachment } from '../../lib/mime/compose.ts'
import type { Translations } from '../../lib/translated.ts'
import type { SendingDomain } from '../domains/index.ts'

/** How an email is taken that was composed in advance: as it is, or with the hash of its body, to be signed. */
export type MailTaken = 'composed' | 'hashed'

/** An email as its relay gets it. `bodyHash` is what DKIM signs of its body. */
export type ComposedMail = Mail & { messageId: string; bodyHash?: string }

/** A rendered message with its recipient and a summary for listings. */
export type Rendered = { channel: Channel; recipient: string; summary: string; content: Record<string, unknown> }

/** A device for push messages. The token is a credential that only the push service may get. */
export type PushTarget = { device_id: string; os: string | null; token: string }

/** A message to send. */
export type Outgoing = Rendered & {
  id: MessageId
  /** A unique key, the same for every attempt, for providers with idempotency keys. At most 64 characters of `[A-Za-z0-9_-]`. */
  key: string
  /** Additional headers of an email, such as `List-Unsubscribe`. */
  headers: Record<string, string>
  /** The domain of the default sender of emails, in place of that of the provider: the one of the campaign’s custom domain. */
  fromDomain?: string
  /** Not transactional. */
  isMarketing?: true
  /** There was an attempt before. */
  isRetry?: true
  /** Files of an email. */
  attachments?: readonly Attachment[]
  /** The email as it was composed in advance; only for providers that take it. Its content then lacks what is in it: HTML and text. */
  mail?: ComposedMail
  /** The devices of the user; for push messages only. */
  devices: PushTarget[]
  /** The message as it may be shown, if its request redacted values. */
  shown?: Rendered
}

/** The response to an attempt. `send` returns one of these, and does not throw. */
export type ProviderResponse =
  /**
   * The provider has accepted the message. If it is not known to be `delivered` yet, a report with `reference` may follow. The
   * transaction that records the result stores `sandbox` as a sandbox message, `inbox` as an inbox message, and `mail` in the mail queue.
   * `deadTokens` are device tokens that are no longer valid. `complained`: a complaint follows at once, from the simulator.
   */
  | {
      is: 'accepted'
      delivered: boolean
      reference?: string
      sandbox?: Rendered
      inbox?: Rendered
      mail?: QueuedMail
      deadTokens?: string[]
      smtp?: SmtpTrace
      complained?: true
    }
  /** The message cannot be sent. `bounced` means that the address is invalid and must be suppressed, unless the bounce is acted out. */
  | { is: 'rejected'; reason: string; code?: string; bounced?: true; isActedOut?: true; deadTokens?: string[]; smtp?: SmtpTrace }
  /**
   * Try again later, at `retryAt` if it is set. `isUncertain`: the provider may have the message, and takes it with the same key once.
   */
  | { is: 'deferred'; reason: string; code?: string; retryAt?: Date; isUncertain?: true; deadTokens?: string[]; smtp?: SmtpTrace }
  /** The connection broke after the request was sent, so the provider may have the message. It is not sent again automatically. */
  | { is: 'uncertain'; reason: string; deadTokens?: string[]; smtp?: SmtpTrace }

/**
 * An email that this server delivers itself, composed and signed. `to` begins with the recipient of the message; copies follow. Its content is in
 * pieces, so that it is not copied, and has this `size` in bytes.
 */
export type QueuedMail = {
  from: string
  to: string[]
  pieces: Buffer[]
  size: number
  messageId: string
  /** The domain of return paths; without one, what bounces is returned to the sender. */
  returnDomain: string | null
  needsSmtpUtf8: boolean
}

/** What an SMTP server replied about an email, for the webhook events of each stage. Without `failedAt`, it accepted the email. */
export type SmtpTrace = {
  host: string
  peer: Peer
  messageId: string
  reply?: SmtpReply
  failedAt?: FailedStage
  /** Encryption is required and not offered. */
  noTls?: true
}

/** The infrastructure that a provider can use, and the URL for its callbacks, which has no query. */
export type ProviderTools = {
  fetch: SafeFetch
  smtp: SmtpRelays
  clock: Clock
  baseUrl: string
  callbackUrl: string
  /** Delivery to mail hosts. `addresses` are those that email comes from, if they are configured. */
  mail: Pick<MailOutside, 'name' | 'reach'> & {
    resolver: Pick<MailOutside['resolver'], 'mx' | 'everyAddress' | 'names'>
    /** Whether this server needs a public name. */
    needsPublicName: boolean
    addresses: readonly string[]
  }
  /** The sending domain of the project for a From domain, verified for emails whose bounces go to `returnDomain` if there is one. */
  senderOf(fromDomain: string, returnDomain?: string): Promise<SendingDomain | undefined>
  /** The address at a domain that takes bounces and complaints of an email; null if this server takes none. */
  reportAddressOf(id: MessageId, domain: string): string | null
}

/** A delivery report of a provider, or a message that a user sent. */
export type Report = {
  /**
   * `bounced`: the address is invalid. `failed`: a permanent failure. `delayed`: information only. `fraud`, `virus`: complaints of these types.
   * `received`: a message from a user.
   */
  what: 'delivered' | 'bounced' | 'failed' | 'complained' | 'fraud' | 'virus' | 'unsubscribed' | 'delayed' | 'received'
  /** Our message id, if the provider returns it. Otherwise `reference` is the provider’s id. */
  messageId?: MessageId
  reference?: string
  at: Date
  /** The recipient’s address or number, or for a received message the sender’s. */
  address?: string
  code?: string
  diagnostic?: string
  /** The text of a received message. */
  text?: string
}

/** A provider callback, before it is verified. */
export type Callback = {
  headers: RequestHeaders
  query: URLSearchParams
  body: Buffer
  /** The full URL. */
  url: string
}

/**
 * The reports of a callback, or `unverified` if its signature is invalid. `reply` is set if the provider expects something else than
 * an empty 204. `answer` is set if the reply to this call can contain a text message to the user. `once` is set if the signature is not of the
 * content, but of this text: further calls with it are not applied, whatever they contain.
 */
export type CallbackReading =
  | { is: 'read'; reports: Report[]; once?: string; reply?: PublicReply; answer?: (text: string) => PublicReply }
  | { is: 'unverified' }

/** A kind of provider. */
export type Provider<S extends TSchema = TSchema> = {
  label: string
  /** German for the texts of its settings that `german.ts` does not have, and for its label. A name stays as it is. */
  german?: Translations
  channels: readonly Channel[]
  /**
   * For push services: the format of their device tokens, and the operating systems that they serve if no service knows the format.
   * `send` gets the devices of this service only.
   */
  devices?: { tokens: RegExp; systems: RegExp }
  /** The schema of the settings, an `Exact` object. Each setting has a `title`; secrets are `writeOnly`. */
  settings: S
  /** Checks rules that involve several settings. */
  check?(settings: Static<S>): { param: string; message: string }[]
  /** Can an interrupted attempt be repeated? True if nothing leaves the database before the result is recorded. */
  repeatable: boolean
  /** Does the provider accept an attempt with the same `key` only once, for at least a day? If so, an uncertain attempt is repeated meanwhile. */
  idempotent: boolean
  /** How it takes emails that worker threads composed in advance; absent if it takes none. */
  takesMail?: MailTaken
  /** How many attempts each process makes at the same time. */
  atOnce: number
  /** The largest email that the provider accepts, with files in base64. Absent if its servers have limits of their own, or none. */
  mailBytesMax?: number
  /** How many headers of a request the provider accepts in an email, and how long each may be. Absent if it has no such limits. */
  headersMax?: { count: number; characters: number }
  send(settings: Static<S>, message: Outgoing, outside: ProviderTools): Promise<ProviderResponse>
  /** Tests the settings without sending a message. Does not throw. */
  test(settings: Static<S>, outside: ProviderTools): Promise<{ works: true } | { works: false; message: string }>
  /** Verifies and reads callbacks; absent for providers without callbacks. */
  read?(settings: Static<S>, callback: Callback, outside: ProviderTools): Promise<CallbackReading>
}

/** Declares a provider. */
export const provider = <S extends TSchema>(definition: Provider<S>): Provider => definition as unknown as Provider

/** The part of a message that may be stored, without device tokens. */
export const rendered = ({ channel, recipient, summary, content }: Outgoing): Rendered => ({ channel, recipient, summary, content })

/** What the sandbox keeps of a message: without the values that its request redacted. */
export const forSandbox = (message: Outgoing): Rendered => message.shown ?? rendered(message)

/** What may be stored and shown of a message: without the values that its request redacted. An address of the user is none of these. */
export const shownOf = (channel: Channel, { recipient, content, shown }: Pick<Outgoing, 'recipient' | 'content' | 'shown'>) => ({
  recipient: shown && !hasAddresses(channel) ? shown.recipient : recipient,
  content: shown ? shown.content : content,
})
