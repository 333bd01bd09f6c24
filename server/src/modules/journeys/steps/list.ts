import { type Static, Type } from 'typebox'
import type { ListId } from '../../../lib/ids.ts'
import { Exact, IdOf, OneOf } from '../../../lib/shapes.ts'
import { afterEffect, EFFECT_PATHS } from './effects.ts'
import { missingOf } from './settings.ts'
import { type Case, step } from './step.ts'

const Settings = Exact({
  list_id: Type.Optional(IdOf<ListId>({ description: 'The static list.' })),
  change: Type.Optional(OneOf(['add', 'remove'], { description: 'Whether to add the user to the list (default) or to remove the user.' })),
})
type Settings = Static<typeof Settings>

const twelve: Settings = { list_id: 12 as ListId }

const CASES: Case<Settings>[] = [
  { title: 'adds', settings: twelve, decides: { is: 'do', effect: { is: 'list', listId: 12 as ListId, change: 'add' } } },
  {
    title: 'removes',
    settings: { ...twelve, change: 'remove' },
    decides: { is: 'do', effect: { is: 'list', listId: 12 as ListId, change: 'remove' } },
  },
  {
    title: 'applied',
    settings: twelve,
    given: { input: { is: 'done', result: { is: 'applied' } } },
    decides: { is: 'go', path: 'default', reason: 'applied' },
  },
  {
    title: 'already in the list: no change',
    settings: twelve,
    given: { input: { is: 'done', result: { is: 'applied', note: 'unchanged' } } },
    decides: { is: 'go', path: 'default', reason: 'unchanged' },
  },
  {
    title: 'the list is deleted',
    settings: twelve,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'list_gone' } } },
    decides: { is: 'go', path: 'failed', reason: 'list_gone' },
  },
  { title: 'a timer changes nothing', settings: twelve, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
]

export const list = step({
  label: 'Change a list',
  description: 'Adds the user to a static list, or removes the user from it.',
  also: ['add to list', 'remove from list', 'manual segment', 'static segment', 'add to segment'],
  settings: Settings,
  example: { list_id: 12 as ListId, change: 'add' },
  sentence: 'add to the list 12',
  references: ({ list_id }) => ({
    ids: list_id === undefined ? [] : [{ kind: 'list', id: list_id, param: 'list_id', isStatic: true }],
    rules: [],
  }),
  paths: () => EFFECT_PATHS,
  faults: (settings, when) => (when === 'published' ? missingOf(settings, 'list_id') : []),
  decide: ({ list_id, change = 'add' }, { input }) => {
    if (input.is === 'done') return afterEffect(input.result)
    if (input.is !== 'arrived' || list_id === undefined) return { is: 'stay' }
    return { is: 'do', effect: { is: 'list', listId: list_id, change } }
  },
  tell: ({ list_id, change = 'add' }, { path, reason }) => {
    if (path === 'failed') return `The list ${list_id} could not be changed (${reason}).`
    if (reason === 'unchanged') return change === 'add' ? `Was already in the list ${list_id}.` : `Was not in the list ${list_id}.`
    return change === 'add' ? `Was added to the list ${list_id}.` : `Was removed from the list ${list_id}.`
  },
  cases: CASES,
})
