import type { Static, TSchema } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import type { CampaignId, JourneyId, ListId, SubscriptionId } from '../../../lib/ids.ts'
import type { UserFacts } from '../../rules/index.ts'

/** An id in `data`. `param` is its path in `data`; the graph puts the key of the step before it. */
export type StepReference = {
  kind: 'campaign' | 'journey' | 'list' | 'subscription'
  id: number
  param: string
  /** The list has to be static, because the step changes it. */
  isStatic?: true
}

/** A rule in `data`, which can contain ids. */
export type StepRule = { rule: unknown; param: string }

/** Something that a waiting user waits for, or that a step reads: `event:purchase`, `list:12`, `attribute:data.plan`, `devices` … */
export type Dependency = string

/**
 * A way out of a step. If it has no child although the step has some: a required path stops the publication, another one leads to the
 * default path, and the journey is completed if that has none either.
 */
export type Path = {
  path: string
  isRequired: boolean
  /** Without a child, users exit with this reason instead of going on. */
  exitsIfOpen?: string
}

/** The path of a child that names none. */
export const DEFAULT_PATH = 'default'

/** What has to be loaded before a step can decide. `param` names it for the step: the path of the setting in `data`. */
export type Needs = {
  rules?: StepRule[]
  lists?: ListId[]
  /** Strings with Liquid, which are rendered with the user, the entry event and the answers of earlier steps. */
  liquid?: { param: string; template: string }[]
}

/** The event that a user entered with, or the body of a request to enter. */
export type EntryEvent = { name: string; data: Record<string, unknown>; created_at: string }

/** What a webhook step received: the body is JSON or text, cut to 8 KiB. */
export type Answer = { status: number | null; body: unknown }

/** What happened since the last decision about a user at a step. Each is applied at its instant. */
export type Input =
  | { is: 'arrived' }
  | { is: 'timer' }
  | { is: 'event'; name: string; data: Record<string, unknown>; createdAt: Date }
  | { is: 'membership'; listId: ListId; entered: boolean }
  /** Attributes, subscriptions, devices or memberships of the user changed; `what` as in user changes. */
  | { is: 'changed'; what: readonly string[] }
  /**
   * The message of this visit is in this state. When the timer of an `action` is due, the engine reads the message: its state comes as
   * `outcome`, whichever it is, and as `timer` if there is no message.
   */
  | { is: 'outcome'; state: string; reason: string | null }
  /** The webhook call of this visit ended. */
  | { is: 'answer'; answer: Answer; problem: string | null }
  /** The effect that the last decision asked for was applied. */
  | { is: 'done'; result: EffectResult }

/** A rule of `data` for this user at this instant. */
export type RuleResult = { holds: boolean; nextChangeAt: Date | null; seen: Record<string, unknown> }

/** Everything that a decision may depend on. */
export type StepContext = {
  now: Date
  enteredAt: Date
  arrivedAt: Date
  /** The time zone of the user, otherwise of the project. */
  zone: string
  user: UserFacts['user'] & { id: number }
  event: EntryEvent | null
  entrance: {
    /** 52 bits, the same for the same cause. */
    id: number
    journeyId: JourneyId
    /** The key of the step. */
    step: string
    /** The number of this visit in the entrance. */
    visit: number
    /** The entry key; null for none. */
    key: string | null
    /** The path in event data that the entrance takes the key from, such as `data.cart_id`; null for none. */
    keyPath: string | null
    /** When the user last left this step before, in the same entrance; null for the first visit. */
    lastLeftAt: Date | null
    /** Matches that later waits of this entrance count, by step key, colon and name of `matches`: the instant of the event. */
    seen: Readonly<Record<string, string>>
    /** By the key of the webhook step. */
    answers: Readonly<Record<string, Answer>>
  }
  /** What earlier decisions about this visit returned as `seen`, merged. Empty on arrival. */
  noted: Readonly<Seen>
  input: Input
  rule(param: string): RuleResult
  /** Undefined when the list was deleted. */
  isIn(list: ListId): boolean | undefined
  rendered(param: string): { text: string } | { problem: string }
}

/** A header of a webhook call. A secret is sealed as it is stored, and opened by the job that calls. */
export type HeaderValue = string | { secret: string }

/** What a step of the type `webhook` asks for. */
export type CallRequest = {
  method: string
  url: string
  headers: Record<string, HeaderValue>
  body: string | null
  timeoutMs: number
  retries: number
}

/** What the engine does for a step. Its result comes back as the input `done`, in the same transaction. */
export type Effect =
  | { is: 'message'; campaignId: CampaignId }
  | { is: 'update'; attributes: Record<string, unknown> }
  | { is: 'event'; name: string; data: Record<string, unknown> }
  | { is: 'list'; listId: ListId; change: 'add' | 'remove' }
  | { is: 'subscription'; subscriptionId: SubscriptionId; state: 0 | 1 }
  /** Reserves a place in the rate that all users of the step share. */
  | { is: 'reserve'; limit: number; intervalMs: number; maxWaitMs: number | null }
  | ({ is: 'call' } & CallRequest)
  | { is: 'enter'; journeyId: JourneyId; entrance: string | null }

/** What came of an effect. `refused` has the reason in a word of the API, such as `campaign_stopped` or `list_gone`. */
export type EffectResult =
  | { is: 'applied'; note?: string }
  | { is: 'refused'; reason: string; detail?: string }
  /** The message was planned; `deadline` is when it expires. */
  | { is: 'queued'; deadline: Date }
  | { is: 'reserved'; at: Date }
  | { is: 'over_limit' }

/** Values that a decision depended on, at most 200 bytes as JSON, kept in the trail. */
export type Seen = Record<string, unknown>

/** What happens to a user at a step. */
export type Decision =
  /** Leaves by a path. `reason` is a word of the API, such as `rule`, `timeout`, `elapsed`. */
  | { is: 'go'; path: string; reason: string; seen?: Seen }
  /** Waits until an instant at the latest, and is decided about again when something of `on` happens. */
  | { is: 'wait'; until: Date; on: Dependency[]; note?: string; seen?: Seen }
  | { is: 'do'; effect: Effect; seen?: Seen }
  | { is: 'end'; as: 'completed' | 'exited'; reason: string; seen?: Seen }
  /** The input changes nothing: the user waits as before. */
  | { is: 'stay' }

/** A visit of a step, as the timeline shows it. */
export type Visit = {
  step: string
  visit: number
  arrived_at: string
  left_at: string | null
  path: string | null
  reason: string | null
  seen: Seen
}

/** A row of the table of cases of a kind: settings and what is different from the usual context, and the decision. */
export type Case<S = Record<string, unknown>> = {
  title: string
  settings: S
  given?: Partial<Omit<StepContext, 'rule' | 'isIn' | 'rendered' | 'entrance' | 'user'>> & {
    user?: Partial<StepContext['user']>
    entrance?: Partial<StepContext['entrance']>
    rules?: Record<string, Partial<RuleResult>>
    lists?: Record<number, boolean>
    rendered?: Record<string, { text: string } | { problem: string }>
  }
  decides: Decision
}

/** A kind of step. Its settings are optional, because a draft may be incomplete. Everything is pure. */
export type StepKind<S extends TSchema = TSchema> = {
  /** The name for display. */
  label: string
  /** What happens to a user at the step, in a sentence. */
  description: string
  /** Other names that people look for, such as `branch` or `split`. */
  also: string[]
  /** The members of `data`. */
  settings: S
  /** Settings as they are written, for the API. */
  example: Static<S> & Record<string, unknown>
  /** The step with the settings of the example, in words. */
  sentence: string
  /** What settings refer to, with paths in `data`. */
  references?(settings: Static<S>): { ids: StepReference[]; rules: StepRule[] }
  /** Users wait in this step, so a loop that contains it is allowed. */
  waits?(settings: Static<S>): boolean
  /** The ways out. The first is the one of a child without a path, if it is `default`. */
  paths(settings: Static<S>): Path[]
  /** The member whose items name ways out by `path`, if there is one, and the ways out beside those. */
  namesPaths?: { member: keyof Static<S> & string; others: readonly string[] }
  /** Why the settings cannot be published; `param` is a path in `data`. Also called when they are stored, for faults that no draft may have. */
  faults?(settings: Static<S>, when: 'stored' | 'published'): Fault[]
  needs?(settings: Static<S>): Needs
  /** What the step reads or waits for, so that the engine knows which events and changes matter to users at it. */
  dependencies?(settings: Static<S>): Dependency[]
  /**
   * What an event or a list move fulfils while the user is at another step, or `isThere` but is not decided about: the names by which
   * `entrance.seen` has it, after the key of the step and a colon. A name says what was fulfilled also to another version of the step.
   * `context.entrance.step` is the step whose settings these are.
   */
  matches?(settings: Static<S>, context: StepContext, isThere: boolean): string[]
  decide(settings: Static<S>, context: StepContext): Decision
  /** A visit in words, for the timeline. */
  tell(settings: Static<S>, visit: Visit): string
  cases: readonly Case<Static<S>>[]
}

/** Declares a kind of step. */
export const step = <S extends TSchema>(kind: StepKind<S>): StepKind => kind as unknown as StepKind
