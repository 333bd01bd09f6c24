/** Journeys: steps, versions, users and statistics. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { CHANGED, of, SENT, since } from './times.ts'

const journey = {
  ...of(3),
  name: 'Welcome',
  status: 'live',
  tags: [],
  live_version: 3,
  stats: { entered: 120, active: 30, completed: 80, exited: 10 },
  stats_at: CHANGED,
  ...since,
}
const journeyDraft = { ...of(3), name: 'Welcome', status: 'draft', tags: [], stats: {}, ...since }

const steps = {
  start: {
    type: 'entrance',
    x: 0,
    y: 0,
    data: { trigger: 'event', event_name: 'signed_up' },
    children: [{ external_id: 'wait' }],
  },
  wait: { type: 'delay', x: 0, y: 160, data: { format: 'duration', days: 1 }, children: [{ external_id: 'end' }] },
  end: { type: 'exit', x: 0, y: 320 },
}

const storedSteps = Object.fromEntries(
  Object.entries(steps).map(([key, step], index) => [key, { id: index + 1, name: '', data: {}, children: [], ...step, stats: {} }]),
)

const user = { id: 1042, external_id: 'customer-1042' }
const plan = { default: 'stay', steps: { wait: { move: 'wait' } } }
const version = {
  version: 4,
  status: 'live',
  users: 1290,
  moving: 0,
  note: 'shorter',
  created_at: SENT,
  published_at: CHANGED,
  published_by: 9,
}
const stepStats = { entered: 110, active: 20, left: 90, paths: { default: 90 } }

export const journeyExamples = {
  Journey: journey,
  JourneyInput: { name: 'Welcome', status: 'draft' },
  JourneyChanges: { description: 'For new customers', tags: ['onboarding'] },
  JourneyMeta: {
    settings: { type: 'object', properties: { holdout_percent: { type: 'integer', minimum: 0, maximum: 100 } } },
    steps: {
      exit: {
        label: 'Exit',
        description: 'Ends the journey for the user.',
        settings: { type: 'object', properties: {}, additionalProperties: false },
        example: {},
        sentence: 'leave the journey',
        waits: false,
        also: ['end'],
        paths: [],
      },
    },
  },
  JourneyPublishInput: { note: 'shorter', plan },
  JourneyPublication: {
    version: 4,
    published_at: CHANGED,
    moving: 1250,
    faults: [],
    warnings: [{ param: 'wait.children', message: 'The journey is completed after the step `wait`, which leads to no other.' }],
    steps: [{ external_id: 'wait', version: 3, users: 1250, plan: { move: 'wait' }, in_place: true, due_now: 310 }],
  },
  JourneyVersion: version,
  JourneyVersionWithSteps: { ...version, settings: { holdout_percent: 5 }, plan, steps: storedSteps },
  JourneyDifference: { added: ['offer'], removed: [], changed: [{ step: 'wait', at: 'data.days', from: 2, to: 1 }] },
  JourneyDrainInput: { within: '3d' },
  JourneyEntranceInput: { external_id: 'customer-1042', entrance: 'start', data: { total: 89.9 }, key: 'cart-7731' },
  JourneyEntrance: { entrance_id: 81234567 },
  JourneyEntrances: { entrance_ids: [81234567] },
  JourneyUserMoveInput: { to: 'end' },
  JourneyUserSkipInput: {},
  JourneyUser: {
    user,
    state: 'inside',
    entrance_id: 81234567,
    version: 3,
    step: 'wait',
    visit: 2,
    key: 'cart-7731',
    entered_at: SENT,
    arrived_at: SENT,
    due_at: CHANGED,
  },
  UserJourneyList: {
    results: [
      {
        journey_id: 31,
        journey_name: 'Welcome',
        entrance_id: 81234567,
        version: 3,
        step: 'wait',
        entered_at: SENT,
        arrived_at: SENT,
        due_at: CHANGED,
      },
    ],
  },
  JourneyTimeline: {
    entered: 2,
    completed: 1,
    exited: 0,
    active: 1,
    entrances: [
      {
        entrance_id: 81234567,
        version: 3,
        cause: { is: 'event', name: 'signed_up' },
        entered_at: SENT,
        outcome: null,
        step: 'wait',
        due_at: CHANGED,
        visits: [
          {
            visit: 1,
            step: 'start',
            arrived_at: SENT,
            left_at: SENT,
            path: 'default',
            reason: 'entered',
            seen: {},
            sentence: 'Entered by the event `signed_up`.',
          },
        ],
      },
    ],
  },
  JourneyEntryExplanation: {
    facts: [
      {
        event: 'signed_up',
        at: SENT,
        entrance: 'start',
        checks: [
          { check: 'not_live', passed: true, seen: { status: 'live' } },
          { check: 'held_out', passed: false, seen: { holdout_percent: 5 } },
        ],
      },
    ],
    now: { checks: [{ check: 'held_out', passed: false, seen: { holdout_percent: 5 } }] },
  },
  JourneyStatistics: {
    entered: 120,
    active: 30,
    completed: 80,
    exited: 10,
    stats_at: CHANGED,
    held_out: 9,
    refused: { once_only: 7 },
    reasons: { end: 80, stopped: 10 },
    steps: { wait: stepStats },
    edges: [{ from: 'wait', path: 'default', to: 'end', users: 90 }],
    goals: [{ name: 'bought', arm: null, users: 12, rate: 0.1, holdout_rate: 0.07 }],
  },
}

export const journeyOperations: Words['operations'] = {
  createJourney: { reply: journeyDraft },
  drainJourney: { reply: { ...journey, status: 'off', drain_until: CHANGED } },
  stopJourney: { reply: { ...journey, status: 'off' } },
  holdJourney: { reply: { ...journey, is_held: true } },
  listJourneySteps: { reply: storedSteps },
  setJourneySteps: { body: steps, reply: storedSteps },
}
