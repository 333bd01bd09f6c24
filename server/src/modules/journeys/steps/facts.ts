/** Which events and list changes end a wait or meet an exit criterion. Pure. */
import type { EventTest } from '../../rules/index.ts'
import { bits } from '../hashes.ts'
import { entryKeyIn, passes, readPath } from './settings.ts'
import type { Input, StepContext } from './step.ts'

type Event = Extract<Input, { is: 'event' }>

/** What of a decision's context says which events count. */
export type Inside = Pick<StepContext, 'event' | 'enteredAt' | 'now'> & { entrance: Pick<StepContext['entrance'], 'key' | 'keyPath'> }

/**
 * Whether an event counts for a user who is inside: it is not dated before the entry event, or else the entry, and does not carry another
 * entry key.
 */
function counts({ event: entry, enteredAt, entrance: { key, keyPath } }: Inside, { data, createdAt }: Event): boolean {
  const since = entry === null ? enteredAt.getTime() : Date.parse(entry.created_at)
  if (createdAt.getTime() < since) return false
  if (key === null || keyPath === null || readPath(keyPath, data) === undefined) return true
  return entryKeyIn(keyPath, data) === key
}

/** Whether an input is an event with this name that counts and passes the tests. */
export const isEvent = (context: Inside, input: Input, name: string, where: EventTest[] | undefined): input is Event =>
  input.is === 'event' && input.name === name && counts(context, input) && passes(where, input.data, context.now)

/** What meets a condition, as settings have it: an event that passes tests, or a change of a list. */
type WantedFact = { event_name?: string; where?: EventTest[]; list_id?: number; is?: string }

/** Settings are immutable once they are published, so their names are found once. */
const names = new WeakMap<WantedFact, string>()

/** A short name of what meets a condition. It is the same in every version of a journey that has such a condition, wherever it is. */
export function factName(wanted: WantedFact): string {
  const { event_name = '', where = [], list_id = 0, is = '' } = wanted
  const name = names.get(wanted) ?? bits('fact', event_name, JSON.stringify(where), list_id, is).toString(36)
  names.set(wanted, name)
  return name
}

/** Whether an input is this change of a list. */
export const isChange = (input: Input, listId: number, change: 'entered' | 'left'): boolean =>
  input.is === 'membership' && input.listId === listId && input.entered === (change === 'entered')
