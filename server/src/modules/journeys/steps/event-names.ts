/** The names of events that the server writes. */
import { CHANNELS } from '../../../lib/channels.ts'
import { MEMBERSHIP_EVENTS } from '../../rules/index.ts'

const USER_EVENTS = ['user_created', 'subscribed', 'unsubscribed']
const MESSAGE_ACTIONS = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'failed']
const OF_USERS = ['opened', 'clicked']

const namesOf = (actions: string[]) => CHANNELS.flatMap((channel) => actions.map((action) => `${channel}_${action}`))

const STARTING = new Set([...USER_EVENTS, ...namesOf(OF_USERS)])
const RESERVED = new Set([...STARTING, 'user_updated', ...MEMBERSHIP_EVENTS, ...namesOf(MESSAGE_ACTIONS)])

/** Whether only the server writes events with this name, so that a step must not record one. */
export const isReservedName = (name: string): boolean => RESERVED.has(name)

/** Whether a system event can make users enter: they did something, or were created. Lists have a trigger of their own. */
export const isStartingName = (name: string): boolean => STARTING.has(name)
