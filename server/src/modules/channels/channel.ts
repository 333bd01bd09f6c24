import type { Static, TSchema } from 'typebox'

/** The data of a user that channels need. */
export type Contact = {
  external_id: string | null
  anonymous_id: string | null
  email: string | null
  phone: string | null
  has_push_device: boolean
}

/** Why a channel cannot reach a user. */
export type Unreachable = 'no_address' | 'no_push_device'

/** A composed message with its recipient and a summary for listings, or the problem of the template. */
export type Composed<T> = { recipient: string; summary: string; content: T } | { problem: string }

/** A channel: a way to reach users. */
export type ChannelKind<S extends TSchema = TSchema> = {
  /** The schema of a message’s content, as providers get it and the sandbox shows it. */
  content: S
  /** Composes a message from a rendered template, for a user who can be reached. */
  compose(filled: Record<string, unknown>, contact: Contact): Composed<Static<S>>
  /** A message, for tests of providers. */
  sample: { recipient: string; content: Static<S> }
}

/** Declares a channel. `T` are the members of its templates. */
export const channel = <S extends TSchema, T>(
  kind: Omit<ChannelKind<S>, 'compose'> & { compose(filled: T, contact: Contact): Composed<Static<S>> },
): ChannelKind<S> => kind as unknown as ChannelKind<S>

/** The id of a user, as the recipient in channels without addresses. */
export const nameOf = ({ external_id, anonymous_id }: Contact): string => external_id ?? anonymous_id ?? ''

/** For values of headers: attributes of users must not be able to start another header. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim()

const SUMMARY_LENGTH_MAX = 200

/** A one-line summary, for listings of messages. */
export function summarise(text: string): string {
  const characters = [...oneLine(text.slice(0, 4 * SUMMARY_LENGTH_MAX))]
  return characters.length <= SUMMARY_LENGTH_MAX ? characters.join('') : `${characters.slice(0, SUMMARY_LENGTH_MAX - 1).join('')}…`
}

/** The members that are neither undefined nor empty. */
export const filledOnly = <T extends Record<string, string | undefined>>(members: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== '')) as { [K in keyof T]?: string }
