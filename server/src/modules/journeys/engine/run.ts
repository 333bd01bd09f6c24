/** What a wave works on: entrances in memory, and a world that loads facts and applies effects. */
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { BY_SHARE } from '../steps/experiment.ts'
import type { EffectResult } from '../steps/step.ts'
import { type Asked, finish, type Loaded, type Question, type Round } from './advance.ts'
import { add, type Counts } from './counts.ts'
import type { Entrance } from './entrance.ts'
import type { Occasion } from './facts.ts'
import type { Graph } from './graph.ts'

/** What is known of a user and a journey. */
export type JourneyUser = {
  entered: number
  lastEnteredAt: Date | null
  heldOutAt: Date | null
  arm: string | null
  goals: Record<string, string>
}

/** What a wave changes about a user and a journey. Numbers are added to what is stored. */
export type JourneyUserDelta = {
  user_id: UserId
  journey_id: JourneyId
  entered: number
  completed: number
  exited: number
  active: number
  last_entered_at: Date | null
  last_ended_at: Date | null
  held_out_at: Date | null
  goal_until: Date | null
  last_outcome: string | null
  arm: string | null
  goals: Record<string, string>
}

/** A user who may enter, or reach a goal. */
export type Candidate = {
  userId: UserId
  journeyId: JourneyId
  keyHash: number | null
  /** The entrance that would begin, if its cause may come again. */
  entranceId: number | null
  entriesPerDayMax: number
}

/** What has to be loaded before a round. */
export type Ask = { questions: Question[]; lists: { userId: UserId; list: ListId }[]; candidates: Candidate[] }

/** Where facts come from and effects go: a database, or a simulation. */
export type World = {
  loaded: Loaded & {
    journeyUser(userId: UserId, journeyId: JourneyId): JourneyUser
    hasEnded(userId: UserId, entranceId: number): boolean
    hasKey(userId: UserId, journeyId: JourneyId, keyHash: number): boolean
    enteredToday(userId: UserId, journeyId: JourneyId): number
  }
  load(ask: Ask): Promise<void>
  /** Applies effects. What follows from them for users is applied in the next round. */
  apply(asked: Asked[]): Promise<{ results: ReadonlyMap<Asked, EffectResult>; followed: Occasion[] }>
}

/** The published graphs of a project. */
export type Graphs = {
  /** Those that users enter, in the order of their journeys. */
  live: readonly Graph[]
  /** Those that users entered last, of journeys that are not live: since when at least. Their goals still count for a time. */
  off?: readonly { graph: Graph; since: Date }[]
  isHeld(journeyId: JourneyId): boolean
  /** A published version. */
  version(journeyId: JourneyId, version: number): Graph | undefined
  /** What happens to users at a step of an earlier version. */
  planFor(journeyId: JourneyId, version: number, step: string): 'stay' | 'exit' | { move: string }
}

export type Run = {
  world: World
  graphs: Graphs
  /** The instant of the batch, which those of late items become. */
  now: Date
  /** Facts older than this begin nothing. */
  factAgeMaxMs: number
  round: Round
  counts: Counts
  /** The entrances of the users of the wave, also those that ended in it. */
  entrances: Map<UserId, Entrance[]>
  deltas: Map<string, JourneyUserDelta>
  /** Entry keys that were used. */
  keys: Map<string, { user_id: UserId; journey_id: JourneyId; key_hash: number }>
  /** Who did not enter, held out users each time. */
  refusals: Counts
  /** How many rounds the walk took, and decisions. */
  rounds: number
  decisions: number
}

export type RunOptions = Pick<Run, 'world' | 'graphs' | 'now' | 'factAgeMaxMs'> & { onFailure: Round['onFailure'] }

export function openRun({ world, graphs, now, factAgeMaxMs, onFailure }: RunOptions, entrances: Entrance[]): Run {
  const counts: Counts = new Map()
  const run: Run = {
    world,
    graphs,
    now,
    factAgeMaxMs,
    counts,
    round: {
      counts,
      loaded: world.loaded,
      isHeld: ({ journeyId }) => graphs.isHeld(journeyId),
      onFailure,
      onArm: (entrance, arm) => {
        const { userId, journeyId } = entrance
        deltaOf(run, userId, journeyId).arm = arm
        if (!hasTaken(entrance, arm)) add(counts, { journey_id: journeyId, what: 'arm', arm })
      },
    },
    entrances: Map.groupBy(entrances, ({ userId }) => userId),
    deltas: new Map(),
    keys: new Map(),
    refusals: new Map(),
    rounds: 0,
    decisions: 0,
  }
  return run
}

/** Has the user taken this path of an experiment before, in the same entrance? */
const hasTaken = ({ trail, visit }: Entrance, arm: string): boolean =>
  trail.some((before) => before.visit < visit && before.reason === BY_SHARE && before.path === arm)

/** The entrances of a user that have not ended. */
export const activeOf = ({ entrances }: Run, userId: UserId): Entrance[] =>
  (entrances.get(userId) ?? []).filter(({ outcome }) => outcome === null)

/** What the wave changes about a user and a journey. */
export function deltaOf({ deltas }: Run, userId: UserId, journeyId: JourneyId): JourneyUserDelta {
  const key = `${userId} ${journeyId}`
  const known = deltas.get(key)
  if (known) return known
  const nothing = { last_entered_at: null, last_ended_at: null, held_out_at: null, goal_until: null, last_outcome: null, arm: null }
  const delta = { user_id: userId, journey_id: journeyId, entered: 0, completed: 0, exited: 0, active: 0, ...nothing, goals: {} }
  deltas.set(key, delta)
  return delta
}

/** Ends an entrance before its user reaches the end of the journey. */
export const exit = (run: Run, entrance: Entrance, reason: string, at: Date, as: 'completed' | 'exited' = 'exited'): void =>
  finish(run.round, entrance, as, reason, at)

/** Counts an item that is about an earlier visit. */
export const countStale = ({ counts }: Run, { journeyId }: Entrance): void => add(counts, { journey_id: journeyId, what: 'stale' })

/** An item that is later than this is applied as of now. */
export const LATE_MS = 15 * 60_000

/**
 * The instant of an item that is applied now: its own, or now if it is more than 15 minutes late, so that the steps after it do not follow
 * each other without their waits.
 */
export const instantOf = (own: Date, now: Date): Date => (now.getTime() - own.getTime() > LATE_MS ? now : own)
