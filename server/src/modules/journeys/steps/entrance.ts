import { type Static, Type } from 'typebox'
import { pathOf } from '../../../lib/attribute-paths.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { ListId } from '../../../lib/ids.ts'
import { Exact, IdOf, Line, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { scheduleProblem } from '../schedule.ts'
import { isReservedName, isStartingName } from './event-names.ts'
import {
  broken,
  Duration,
  durationFaults,
  EventName,
  idAt,
  missingOf,
  RuleSetting,
  ruleAt,
  ruleFaults,
  Tests,
  testFaults,
} from './settings.ts'
import { step } from './step.ts'

const REENTER_AFTER_MAX_MS = 3650 * DAY_MS

const Settings = Exact({
  trigger: Type.Optional(OneOf(['none', 'event', 'list', 'schedule', 'api'], { description: 'What makes users enter.' })),
  event_name: Type.Optional(EventName('The name of the event that makes users enter.')),
  where: Type.Optional(Tests('Tests of the event’s data or the request’s data.')),
  list_id: Type.Optional(
    IdOf<ListId>({
      description:
        'With the trigger `list`, users enter the journey when they enter or leave this list. With `schedule`, the users in this list enter.',
    }),
  ),
  change: Type.Optional(
    OneOf(['entered', 'left'], {
      description: 'Whether users enter the journey when they enter the list or when they leave it. Default `entered`.',
    }),
  ),
  schedule: Type.Optional(
    Line(1000, {
      description:
        'A recurrence rule of RFC 5545 such as `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`: hourly or less often. The line before it may be ' +
        'a `DTSTART` without a time zone. Without a `DTSTART`, the schedule starts at publication.',
    }),
  ),
  zone: Type.Optional(
    OneOf(['project', 'user'], { description: 'The time zone of the schedule: that of the `project` (default), or that of each `user`.' }),
  ),
  rule: Type.Optional(RuleSetting('A rule that the user must match.')),
  multiple: Type.Optional(Type.Boolean({ description: 'Whether a user may enter more than once.' })),
  concurrent: Type.Optional(Type.Boolean({ description: 'Whether a user may enter again while still in the journey.' })),
  entry_key: Type.Optional(
    Line(1000, {
      description:
        'A path in the data of an event or a request, such as `data.cart_id`; not with the triggers `list` and `schedule`. ' +
        '`multiple`, `concurrent` and `on_repeat` then apply to each value separately. ' +
        'Later events with another value neither end waits nor meet exit criteria. A value that no event or request has had for `JOURNEY_KEY_RETENTION_DAYS` is treated as new.',
    }),
  ),
  on_repeat: Type.Optional(
    OneOf(['ignore', 'restart', 'update'], {
      description:
        'What happens if the user enters again while in the journey: nothing (`ignore`, default), the user starts again (`restart`), or ' +
        'the entry event is replaced (`update`).',
    }),
  ),
  reenter_after: Type.Optional(Duration('How long after an entry the user must wait before entering again.', '3650 days')),
  imports: Type.Optional(
    Type.Boolean({ description: 'Whether users created by an import enter through the event `user_created`. Default false.' }),
  ),
  existing: Type.Optional(
    Type.Boolean({ description: 'Whether users who are in the list when the journey is published enter too. Default false.' }),
  ),
})

/** The settings of an entrance. */
export type EntranceSettings = Static<typeof Settings>

const NEEDS: Record<string, string[]> = { event: ['event_name'], list: ['list_id'], schedule: ['schedule', 'list_id'] }
const BY_DATA: unknown[] = ['event', 'api']
/** What makes users enter without data that could have a key. An entrance `none` gets that of requests. */
const WITHOUT_DATA: unknown[] = ['list', 'schedule']

function publishedFaults(settings: EntranceSettings): Fault[] {
  const { trigger, event_name, where, schedule, rule, entry_key, reenter_after, on_repeat, multiple, concurrent } = settings
  const problem = trigger === 'schedule' && schedule !== undefined ? scheduleProblem(schedule) : null
  return [
    ...missingOf(settings, 'trigger', ...(NEEDS[trigger ?? 'none'] ?? [])),
    ...(trigger === 'event' && event_name !== undefined ? nameFaults(event_name) : []),
    ...(where !== undefined && !BY_DATA.includes(trigger)
      ? [broken('where', 'Only an `event` or a request has data for `where`. Omit it.')]
      : []),
    ...testFaults(where, 'where'),
    ...ruleFaults(rule, 'rule'),
    ...(problem === null ? [] : [broken('schedule', `The value of \`schedule\` ${problem}.`)]),
    ...keyFaults(trigger, entry_key),
    ...durationFaults(reenter_after, 'reenter_after', { mostMs: REENTER_AFTER_MAX_MS }),
    ...(on_repeat === 'restart' && !multiple
      ? [broken('on_repeat', 'With `restart`, users enter again. Set `multiple` to true to allow that.')]
      : []),
    ...(on_repeat !== undefined && on_repeat !== 'ignore' && multiple && concurrent
      ? [broken('on_repeat', 'With `concurrent`, every entry is separate. Omit `on_repeat`, or set `concurrent` to false.')]
      : []),
  ]
}

function keyFaults(trigger: unknown, key: string | undefined): Fault[] {
  if (key === undefined) return []
  if (WITHOUT_DATA.includes(trigger)) return [broken('entry_key', 'Only an `event` or a request has data for `entry_key`. Omit it.')]
  return pathOf(key) ? [] : [broken('entry_key', '`entry_key` must be a path such as `data.cart_id`.')]
}

/** Entrances by list changes have a trigger of their own, and what the server writes about messages is no act of a user. */
const nameFaults = (name: string): Fault[] =>
  isReservedName(name) && !isStartingName(name)
    ? [broken('event_name', `Users cannot enter through the event \`${name}\`. Use the trigger \`list\` for lists.`)]
    : []

export const entrance = step({
  label: 'Enter',
  description: 'Where users enter the journey, and what makes them enter.',
  also: ['trigger', 'start', 'entry', 'enrolment', 'source'],
  settings: Settings,
  example: { trigger: 'event', event_name: 'order_placed', multiple: true, concurrent: false },
  sentence: 'users enter when order_placed occurs, any number of times, but not while still in the journey',
  references: ({ list_id, rule }) => ({ ids: idAt('list', list_id, 'list_id'), rules: ruleAt(rule, 'rule') }),
  needs: ({ rule }) => ({ rules: ruleAt(rule, 'rule') }),
  paths: () => [{ path: 'default', isRequired: true }],
  faults: (settings, when) => (when === 'published' ? publishedFaults(settings) : []),
  decide: (_, { input }) => (input.is === 'arrived' ? { is: 'go', path: 'default', reason: 'entered' } : { is: 'stay' }),
  tell: ({ trigger, event_name, list_id, change = 'entered' }) => {
    if (trigger === 'event') return `Entered the journey through the event ${event_name}.`
    if (trigger === 'list') return `Entered the journey because they ${change} the list ${list_id}.`
    if (trigger === 'schedule') return `Entered the journey on its schedule, from the list ${list_id}.`
    return 'Entered the journey.'
  },
  cases: [
    { title: 'goes on at once', settings: { trigger: 'none' }, decides: { is: 'go', path: 'default', reason: 'entered' } },
    { title: 'ignores later inputs', settings: { trigger: 'none' }, given: { input: { is: 'timer' } }, decides: { is: 'stay' } },
  ],
})
