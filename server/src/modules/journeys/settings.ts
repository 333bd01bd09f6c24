/** The settings of a journey, which are versioned with its graph (D-JRN-4). */
import { type Static, Type } from 'typebox'
import type { Fault } from '../../lib/errors.ts'
import type { ListId } from '../../lib/ids.ts'
import { Exact, IdOf, Line } from '../../lib/shapes.ts'
import { checkRule, type EventTest, TESTS_DOCUMENTED } from '../rules/index.ts'
import type { StepReference } from './steps/step.ts'

const GOALS_MAX = 10
const EXCLUSION_LISTS_MAX = 50
const TESTS_MAX = 20
const DAYS_MAX = 365

/** How often a user enters a journey in 24 hours at most, when no other number is set. */
export const ENTRIES_PER_DAY_DEFAULT = 50

const Goal = Exact({
  name: Line(64, { description: 'The name in the statistics. It is unique among the goals of the journey.' }),
  event_name: Line(255, { description: 'The name of the event that achieves the goal.' }),
  where: Type.Optional(
    Type.Unsafe<EventTest[]>({
      type: 'array',
      minItems: 1,
      maxItems: TESTS_MAX,
      description: 'Tests of the data of the event, as in the `where` of a rule. All of them must pass.',
      published: { items: { type: 'object', additionalProperties: true } },
      documented: TESTS_DOCUMENTED,
    }),
  ),
  within_days: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    description: 'The event counts for this many days after the user entered or was held out.',
  }),
})
export type Goal = Static<typeof Goal>

export const JourneySettings = Exact(
  {
    holdout_percent: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'The percentage of users who are held out: they do not enter, but their goals are counted for comparison.',
      }),
    ),
    exclusion_list_ids: Type.Optional(
      Type.Array(IdOf<ListId>(), { maxItems: EXCLUSION_LISTS_MAX, description: 'Users in any of these lists do not enter.' }),
    ),
    goals: Type.Optional(Type.Array(Goal, { maxItems: GOALS_MAX, description: 'The goals of the journey.' })),
    max_entries_per_day: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: `The maximum number of entries per user within 24 hours. Default: ${ENTRIES_PER_DAY_DEFAULT}.`,
      }),
    ),
  },
  { description: 'The settings of the journey. They are published with its steps. A write replaces all settings.' },
)
export type JourneySettings = Static<typeof JourneySettings>

/** The faults of settings whose shape is correct. */
export function settingsFaults({ goals = [] }: JourneySettings): Fault[] {
  const names = new Set<string>()
  return goals.flatMap(({ name, where }, at): Fault[] => {
    const param = `settings.goals[${at}]`
    const tests = where === undefined ? [] : checkRule({ event: 'event', where }, param)
    const message = `Another goal is named “${name}”. Choose a different \`${param}.name\`.`
    const repeated: Fault[] = names.has(name) ? [{ code: 'validation_failed', param: `${param}.name`, message }] : []
    names.add(name)
    return [...tests, ...repeated]
  })
}

/** The lists that settings refer to. */
export const referencesOfSettings = ({ exclusion_list_ids = [] }: JourneySettings): StepReference[] =>
  exclusion_list_ids.map((id, at) => ({ kind: 'list', id, param: `settings.exclusion_list_ids[${at}]` }))
