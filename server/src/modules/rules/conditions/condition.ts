/** What each kind of condition implements: its shape, the facts it needs, its evaluation in memory and in SQL, its description. */
import type { TSchema } from 'typebox'
import type { Sql } from '../../../infra/postgres/db.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { EventTest } from '../rule.ts'

/** What a rule reads: `attribute:email`, `attribute:data.plan` (the top-level key, unescaped), `event:purchase`, `list:12` … */
export type Dependency =
  | `attribute:${string}`
  | `event:${string}`
  | `list:${number}`
  | `subscription:${number}`
  | `journey:${number}`
  | 'devices'

/** A filter of events that a condition counts. The condition needs only the `count` latest (or earliest) times. */
export type Tracker = {
  names: string[]
  /** Counts system events only, and none of requests. */
  systemOnly?: true
  where: EventTest[]
  /** The first instant that counts. */
  sinceMs: number | null
  /** The first instant that no longer counts. */
  untilMs: number | null
  /** The length of the sliding window. */
  withinMs: number | null
  keep: 'latest' | 'earliest'
  count: number
  /** The condition depends on the times themselves, not only on their number. */
  needsTime: boolean
}

export type DeviceFacts = {
  os: string | null
  os_version: string | null
  model: string | null
  app_version: string | null
  app_build: string | null
}

/** Where a user is in a journey, and was. Instants are in milliseconds. */
export type JourneyFacts = {
  entered: number
  completed: number
  exited: number
  lastEnteredAt: number | null
  lastEndedAt: number | null
  lastOutcome: string | null
  heldOutAt: number | null
  inside: readonly { step: string; enteredAt: number; arrivedAt: number }[]
}

/** The data of a user that a rule is evaluated on. */
export type UserFacts = {
  id: number
  user: {
    external_id: string | null
    anonymous_id: string | null
    email: string | null
    phone: string | null
    timezone: string | null
    locale: string | null
    data: Record<string, unknown>
    has_push_device: boolean
    created_at: Date
  }
  /** The tracked times of a tracker, by its index in the rule: milliseconds, the latest (or earliest) first. */
  times(tracker: number): readonly number[]
  isIn(list: number): boolean
  subscription(id: number): 0 | 1 | 2
  devices: readonly DeviceFacts[]
  /** Undefined for a user who never entered the journey and was not held out. */
  journey(id: number): JourneyFacts | undefined
}

/**
 * What SQL reads: the events, or tracked times, with one id for each tracker of the rule, of the users with an id above `after` and up to
 * `last`.
 */
export type EventSource = { from: 'events' } | { from: 'times'; trackerIds: readonly number[]; after: number; last: number }

/** The relations that rules are written against. Rules own no table: the caller passes the tables of their owners. */
export type RuleTables = Record<
  | 'users'
  | 'events'
  | 'trackedTimes'
  | 'devices'
  | 'lists'
  | 'memberships'
  | 'subscriptions'
  | 'userSubscriptions'
  | 'journeyUsers'
  | 'journeyEntrances'
  | 'journeySteps',
  Sql
>

export type SqlScope = { projectId: number; now: Date; source: EventSource; tables: RuleTables }

/** The kinds of user facts that a condition needs. */
export type Need = 'user' | 'subscriptions' | 'devices' | 'lists' | 'journeys'

/** A condition compiled for evaluation on many users. */
export type CompiledCondition = {
  dependencies: readonly Dependency[]
  /** The facts that it needs besides tracked times. */
  needs?: Need
  tracker?: Tracker
  /** It does not hold for users without tracked times, whatever the time. */
  needsTimes?: boolean
  holds(facts: UserFacts, nowMs: number): boolean
  /** The earliest instant after now at which it can change because time passes; infinity if none. Absent if it never can. */
  nextChangeAt?(facts: UserFacts, nowMs: number): number
  /** The evidence for the result, for JSON. */
  evidence(facts: UserFacts, nowMs: number): unknown
  /** For `users u`: a boolean that is never null and, if the condition depends on time, its next change after now or null. */
  sql(scope: SqlScope): { holds: Sql; nextChangeAt?: Sql }
}

/** The id of a list, subscription type, campaign or journey that a condition names. `param` is its path. */
export type Reference = { kind: 'list' | 'subscription' | 'campaign' | 'journey'; id: number; param: string }

/** The names of referenced objects; undefined for those that do not exist. */
export type Names = Record<Reference['kind'], (id: number) => string | undefined>

/** A kind of condition, under the name of its first member. */
export type ConditionKind<C = unknown> = {
  /** The name for display. */
  label: string
  /** Which users it matches, in sentences, with the constraints that `shape` does not express. */
  description: string
  shape: TSchema
  /** A condition as it is written, for the API. */
  example: C
  /** The faults of a value whose shape is correct. */
  faults?(condition: C): Fault[]
  references?(condition: C): Reference[]
  /** `index` is the index that the condition's tracker will have in the rule. */
  compile(condition: C, index: number): CompiledCondition
  /** The condition in words, such as `email is set`. */
  describe(condition: C, names: Names): string
}

/** Declares a kind of condition. */
export const condition = <C>(kind: ConditionKind<C>): ConditionKind => kind
