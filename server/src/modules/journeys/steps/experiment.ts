import { type Static, Type } from 'typebox'
import type { JourneyId } from '../../../lib/ids.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { armOf } from '../hashes.ts'
import { broken, missingOf, pathFaults } from './settings.ts'
import { type Case, step } from './step.ts'

const Settings = Exact({
  branches: Type.Optional(
    Type.Array(
      Exact({
        path: Line(64, { description: 'The path of this share of the users.' }),
        weight: Type.Number({
          minimum: 0,
          maximum: 1_000_000,
          description: 'The share of the users who take the path, relative to the other weights.',
        }),
      }),
      {
        maxItems: 20,
        description: 'The paths with their relative weights. A path with the weight 0 gets no users.',
      },
    ),
  ),
})
type Settings = Static<typeof Settings>

/** Why users take a path: no other step has this reason for one. */
export const BY_SHARE = 'share'

const BRANCHES_MIN = 2

/** A list of branches is meant as a whole, so one that divides nothing is refused as soon as it is stored. */
function branchFaults(branches: NonNullable<Settings['branches']>) {
  if (branches.length < BRANCHES_MIN) return [broken('branches', 'An experiment needs at least two `branches`.')]
  if (branches.every(({ weight }) => weight === 0)) return [broken('branches', 'At least one of the `branches` needs a `weight` above 0.')]
  return pathFaults(branches, 'branches')
}

const halves = [
  { path: 'a', weight: 1 },
  { path: 'b', weight: 1 },
]

const CASES: Case<Settings>[] = [
  {
    title: 'a user with the id 1',
    settings: { branches: halves },
    given: { user: { id: 1 } },
    decides: { is: 'go', path: 'a', reason: 'share' },
  },
  {
    title: 'the same user once more, in another visit',
    settings: { branches: halves },
    given: { user: { id: 1 }, entrance: { visit: 5, id: 77 } },
    decides: { is: 'go', path: 'a', reason: 'share' },
  },
  { title: 'another user', settings: { branches: halves }, given: { user: { id: 2 } }, decides: { is: 'go', path: 'b', reason: 'share' } },
  {
    title: 'the user at another step',
    settings: { branches: halves },
    given: { user: { id: 1 }, entrance: { step: 'x3' } },
    decides: { is: 'go', path: 'b', reason: 'share' },
  },
  {
    title: 'the user in another journey',
    settings: { branches: halves },
    given: { user: { id: 1 }, entrance: { journeyId: 12 as JourneyId } },
    decides: { is: 'go', path: 'b', reason: 'share' },
  },
  {
    title: 'a weight of 0 gets no users',
    settings: {
      branches: [
        { path: 'a', weight: 0 },
        { path: 'b', weight: 1 },
      ],
    },
    given: { user: { id: 1 } },
    decides: { is: 'go', path: 'b', reason: 'share' },
  },
  { title: 'a later input changes nothing', settings: { branches: halves }, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
]

export const experiment = step({
  label: 'Experiment',
  description: 'Divides users at random among several paths. A user takes the same path each time.',
  also: ['A/B test', 'random split', 'random cohort branch', 'split test', 'percentage split'],
  settings: Settings,
  example: {
    branches: [
      { path: 'a', weight: 3 },
      { path: 'b', weight: 1 },
    ],
  },
  sentence: '75% of users take the path a, and 25% take the path b',
  namesPaths: { member: 'branches', others: [] },
  paths: ({ branches = [] }) => branches.map(({ path }) => ({ path, isRequired: true })),
  faults: (settings, when) => {
    const { branches } = settings
    if (when === 'stored') return branches === undefined || branches.length === 0 ? [] : branchFaults(branches)
    return branches === undefined ? missingOf(settings, 'branches') : branchFaults(branches)
  },
  decide: ({ branches = [] }, { input, user, entrance: { journeyId, step } }) => {
    if (input.is !== 'arrived') return { is: 'stay' }
    const path = armOf(journeyId, step, user.id, branches)
    return path === undefined ? { is: 'end', as: 'exited', reason: 'no_branch' } : { is: 'go', path, reason: BY_SHARE }
  },
  tell: (_, { path }) => (path === null ? 'Reached the experiment.' : `Took the path ${path} of the experiment.`),
  cases: CASES,
})
