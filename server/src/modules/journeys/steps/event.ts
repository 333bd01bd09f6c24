import { type Static, Type } from 'typebox'
import { Exact, FreeForm } from '../../../lib/shapes.ts'
import { freeFormProblem } from '../../../lib/validate.ts'
import { afterEffect, EFFECT_PATHS } from './effects.ts'
import { isReservedName } from './event-names.ts'
import { liquidFaults, templatesIn, withRendered } from './liquid.ts'
import { broken, EventName, missingOf } from './settings.ts'
import { type Case, type Decision, type StepContext, step } from './step.ts'

const DATA_BYTES_MAX = 32_768

const Settings = Exact({
  event_name: Type.Optional(EventName('The name of the event. The names of system events, such as `email_sent`, are reserved.')),
  event_data: Type.Optional(FreeForm(DATA_BYTES_MAX, { description: 'The attributes of the event. Strings may contain Liquid.' })),
})
type Settings = Static<typeof Settings>

const nameFaults = (name: string | undefined) =>
  name !== undefined && isReservedName(name)
    ? [broken('event_name', `The name \`${name}\` is reserved for a system event. Choose another one.`)]
    : []

function decide({ event_name, event_data = {} }: Settings, { input, rendered }: StepContext): Decision {
  if (input.is === 'done') return afterEffect(input.result)
  if (input.is !== 'arrived' || event_name === undefined) return { is: 'stay' }
  const filled = withRendered(event_data, 'event_data', rendered)
  if ('problem' in filled) return { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: filled.problem } }
  const problem = freeFormProblem(filled.value, DATA_BYTES_MAX)
  if (problem !== null) return { is: 'go', path: 'failed', reason: 'too_large', seen: { problem } }
  return { is: 'do', effect: { is: 'event', name: event_name, data: filled.value } }
}

const started: Settings = { event_name: 'trial_started', event_data: { plan: '{{ user.data.plan }}', days: 14 } }
const text = { 'event_data.plan': { text: 'pro' } }

const CASES: Case<Settings>[] = [
  {
    title: 'records the event with rendered data',
    settings: started,
    given: { rendered: text },
    decides: { is: 'do', effect: { is: 'event', name: 'trial_started', data: { plan: 'pro', days: 14 } } },
  },
  {
    title: 'an event without data',
    settings: { event_name: 'left' },
    decides: { is: 'do', effect: { is: 'event', name: 'left', data: {} } },
  },
  {
    title: 'Liquid fails',
    settings: started,
    given: { rendered: { 'event_data.plan': { problem: 'over budget' } } },
    decides: { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: 'over budget' } },
  },
  {
    title: 'over 32 KiB',
    settings: started,
    given: { rendered: { 'event_data.plan': { text: 'x'.repeat(DATA_BYTES_MAX) } } },
    decides: { is: 'go', path: 'failed', reason: 'too_large', seen: { problem: 'may take at most 32 KiB' } },
  },
  {
    title: 'stored',
    settings: started,
    given: { input: { is: 'done', result: { is: 'applied' } } },
    decides: { is: 'go', path: 'default', reason: 'applied' },
  },
  {
    title: 'stored too deep in a chain of causes: triggers nothing',
    settings: started,
    given: { input: { is: 'done', result: { is: 'applied', note: 'loop_depth' } } },
    decides: { is: 'go', path: 'default', reason: 'loop_depth' },
  },
]

export const event = step({
  label: 'Record an event',
  description: 'Records an event for the user. It can trigger campaigns, make the user enter other journeys, and end waits.',
  also: ['send event', 'track event', 'custom event', 'create event'],
  settings: Settings,
  example: { event_name: 'trial_started', event_data: { plan: 'pro' } },
  sentence: 'record the event trial_started with the plan “pro”',
  paths: () => EFFECT_PATHS,
  faults: (settings, when) => [
    ...nameFaults(settings.event_name),
    ...(when === 'published' ? [...missingOf(settings, 'event_name'), ...liquidFaults(settings.event_data, 'event_data')] : []),
  ],
  needs: ({ event_data }) => ({ liquid: templatesIn(event_data, 'event_data') }),
  decide,
  tell: ({ event_name }, { path, reason }) =>
    path === 'failed' ? `The event ${event_name} could not be recorded (${reason}).` : `Recorded the event ${event_name}.`,
  cases: CASES,
})
