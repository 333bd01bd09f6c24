import { type Static, Type } from 'typebox'
import { Exact, FreeForm } from '../../../lib/shapes.ts'
import { freeFormProblem } from '../../../lib/validate.ts'
import { afterEffect, EFFECT_PATHS } from './effects.ts'
import { liquidFaults, templatesIn, withRendered } from './liquid.ts'
import { missingOf } from './settings.ts'
import { type Case, type Decision, type StepContext, step } from './step.ts'

const ATTRIBUTES_BYTES_MAX = 32_768

const Settings = Exact({
  attributes: Type.Optional(
    FreeForm(ATTRIBUTES_BYTES_MAX, {
      description: 'Attributes to merge into the user’s `data`; null removes one. Strings may contain Liquid.',
    }),
  ),
})
type Settings = Static<typeof Settings>

function decide({ attributes = {} }: Settings, { input, rendered }: StepContext): Decision {
  if (input.is === 'done') return afterEffect(input.result)
  if (input.is !== 'arrived') return { is: 'stay' }
  const filled = withRendered(attributes, 'attributes', rendered)
  if ('problem' in filled) return { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: filled.problem } }
  const problem = freeFormProblem(filled.value, ATTRIBUTES_BYTES_MAX)
  if (problem !== null) return { is: 'go', path: 'failed', reason: 'too_large', seen: { problem } }
  return { is: 'do', effect: { is: 'update', attributes: filled.value } }
}

const pro: Settings = { attributes: { plan: 'pro', 'a.b': 'Hi {{ user.data.name }}', nested: ['{{ event.data.total }}'], old: null } }
const texts = { 'attributes.a\\.b': { text: 'Hi Kim' }, 'attributes.nested[0]': { text: '' } }

const CASES: Case<Settings>[] = [
  {
    title: 'renders strings and keeps other values; null removes, an empty result is an empty string',
    settings: pro,
    given: { rendered: texts },
    decides: { is: 'do', effect: { is: 'update', attributes: { plan: 'pro', 'a.b': 'Hi Kim', nested: [''], old: null } } },
  },
  {
    title: 'Liquid fails',
    settings: pro,
    given: { rendered: { ...texts, 'attributes.nested[0]': { problem: 'undefined filter' } } },
    decides: { is: 'go', path: 'failed', reason: 'render_failed', seen: { problem: 'undefined filter' } },
  },
  {
    title: 'over 32 KiB',
    settings: { attributes: { text: '{{ event.data.text }}' } },
    given: { rendered: { 'attributes.text': { text: 'x'.repeat(ATTRIBUTES_BYTES_MAX) } } },
    decides: { is: 'go', path: 'failed', reason: 'too_large', seen: { problem: 'may take at most 32 KiB' } },
  },
  {
    title: 'applied',
    settings: pro,
    given: { input: { is: 'done', result: { is: 'applied' } } },
    decides: { is: 'go', path: 'default', reason: 'applied' },
  },
  {
    title: 'unchanged',
    settings: pro,
    given: { input: { is: 'done', result: { is: 'applied', note: 'unchanged' } } },
    decides: { is: 'go', path: 'default', reason: 'unchanged' },
  },
  {
    title: 'the user would have more than 32 KiB',
    settings: pro,
    given: { input: { is: 'done', result: { is: 'refused', reason: 'too_large', detail: 'may take at most 32 KiB' } } },
    decides: { is: 'go', path: 'failed', reason: 'too_large', seen: { problem: 'may take at most 32 KiB' } },
  },
  { title: 'a timer changes nothing', settings: pro, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
]

export const update = step({
  label: 'Update attributes',
  description: 'Changes attributes of the user.',
  also: ['set attribute', 'user update', 'update profile', 'set property', 'create or update person'],
  settings: Settings,
  example: { attributes: { onboarded: true } },
  sentence: 'set onboarded to true',
  paths: () => EFFECT_PATHS,
  faults: (settings, when) =>
    when === 'published' ? [...missingOf(settings, 'attributes'), ...liquidFaults(settings.attributes, 'attributes')] : [],
  needs: ({ attributes }) => ({ liquid: templatesIn(attributes, 'attributes') }),
  decide,
  tell: ({ attributes = {} }, { path }) =>
    path === 'failed' ? 'The attributes could not be changed.' : `Changed ${Object.keys(attributes).join(', ') || 'no attributes'}.`,
  cases: CASES,
})
