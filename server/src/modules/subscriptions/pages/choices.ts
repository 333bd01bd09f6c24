/** The choices of a user in the preference centre. Pure. */
import { addressOf, type Channel, channels, hasAddresses } from '../../../lib/channels.ts'
import type { SubscriptionId } from '../../../lib/ids.ts'
import type { SubscriptionState, TypeWithState } from '../schema.ts'

/** Whether a user gets messages of a type. Never on a channel on which they unsubscribed from everything. */
export const isWanted = ({ state, channel }: Pick<TypeWithState, 'state' | 'channel'>, givenUp: ReadonlySet<Channel>) =>
  state >= 1 && !givenUp.has(channel)

/** Whether users can choose a type. Transactional types are only listed. */
export const isChoice = ({ is_public, is_transactional }: Pick<TypeWithState, 'is_public' | 'is_transactional'>) =>
  is_public && !is_transactional

/** The addresses and devices of a user. */
type Reach = { email: string | null; phone: string | null; has_push_device: boolean }

/**
 * Whether a user can get messages of the channel: at an address or on a device that they have, or in the app. Webhooks go to other systems
 * (D-SUB-2).
 */
export function canReceive(channel: Channel, user: Reach): boolean {
  if (hasAddresses(channel)) return addressOf(channel, user) !== null
  const { recipient } = channels[channel]
  return recipient === 'devices' ? user.has_push_device : recipient === 'inbox'
}

/** The submitted form: the types that were on the page, and those that were ticked. */
export type Form = { offered: Set<number>; ticked: Set<number> }

/** Reads the form; `all` and `stop` are its buttons. Values that are not numbers are ignored. */
export function readForm(body: Buffer): Form & { all: boolean; stop?: true } {
  const fields = new URLSearchParams(body.toString('utf8'))
  const ids = (name: string) => new Set(fields.getAll(name).map(Number).filter(Number.isSafeInteger))
  return { offered: ids('shown'), ticked: ids('on'), all: fields.has('all'), ...(fields.has('stop') && { stop: true }) }
}

export type Choices = {
  /** The types that the user got until now and wants no more. Those that were unticked before are no new opt-out. */
  left: TypeWithState[]
  changes: { subscription_id: SubscriptionId; state: SubscriptionState }[]
  /** The types to subscribe to. */
  optedIn: TypeWithState[]
  /** Whether any type requires a confirmation. */
  confirms: boolean
}

/**
 * The changes to save. An unticked box is an opt-out, even if no state was stored. A box that was ticked before is not a new opt-in,
 * because leaving a box as it is does not express consent. Types that were not on the page do not change.
 */
export function choicesOf(types: TypeWithState[], givenUp: ReadonlySet<Channel>, { offered, ticked }: Form): Choices {
  const shown = types.filter((type) => isChoice(type) && offered.has(type.id))
  const off = shown.filter(({ id }) => !ticked.has(id))
  const on = shown.filter((type) => ticked.has(type.id) && (!isWanted(type, givenUp) || isAwaiting(type)))
  return {
    left: off.filter((type) => isWanted(type, givenUp)),
    changes: [
      ...off.map(({ id }) => ({ subscription_id: id, state: 0 as const })),
      ...on.map(({ id }) => ({ subscription_id: id, state: 1 as const })),
    ],
    optedIn: on,
    confirms: on.some(({ requires_confirmation, state }) => requires_confirmation && state < 2),
  }
}

/** Whether a user has opted in and not confirmed yet. */
export const isAwaiting = ({ requires_confirmation, state }: Pick<TypeWithState, 'requires_confirmation' | 'state'>) =>
  requires_confirmation && state === 1
