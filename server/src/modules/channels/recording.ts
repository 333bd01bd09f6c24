/** What vendors were seen to answer and to report, as data for the test that every provider has to pass. */
import type { PublicReply } from '../../infra/http/public-page.ts'
import type { Outgoing, ProviderResponse, Report } from './provider.ts'

/**
 * An answer of a vendor. `refused`: nobody listens. `cut`: the request was taken whole, and the line closed without an
 * answer. `hang`: it was taken, and nothing comes.
 */
export type RecordedReply = { status: number; headers?: Record<string, string>; body?: string | object } | 'refused' | 'cut' | 'hang'

/** An answer of a mail relay: `at` a command (`CONNECT` is the greeting, `BODY` what follows the mail) it refuses, or it is `cut` off there. */
export type RelayReply =
  | 'accepted'
  | 'refused'
  | { at: 'CONNECT' | 'AUTH' | 'MAIL' | 'RCPT' | 'BODY'; code: number; text: string }
  | { at: 'CONNECT' | 'MAIL' | 'RCPT' | 'BODY'; cut: true }

/** One handover: what is answered to its requests, one after the other, and what comes of it. */
export type Exchange<R = RecordedReply> = {
  replies: R[]
  /** Members that the outcome must have; `is` among them. */
  outcome: Partial<ProviderResponse> & Pick<ProviderResponse, 'is'>
  /** Members that each request must have had, in order: `method`, `url`, `headers`, `json`, `form`, `body`. */
  requests?: Record<string, unknown>[]
  /** Members of the message that are other than usual. */
  message?: Partial<Outgoing>
}

/** What every vendor is asked for. `nonsense`: an answer that cannot be read. `refused` and `cut` are dead lines, before and after the body. */
export const CASES = ['success', 'bad_recipient', 'throttled', 'outage', 'nonsense', 'refused', 'cut'] as const
export type Case = (typeof CASES)[number]

/** A call of a vendor; the usual POST to `CALLBACK_URL` unless it says otherwise. */
export type RecordedCall = { headers?: Record<string, string>; query?: string; body?: string }

export type RecordedCallback = {
  name: string
  /** The call as it is made at `now`, signed where the vendor signs. */
  call(now: Date): RecordedCall | Promise<RecordedCall>
  /** What the vendor answers when it is asked back, for a certificate for example. */
  replies?: RecordedReply[]
}

/** The address that callbacks are made to in recordings. */
export const CALLBACK_URL = 'https://carillon.test/callbacks/providers/7'

/** Where the local stand-in of a vendor listens. */
export type StandIn = { host: string; port: number }

/** What is known of one provider, over whichever protocol: `R` is what its vendor answers with. */
type Recorded<R> = {
  /** All that can be set, with values that work. */
  settings(standIn: StandIn): Record<string, unknown>
  /** What is handed over, where it is other than usual for the channel. */
  message?: Partial<Outgoing>
  sends: Record<Case, Exchange<R>> & Record<string, Exchange<R>>
  /** The connection test: with these replies it works, or does not. */
  tests: { replies: R[]; works: boolean; requests?: Record<string, unknown>[] }[]
  callbacks?: {
    genuine: (RecordedCallback & { reports: Partial<Report>[]; reply?: Partial<PublicReply> })[]
    /** Each must be `unverified`: a bad, an absent and an old signature. */
    forged: RecordedCallback[]
  }
}

/** A provider whose vendor is asked over HTTPS, or the relay of a customer over SMTP. */
export type Recording = { over: 'https' } & Recorded<RecordedReply>
export type RelayRecording = { over: 'relay' } & Recorded<RelayReply>

/** A provider that no vendor stands behind. */
export type LocalRecording = { over: 'nothing'; outcome: Exchange['outcome'] }

/** Declares the recording of a vendor that is spoken to over HTTPS. */
export const recording = (definition: Recording): Recording => definition
