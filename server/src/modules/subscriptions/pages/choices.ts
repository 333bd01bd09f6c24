/** What somebody chose on the preference centre. Pure. */
import type { SubscriptionId } from '../../../lib/ids.ts'
import type { Channel } from '../../../lib/shapes.ts'
import type { Standing, SubscriptionState } from '../schema.ts'

/** Are the messages of a type wanted? Not those of a channel on which somebody gave up everything, whatever a type says. */
export const isWanted = ({ state, channel }: Pick<Standing, 'state' | 'channel'>, givenUp: ReadonlySet<Channel>) =>
  state >= 1 && !givenUp.has(channel)

/** May people choose it? What is sent in any case is told them, but not asked. */
export const isChoice = ({ is_public, is_transactional }: Pick<Standing, 'is_public' | 'is_transactional'>) =>
  is_public && !is_transactional

/** The form as it came: the types that were on the page, and those that were ticked. */
export type Form = { shown: Set<number>; ticked: Set<number> }

/** Reads the form; what is no number is left out. */
export function readForm(body: Buffer): Form & { all: boolean } {
  const fields = new URLSearchParams(body.toString('utf8'))
  const ids = (name: string) => new Set(fields.getAll(name).map(Number).filter(Number.isSafeInteger))
  return { shown: ids('shown'), ticked: ids('on'), all: fields.has('all') }
}

export type Choices = {
  changes: { subscription_id: SubscriptionId; state: SubscriptionState }[]
  /** Where messages are wanted again. */
  channels: Set<Channel>
  /** Does any of it take a confirmation? */
  confirms: boolean
}

/**
 * What is to be written. A box that was left unticked is a no, even where nothing was said before; one that was ticked all along
 * is no new yes, because nobody agrees by leaving a box as it is. A type that was not on the page yet is left alone.
 */
export function choicesOf(standings: Standing[], givenUp: ReadonlySet<Channel>, { shown, ticked }: Form): Choices {
  const asked = standings.filter((type) => isChoice(type) && shown.has(type.id))
  const off = asked.filter(({ id }) => !ticked.has(id))
  const on = asked.filter((type) => ticked.has(type.id) && (!isWanted(type, givenUp) || isAwaiting(type)))
  return {
    changes: [
      ...off.map(({ id }) => ({ subscription_id: id, state: 0 as const })),
      ...on.map(({ id }) => ({ subscription_id: id, state: 1 as const })),
    ],
    channels: new Set(on.map(({ channel }) => channel)),
    confirms: on.some(({ requires_confirmation, state }) => requires_confirmation && state < 2),
  }
}

/** Somebody said yes and has yet to confirm it. */
export const isAwaiting = ({ requires_confirmation, state }: Pick<Standing, 'requires_confirmation' | 'state'>) =>
  requires_confirmation && state === 1
