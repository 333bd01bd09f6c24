import { type Static, Type } from 'typebox'
import type { JourneyId } from '../../../lib/ids.ts'
import { Exact, IdOf } from '../../../lib/shapes.ts'
import { idAt, missingOf } from './settings.ts'
import { type Case, DEFAULT_PATH, step } from './step.ts'

const Settings = Exact({
  journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey to enter.' })),
  entrance: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_\\-]{1,64}$',
      problem: 'must be the key of a step',
      description:
        'The key of the entrance in that journey. Default: the first one with the trigger `none`, or else with `api`, `event`, `list` or `schedule`, in this order.',
    }),
  ),
})
type Settings = Static<typeof Settings>

const five: Settings = { journey_id: 5 as JourneyId }

const CASES: Case<Settings>[] = [
  {
    title: 'enters the other journey',
    settings: five,
    decides: { is: 'do', effect: { is: 'enter', journeyId: 5 as JourneyId, entrance: null } },
  },
  {
    title: 'enters at an entrance',
    settings: { ...five, entrance: 'start' },
    decides: { is: 'do', effect: { is: 'enter', journeyId: 5 as JourneyId, entrance: 'start' } },
  },
  {
    title: 'entered: both go on',
    settings: five,
    given: { input: { is: 'done', result: { is: 'applied' } } },
    decides: { is: 'go', path: 'default', reason: 'entered' },
  },
  {
    title: 'the journey is off, a draft or archived',
    settings: five,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'not_live' } } },
    decides: { is: 'go', path: 'refused', reason: 'not_live' },
  },
  {
    title: 'the user may not enter',
    settings: five,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'once_only' } } },
    decides: { is: 'go', path: 'refused', reason: 'once_only' },
  },
  {
    title: 'too deep in a chain of causes',
    settings: five,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'loop_depth' } } },
    decides: { is: 'go', path: 'refused', reason: 'loop_depth' },
  },
  { title: 'a timer changes nothing', settings: five, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
]

export const link = step({
  label: 'Go to another journey',
  description: 'Makes the user enter another journey. Without a next step, the user completes this journey; with one, the user is in both.',
  also: ['go to journey', 'start another journey', 'send to campaign', 'enter journey', 'jump'],
  settings: Settings,
  example: { journey_id: 5 as JourneyId },
  sentence: 'go to the journey 5',
  references: ({ journey_id }) => ({ ids: idAt('journey', journey_id, 'journey_id'), rules: [] }),
  paths: () => [
    { path: DEFAULT_PATH, isRequired: false },
    { path: 'refused', isRequired: false },
  ],
  faults: (settings, when) => (when === 'published' ? missingOf(settings, 'journey_id') : []),
  decide: ({ journey_id, entrance = null }, { input }) => {
    if (input.is === 'done') {
      const { result } = input
      if (result.is === 'refused') return { is: 'go', path: 'refused', reason: result.reason }
      return { is: 'go', path: DEFAULT_PATH, reason: 'entered' }
    }
    if (input.is !== 'arrived' || journey_id === undefined) return { is: 'stay' }
    return { is: 'do', effect: { is: 'enter', journeyId: journey_id, entrance } }
  },
  tell: ({ journey_id }, { path, reason }) =>
    path === 'refused' ? `Did not enter the journey ${journey_id} (${reason}).` : `Entered the journey ${journey_id}.`,
  cases: CASES,
})
