import type { Static, TSchema } from 'typebox'

/** Something that happened, for outsiders, before it is stored. Made by `of` of its signal. */
export type WebhookEvent = { type: string; data: object; occurredAt: Date | undefined }

/** A kind of news: what it means, what it carries, and an example of it. */
export type EventKind<T extends string, S extends TSchema> = {
  /** The name on the wire. Once shipped, never changed. */
  type: T
  /** When it is sent, in one sentence for the API reference. */
  summary: string
  /** The `data` of the payload. */
  data: S
  sample: Static<S>
  /** It happened, now or at a time that is told. */
  of(data: Static<S>, occurredAt?: Date): WebhookEvent
}

/** Declares a kind of news. */
export const eventKind = <const T extends string, S extends TSchema>(definition: Omit<EventKind<T, S>, 'of'>): EventKind<T, S> => ({
  ...definition,
  of: (data, occurredAt) => ({ type: definition.type, data, occurredAt }),
})
