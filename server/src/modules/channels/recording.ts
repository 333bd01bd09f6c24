/** Recorded replies and reports of providers, for the contract test of every provider. */
import type { PublicReply } from '../../infra/http/public-page.ts'
import type { Outgoing, ProviderResponse, Report } from './provider.ts'

/**
 * A reply of a provider. `refused`: the connection is refused. `cut`: the connection is closed after the request, without a reply.
 * `hang`: there is no reply.
 */
export type RecordedReply = { status: number; headers?: Record<string, string>; body?: string | object } | 'refused' | 'cut' | 'hang'

/** A reply of an SMTP relay: it refuses `at` a command, or closes the connection (`cut`). `CONNECT` is the greeting, `BODY` the end of the email. */
export type RelayReply =
  | 'accepted'
  | 'refused'
  | { at: 'CONNECT' | 'AUTH' | 'MAIL' | 'RCPT' | 'BODY'; code: number; text: string }
  | { at: 'CONNECT' | 'MAIL' | 'RCPT' | 'BODY'; cut: true }

/** One attempt: the replies to its requests, in order, and its outcome. */
export type Exchange<R = RecordedReply> = {
  replies: R[]
  /** Members of the outcome. */
  outcome: Partial<ProviderResponse> & Pick<ProviderResponse, 'is'>
  /** Members of each request, in order: `method`, `url`, `headers`, `json`, `form`, `body`. */
  requests?: Record<string, unknown>[]
  /** Members of the message that differ from the usual ones. */
  message?: Partial<Outgoing>
}

/** The cases that every recording has. `nonsense`: a reply that cannot be parsed. `refused`, `cut`: no connection, or a lost one. */
export const CASES = ['success', 'bad_recipient', 'throttled', 'outage', 'nonsense', 'refused', 'cut'] as const
export type Case = (typeof CASES)[number]

/** A callback; by default a POST to `CALLBACK_URL`. */
export type RecordedCall = { headers?: Record<string, string>; query?: string; body?: string }

export type RecordedCallback = {
  name: string
  /** Creates the call at `now`, with a signature if the provider signs. */
  call(now: Date): RecordedCall | Promise<RecordedCall>
  /** Replies to requests while it is verified, such as for a certificate. */
  replies?: RecordedReply[]
}

/** An email with every member and a header. */
export const FULL_EMAIL = {
  headers: { 'List-Unsubscribe': '<https://carillon.test/u/1>' },
  content: {
    from: 'Carillon <hello@example.com>',
    to: 'kim@example.org',
    cc: 'Ana <ana@example.org>',
    bcc: 'boss@example.org',
    reply_to: 'help@example.com',
    subject: 'Hello',
    html: '<p>Hello Kim</p>',
    text: 'Hello Kim',
  },
}

/** The URL of callbacks in recordings. */
export const CALLBACK_URL = 'https://carillon.test/callbacks/providers/7'

/** The address of the fake provider. */
export type StandIn = { host: string; port: number }

/** The recording of one provider. `R` is the type of its replies. */
type Recorded<R> = {
  /** All settings, with values that work. */
  settings(standIn: StandIn): Record<string, unknown>
  /** Members of the message that differ from the usual ones of the channel. */
  message?: Partial<Outgoing>
  sends: Record<Case, Exchange<R>> & Record<string, Exchange<R>>
  /** Provider tests: their replies, and whether they work. */
  tests: { replies: R[]; works: boolean; requests?: Record<string, unknown>[] }[]
  callbacks?: {
    genuine: (RecordedCallback & { reports: Partial<Report>[]; reply?: Partial<PublicReply> })[]
    /** Calls that must be `unverified`: with a bad, a missing and an old signature. */
    forged: RecordedCallback[]
  }
}

/** The recording of a provider over HTTPS, or of an SMTP relay. */
export type Recording = { over: 'https' } & Recorded<RecordedReply>
export type RelayRecording = { over: 'relay' } & Recorded<RelayReply>

/** The recording of a provider without network. */
export type LocalRecording = { over: 'nothing'; outcome: Exchange['outcome'] }

/** Declares the recording of a provider over HTTPS. */
export const recording = (definition: Recording): Recording => definition
