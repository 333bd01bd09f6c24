import type { Static, TSchema } from 'typebox'

/** What a channel needs to know of the person it writes to. */
export type Contact = {
  external_id: string | null
  anonymous_id: string | null
  email: string | null
  phone: string | null
  has_push_device: boolean
}

/** Why a channel cannot reach somebody. */
export type Unreachable = 'no_address' | 'no_push_device'

/** A finished message: whom it reaches, one line for lists, and what it says. Or why the template came to nothing. */
export type Composed<T> = { recipient: string; summary: string; content: T } | { problem: string }

/** A way to reach people. */
export type ChannelKind<S extends TSchema = TSchema> = {
  /** A finished message, as it is handed to a provider and shown in the sandbox. */
  content: S
  /** Makes the message out of a template that was filled in; only for people who can be reached. */
  compose(filled: Record<string, unknown>, contact: Contact): Composed<Static<S>>
  /** A message, for tests of providers. */
  sample: { recipient: string; content: Static<S> }
}

/** Declares a channel. `T` are the members of its templates. */
export const channel = <S extends TSchema, T>(
  kind: Omit<ChannelKind<S>, 'compose'> & { compose(filled: T, contact: Contact): Composed<Static<S>> },
): ChannelKind<S> => kind as unknown as ChannelKind<S>

/** What a person is called where an address would stand. */
export const nameOf = ({ external_id, anonymous_id }: Contact): string => external_id ?? anonymous_id ?? ''

/** For everything that becomes a header: what people put into their attributes must not begin another one. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()

const SUMMARY_LENGTH_MAX = 200

/** One line for lists of messages. */
export function summarise(text: string): string {
  const characters = [...oneLine(text.slice(0, 4 * SUMMARY_LENGTH_MAX))]
  return characters.length <= SUMMARY_LENGTH_MAX ? characters.join('') : `${characters.slice(0, SUMMARY_LENGTH_MAX - 1).join('')}…`
}

/** The members that say something. */
export const filledOnly = <T extends Record<string, string | undefined>>(members: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== '')) as { [K in keyof T]?: string }
