import { type Static, Type } from 'typebox'
import type { SubscriptionId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { afterEffect, EFFECT_PATHS } from './effects.ts'
import { idAt, missingOf } from './settings.ts'
import { type Case, step } from './step.ts'

const Settings = Exact({
  subscription_id: Type.Optional(IdOf<SubscriptionId>({ description: 'The subscription type.' })),
  state: Type.Optional(
    Type.Unsafe<0 | 1>({
      type: 'integer',
      enum: [0, 1],
      description:
        '0 unsubscribes the user, and 1 subscribes the user. A user who has unsubscribed is not subscribed again, and a confirmed user stays confirmed.',
    }),
  ),
})
type Settings = Static<typeof Settings>

const off: Settings = { subscription_id: 3 as SubscriptionId, state: 0 }
const on: Settings = { subscription_id: 3 as SubscriptionId, state: 1 }

const CASES: Case<Settings>[] = [
  {
    title: 'unsubscribes',
    settings: off,
    decides: { is: 'do', effect: { is: 'subscription', subscriptionId: 3 as SubscriptionId, state: 0 } },
  },
  {
    title: 'subscribes',
    settings: on,
    decides: { is: 'do', effect: { is: 'subscription', subscriptionId: 3 as SubscriptionId, state: 1 } },
  },
  {
    title: 'recorded',
    settings: off,
    given: { input: { is: 'done', result: { is: 'applied' } } },
    decides: { is: 'go', path: 'default', reason: 'applied' },
  },
  {
    title: 'an explicit opt-out is kept',
    settings: on,
    given: { input: { is: 'done', result: { is: 'applied', note: 'consent_kept' } } },
    decides: { is: 'go', path: 'default', reason: 'consent_kept' },
  },
  {
    title: 'unchanged',
    settings: on,
    given: { input: { is: 'done', result: { is: 'applied', note: 'unchanged' } } },
    decides: { is: 'go', path: 'default', reason: 'unchanged' },
  },
  {
    title: 'the type is deleted',
    settings: on,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'subscription_gone' } } },
    decides: { is: 'go', path: 'failed', reason: 'subscription_gone' },
  },
  { title: 'a timer changes nothing', settings: on, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
]

export const subscription = step({
  label: 'Change a subscription',
  description: 'Subscribes the user to a subscription type, or unsubscribes the user from it.',
  also: ['subscribe', 'unsubscribe', 'subscription preference', 'consent', 'topic'],
  settings: Settings,
  example: { subscription_id: 3 as SubscriptionId, state: 0 },
  sentence: 'unsubscribe from the type 3',
  references: ({ subscription_id }) => ({ ids: idAt('subscription', subscription_id, 'subscription_id'), rules: [] }),
  paths: () => EFFECT_PATHS,
  faults: (settings, when) => (when === 'published' ? missingOf(settings, 'subscription_id', 'state') : []),
  decide: ({ subscription_id, state }, { input }) => {
    if (input.is === 'done') return afterEffect(input.result)
    if (input.is !== 'arrived' || subscription_id === undefined || state === undefined) return { is: 'stay' }
    return { is: 'do', effect: { is: 'subscription', subscriptionId: subscription_id, state } }
  },
  tell: ({ subscription_id, state }, { path, reason }) => {
    if (path === 'failed') return `The subscription ${subscription_id} could not be changed (${reason}).`
    if (reason === 'consent_kept') return `The user’s own choice for the subscription ${subscription_id} was kept.`
    if (reason === 'unchanged') return `The subscription ${subscription_id} was already in this state.`
    return state === 0 ? `Was unsubscribed from ${subscription_id}.` : `Was subscribed to ${subscription_id}.`
  },
  cases: CASES,
})
