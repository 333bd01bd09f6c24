/** The usual context of the tables of cases: a user `ana` who arrives at the step `here` of the journey 11 at 09:00 in UTC. */
import type { JourneyId } from '../src/lib/ids.ts'
import type { Case, StepContext } from '../src/modules/journeys/steps/step.ts'

const NOW = new Date('2026-11-23T09:00:00.000Z')

const USER: StepContext['user'] = {
  id: 1,
  external_id: 'ana',
  anonymous_id: null,
  email: 'ana@example.com',
  phone: null,
  timezone: null,
  locale: null,
  data: {},
  has_push_device: false,
  created_at: new Date('2026-01-01T00:00:00.000Z'),
}

const ENTRANCE: StepContext['entrance'] = {
  id: 81_234_567,
  journeyId: 11 as JourneyId,
  step: 'here',
  visit: 2,
  key: null,
  keyPath: null,
  lastLeftAt: null,
  seen: {},
  answers: {},
}

/** The context of a case. Without `arrivedAt` the user arrived now, or for a later input as well. */
export function caseContext({ given = {} }: Pick<Case, 'given'>): StepContext {
  const { user, entrance, rules = {}, lists = {}, rendered = {}, ...rest } = given
  const now = rest.now ?? NOW
  return {
    enteredAt: NOW,
    arrivedAt: rest.input === undefined ? now : NOW,
    zone: 'UTC',
    event: null,
    noted: {},
    input: { is: 'arrived' },
    ...rest,
    now,
    user: { ...USER, ...user },
    entrance: { ...ENTRANCE, ...entrance },
    rule: (param) => ({ holds: false, nextChangeAt: null, seen: {}, ...rules[param] }),
    isIn: (list) => lists[list],
    rendered: (param) => rendered[param] ?? { problem: `no text is given for ${param}` },
  }
}
