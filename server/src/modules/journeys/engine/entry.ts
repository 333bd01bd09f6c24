/** Who enters a journey, and which entrance is used. Pure: the engine loads what `EntryState` asks for. */
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/times.ts'
import type { EntranceSettings } from '../steps/entrance.ts'
import { isStartingName } from '../steps/event-names.ts'
import { durationMs, entryKeyIn, testsOf } from '../steps/settings.ts'
import { entranceId, isHeldOut } from './ids.ts'

/** An entrance may be caused by an entrance that was caused by …, this often. A long wait begins a new chain. */
export const DEPTH_MAX = 8
/** Entrances of a user into a journey within 24 hours, if the settings say nothing else. */
export const ENTRIES_PER_DAY = 50
export const ENTRIES_PERIOD_MS = DAY_MS
/** A clock that is ahead by less passes by itself: timers rest until then. */
export const AHEAD_MS = 5 * MINUTE_MS

/** An entrance of a graph, compiled. */
export type EntranceStep = {
  /** The key of the step. */
  step: string
  settings: EntranceSettings
  /** Whether event data passes the tests of `where`. */
  passes(data: Record<string, unknown>, nowMs: number): boolean
}

/** Something that may make a user enter. */
export type EntryFact = {
  /** See `causes`. */
  cause: string
  /** The time of the event; for the others, their instant. */
  at: Date
  /** 0 for facts from outside. An entrance that a journey caused has the depth of the causing entrance + 1. */
  depth: number
  /** The data of the event, or of the request. */
  data: Record<string, unknown>
} & (
  | {
      is: 'event'
      name: string
      isSystem: boolean
      /** The journey whose message a system event is about; null for none. */
      ofJourney: JourneyId | null
      isImport: boolean
      /** The event came to the user by a merge. */
      isInherited: boolean
    }
  | { is: 'membership'; listId: ListId; entered: boolean }
  /** A schedule, or the users that are in a list when the journey is published. */
  | { is: 'sweep'; step: string; unlessEnteredSince: Date | null }
  | { is: 'api'; step: string | null; key: string | null }
  | { is: 'link'; step: string | null }
)

/** Why a user did not enter. The words are part of the API: statistics count by them. */
export type EntryRefusal =
  | 'not_live'
  | 'too_old'
  | 'inherited'
  | 'where'
  | 'rule'
  | 'key_missing'
  | 'excluded'
  | 'held_out'
  | 'already_inside'
  | 'once_only'
  | 'reenter_after'
  | 'daily_maximum'
  | 'loop_depth'

/** Everything about a user and a journey that an entry depends on. The functions are called only when their answer decides. */
export type EntryState = {
  journeyId: JourneyId
  userId: UserId
  /** Whether the journey takes entrances. */
  isLive: boolean
  now: Date
  /** Facts older than this begin nothing. */
  factAgeMaxMs: number
  holdoutPercent: number
  exclusionListIds: readonly ListId[]
  entriesPerDayMax: number
  /** Whether the rule of an entrance holds; called only if it has one. */
  ruleHolds(entrance: EntranceStep): boolean
  isIn(list: ListId): boolean
  /** Whether an active entrance of the user has this slot. */
  isInside(slot: string): boolean
  /** Whether the user ever entered, with this key if it is not null. Called for `multiple: false` only. */
  hasEntered(key: string | null): boolean
  lastEnteredAt: Date | null
  /** Entrances of the user in the last 24 hours. */
  enteredToday: number
}

/** A user enters. `slot` is unique among the active entrances of a user in a journey. */
export type NewEntrance = { entrance: EntranceStep; id: number; slot: string; key: string | null; cause: string; depth: number }

export type Entry =
  | ({ is: 'enter' } & NewEntrance)
  /** The active entrance with this slot exits as `restarted`, then the user enters. */
  | ({ is: 'restart' } & NewEntrance)
  /** The entry event of the active entrance with this slot is replaced. */
  | { is: 'update'; entrance: EntranceStep; slot: string }
  | { is: 'refused'; entrance: EntranceStep; reason: EntryRefusal }

/** The entrances among the steps of a graph, compiled, in the order of their keys. */
export const entrancesOf = (steps: readonly { external_id: string; type: string; data: object }[]): EntranceStep[] =>
  steps
    .filter(({ type }) => type === 'entrance')
    .sort((a, b) => (a.external_id < b.external_id ? -1 : 1))
    .map(({ external_id: step, data }) => {
      const settings = data as EntranceSettings
      return { step, settings, passes: testsOf(settings.where) }
    })

/** The entrances of a journey that a fact is for, in the order of their keys, before any check of the user. */
export function entrancesFor(entrances: readonly EntranceStep[], journeyId: JourneyId, fact: EntryFact): EntranceStep[] {
  switch (fact.is) {
    case 'event':
      if (fact.isSystem && !startsJourneys(journeyId, fact)) return []
      return entrances.filter(
        ({ settings: { trigger, event_name, imports } }) =>
          trigger === 'event' && event_name === fact.name && (!fact.isImport || imports === true),
      )
    case 'membership':
      return entrances.filter(
        ({ settings: { trigger, list_id, change = 'entered' } }) =>
          trigger === 'list' && list_id === fact.listId && (change === 'entered') === fact.entered,
      )
    case 'sweep':
      return entrances.filter(({ step }) => step === fact.step)
    case 'api':
      return calledEntrance(entrances, fact.step, ['api', 'none'])
    case 'link':
      return calledEntrance(entrances, fact.step, ['none', 'api', 'event', 'list', 'schedule'])
    default:
      return fact satisfies never
  }
}

/** The entrance with this key, or else the first whose trigger comes first in `triggers`. */
function calledEntrance(entrances: readonly EntranceStep[], step: string | null, triggers: string[]): EntranceStep[] {
  if (step !== null) return entrances.filter((entrance) => entrance.step === step)
  const rank = ({ settings: { trigger = 'none' } }: EntranceStep) => triggers.indexOf(trigger)
  return entrances
    .filter((entrance) => rank(entrance) >= 0)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, 1)
}

/** Whether a system event may begin a journey. A journey does not begin by its own messages. */
const startsJourneys = (journeyId: JourneyId, { name, ofJourney }: { name: string; ofJourney: JourneyId | null }): boolean =>
  isStartingName(name) && ofJourney !== journeyId

/**
 * What a fact does to the user that it is about. Undefined if it is for no entrance of the journey. The first check that fails gives the
 * reason that is counted.
 */
export function decideEntry(entrances: readonly EntranceStep[], fact: EntryFact, state: EntryState): Entry | undefined {
  const candidates = entrancesFor(entrances, state.journeyId, fact)
  const [first] = candidates
  if (first === undefined) return undefined
  const refused = (entrance: EntranceStep, reason: EntryRefusal): Entry => ({ is: 'refused', entrance, reason })
  if (!state.isLive) return refused(first, 'not_live')
  if (fact.at.getTime() < state.now.getTime() - state.factAgeMaxMs) return refused(first, 'too_old')
  if (fact.is === 'event' && fact.isInherited) return refused(first, 'inherited')
  const entrance = candidates.find((candidate) => unmet(candidate, fact, state) === null)
  if (entrance === undefined) return refused(first, unmet(first, fact, state) ?? 'rule')
  const { key, slot } = placeOf(entrance, fact)
  if (key === undefined) return refused(entrance, 'key_missing')
  const reason = refusalOf(entrance, key, slot, fact.depth, state)
  if (reason === 'update') return { is: 'update', entrance, slot }
  if (reason !== null && reason !== 'restart') return refused(entrance, reason)
  const id = entranceId(state.journeyId, fact.cause, state.userId)
  return { is: reason === 'restart' ? 'restart' : 'enter', entrance, id, slot, key, cause: fact.cause, depth: fact.depth }
}

/** Which condition of an entrance a user does not meet. */
function unmet(entrance: EntranceStep, fact: EntryFact, state: EntryState): 'where' | 'rule' | null {
  if (!entrance.passes(fact.data, state.now.getTime())) return 'where'
  return entrance.settings.rule !== undefined && !state.ruleHolds(entrance) ? 'rule' : null
}

/** The entry key of a fact at an entrance, undefined if it has none and needs one, and the slot that follows from it. */
function placeOf({ settings: { entry_key, multiple, concurrent } }: EntranceStep, fact: EntryFact) {
  const given = fact.is === 'api' ? fact.key : null
  const key = given ?? (entry_key === undefined ? null : entryKeyIn(entry_key, fact.data))
  const slot = multiple && concurrent ? fact.cause : (key ?? '')
  return { key, slot }
}

/** Why a user does not enter by an entrance that is for them, or what happens to the entrance in the slot instead; null to enter. */
function refusalOf(
  { settings: { multiple = false, on_repeat = 'ignore', reenter_after } }: EntranceStep,
  key: string | null,
  slot: string,
  depth: number,
  state: EntryState,
): EntryRefusal | 'restart' | 'update' | null {
  const { journeyId, userId, lastEnteredAt, now } = state
  if (state.exclusionListIds.some((list) => state.isIn(list))) return 'excluded'
  if (isHeldOut(journeyId, userId, state.holdoutPercent)) return 'held_out'
  const isInside = state.isInside(slot)
  if (isInside && on_repeat === 'update') return 'update'
  if (isInside && !(on_repeat === 'restart' && multiple)) return 'already_inside'
  if (!multiple && state.hasEntered(key)) return 'once_only'
  const isSoon =
    reenter_after !== undefined && lastEnteredAt !== null && now.getTime() < lastEnteredAt.getTime() + durationMs(reenter_after)
  if (isSoon && !isInside) return 'reenter_after'
  if (state.enteredToday >= state.entriesPerDayMax) return 'daily_maximum'
  if (depth > DEPTH_MAX) return 'loop_depth'
  return isInside ? 'restart' : null
}
