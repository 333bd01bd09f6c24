/** What a kind of condition has to say: what it looks like, what it needs to know, when it holds, here and in SQL. */
import type { TSchema } from 'typebox'
import type { Sql } from '../../../infra/postgres/db.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { EventTest } from '../rule.ts'

/** What a rule depends on: `attribute:email`, `attribute:data.plan` (the top-level key, unescaped), `event:purchase`, `list:12` … */
export type Dependency = `attribute:${string}` | `event:${string}` | `list:${number}` | `subscription:${number}` | 'devices'

/** The events that a condition counts. The `count` latest (or earliest) of their times are all that it needs to know. */
export type Tracker = {
  names: string[]
  where: EventTest[]
  /** The first instant that counts. */
  sinceMs: number | null
  /** The first instant that does not count any more. */
  untilMs: number | null
  /** Length of the window that moves with the time. */
  withinMs: number | null
  keep: 'latest' | 'earliest'
  count: number
  /** Asked is when, not only how often. */
  asksWhen: boolean
}

export type DeviceFacts = {
  os: string | null
  os_version: string | null
  model: string | null
  app_version: string | null
  app_build: string | null
}

/** What there is to know about one person. */
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
  /** What a tracker keeps, by its place in the rule: milliseconds, the latest (the earliest) first. */
  times(tracker: number): readonly number[]
  isIn(list: number): boolean
  subscription(id: number): 0 | 1 | 2
  devices: readonly DeviceFacts[]
}

/** Where SQL finds what people did: the events themselves, or the times kept of them, under one id for each tracker of the rule. */
export type EventSource = { from: 'events' } | { from: 'times'; trackerIds: readonly number[] }

/** The relations that rules are written against. Rules own no table: the caller passes the tables of their owners. */
export type RuleTables = Record<
  'users' | 'events' | 'trackedTimes' | 'devices' | 'lists' | 'memberships' | 'subscriptions' | 'userSubscriptions',
  Sql
>

export type SqlScope = { projectId: number; now: Date; source: EventSource; tables: RuleTables }

/** Which facts about a person are asked for. */
export type Need = 'user' | 'subscriptions' | 'devices' | 'lists'

/** A condition made ready to be asked about many people. */
export type CompiledCondition = {
  mentions: readonly Dependency[]
  /** What it needs besides the times of its tracker. */
  needs?: Need
  tracker?: Tracker
  holds(facts: UserFacts, nowMs: number): boolean
  /** The earliest instant after now at which it may change by time alone; infinity when none. Absent: it never does. */
  nextTurn?(facts: UserFacts, nowMs: number): number
  /** What it was decided on, for JSON. */
  seen(facts: UserFacts, nowMs: number): unknown
  /** For `users u`: a boolean that is never null and, of a condition with turns, the next one after now or null. */
  sql(scope: SqlScope): { holds: Sql; turn?: Sql }
}

/** Something of the project that a condition names by its id. `param` says where. */
export type Reference = { kind: 'list' | 'subscription' | 'campaign'; id: number; param: string }

/** What the things are called; undefined for those that are not there. */
export type Names = Record<Reference['kind'], (id: number) => string | undefined>

/** A kind of condition, under the name of its first member. */
export type ConditionKind<C = unknown> = {
  /** What people call it. */
  label: string
  shape: TSchema
  /** What is wrong with a value of that shape. */
  faults?(condition: C): Fault[]
  references?(condition: C): Reference[]
  /** Its tracker, if it has one, will be the one at `index` of the rule. */
  compile(condition: C, index: number): CompiledCondition
  /** A part of a sentence about people, such as `email is set`. */
  says(condition: C, names: Names): string
}

/** Declares a kind of condition. */
export const condition = <C>(kind: ConditionKind<C>): ConditionKind => kind
