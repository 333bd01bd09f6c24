import type { Static, TSchema } from 'typebox'
import type { SafeFetch } from '../../infra/safe-fetch.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Channel } from '../../lib/shapes.ts'

/** A finished message, as a provider takes it. */
export type Rendered = { channel: Channel; recipient: string; summary: string; content: Record<string, unknown> }

/** What became of a handover. Whatever a provider answers is one of these; `send` never throws. */
export type Outcome =
  /**
   * It is the provider's now. `delivered` says that it is known to have arrived; otherwise a report will follow.
   * A `capture` is stored in the transaction that settles the message.
   */
  | { is: 'accepted'; delivered: boolean; capture?: Rendered }
  /** It never will be. */
  | { is: 'rejected'; reason: string; code?: string }
  /** Not now: try again, at `retryAt` when the provider says so. */
  | { is: 'deferred'; reason: string; code?: string; retryAt?: Date }

/** All that a provider may reach. */
export type Outside = { fetch: SafeFetch; clock: Clock }

/** Somebody who carries messages. */
export type Provider<S extends TSchema = TSchema> = {
  label: string
  channels: readonly Channel[]
  /** What has to be configured; secrets are `writeOnly`. */
  settings: S
  /** May a handover that was begun be repeated, because nothing leaves the database before it is settled? */
  repeatable: boolean
  send(settings: Static<S>, message: Rendered, outside: Outside): Promise<Outcome>
}

/** Declares a provider. */
export const provider = <S extends TSchema>(definition: Provider<S>): Provider => definition as unknown as Provider
