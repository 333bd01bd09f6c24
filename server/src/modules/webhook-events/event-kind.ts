import type { Static, TSchema } from 'typebox'

/** A webhook event that is not stored yet. Only `of` of its kind creates one. */
export type WebhookEvent = { type: string; data: object; occurredAt: Date | undefined }

/** A kind of webhook event: its type, its data and a sample. */
export type EventKind<T extends string, S extends TSchema> = {
  /** The event type. It must never change after its release. */
  type: T
  /** When it is sent, as a sentence for the API reference. */
  summary: string
  /** The schema of `data` in the payload. */
  data: S
  sample: Static<S>
  /** Creates an event, which occurred now or at the given time. */
  of(data: Static<S>, occurredAt?: Date): WebhookEvent
}

/** Declares a kind of webhook event. */
export const eventKind = <const T extends string, S extends TSchema>(definition: Omit<EventKind<T, S>, 'of'>): EventKind<T, S> => ({
  ...definition,
  of: (data, occurredAt) => ({ type: definition.type, data, occurredAt }),
})
