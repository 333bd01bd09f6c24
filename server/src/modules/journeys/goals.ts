/** Which goals of a journey an event reaches. Pure. */
import type { UserId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { type CompiledRule, compileRule, matchesTracker } from '../rules/index.ts'
import type { Goal, JourneySettings } from './settings.ts'

/** The arm of users who were held out. No path has this name. */
export const HOLDOUT_ARM = ''

/** What is known of a user and a journey. */
export type GoalUser = {
  user_id?: UserId
  last_entered_at: Date | null
  held_out_at: Date | null
  /** The path of the last experiment. */
  arm: string | null
  /** When the user reached a goal last, by its name: ISO 8601. */
  goals: Readonly<Record<string, string>>
}

export type ReachedGoal = { name: string; arm: string | null }

/** Since when goals of a user count: the last entry, or the instant at which the user was held out if that is later. */
function startOf({ last_entered_at, held_out_at }: GoalUser): { at: Date; isHeldOut: boolean } | null {
  const isHeldOut = held_out_at !== null && (last_entered_at === null || held_out_at > last_entered_at)
  const at = isHeldOut ? held_out_at : last_entered_at
  return at === null ? null : { at, isHeldOut }
}

/**
 * The goals that an event reaches: each once for an entrance, within its days. The engine stores the time of the event under the name in
 * `goals` of the user, and counts the goal with the arm. `graph` needs the settings of the version only.
 */
export function goalsOf(
  { settings }: { settings: Pick<JourneySettings, 'goals'> },
  user: GoalUser,
  event: { name: string; data: Record<string, unknown>; createdAt: Date },
): ReachedGoal[] {
  const start = startOf(user)
  if (start === null) return []
  const at = event.createdAt.getTime()
  const from = start.at.getTime()
  return (settings.goals ?? []).flatMap((goal): ReachedGoal[] => {
    if (goal.event_name !== event.name || at < from || at > from + goal.within_days * DAY_MS) return []
    const reached = user.goals[goal.name]
    if (reached !== undefined && Date.parse(reached) >= from) return []
    if (!passes(goal, event.data, at)) return []
    return [{ name: goal.name, arm: start.isHeldOut ? HOLDOUT_ARM : user.arm }]
  })
}

/** Until when goals count for a user who enters or is held out at an instant; null without goals. */
export const goalUntil = ({ goals = [] }: Pick<JourneySettings, 'goals'>, from: Date): Date | null =>
  goals.length === 0 ? null : new Date(from.getTime() + Math.max(...goals.map(({ within_days }) => within_days)) * DAY_MS)

/** Settings are immutable once they are published, so their tests are compiled once. */
const compiled = new WeakMap<Goal, CompiledRule>()

function passes(goal: Goal, data: Record<string, unknown>, atMs: number): boolean {
  if (goal.where === undefined) return true
  const rule = compiled.get(goal) ?? compileRule({ event: 'event', where: goal.where })
  compiled.set(goal, rule)
  const [tracker] = rule.trackers
  return tracker === undefined || matchesTracker(tracker, { name: 'event', source: 'api', data, createdAtMs: atMs }, atMs)
}
