import type { Static, TSchema } from 'typebox'

/** Something that happened, for outsiders, before it is stored. Made by `of` of its signal. */
export type Happened = { type: string; data: object; occurredAt: Date | undefined }

/** A kind of news: what it means, what it carries, and an example of it. */
export type Signal<T extends string, S extends TSchema> = {
  /** The name on the wire. Once shipped, never changed. */
  type: T
  /** When it is sent, in one sentence for the API reference. */
  summary: string
  /** The `data` of the payload. */
  data: S
  sample: Static<S>
  /** It happened, now or at a time that is told. */
  of(data: Static<S>, occurredAt?: Date): Happened
}

/** Declares a kind of news. */
export const signal = <const T extends string, S extends TSchema>(definition: Omit<Signal<T, S>, 'of'>): Signal<T, S> => ({
  ...definition,
  of: (data, occurredAt) => ({ type: definition.type, data, occurredAt }),
})
