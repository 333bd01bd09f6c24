/** All statistics of a journey. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { HOLDOUT_ARM } from '../goals.ts'
import { findJourney } from '../queries.ts'
import type { Step } from '../schema.ts'
import type { Goal } from '../settings.ts'
import * as kinds from '../steps/index.ts'
import { DEFAULT_PATH, type StepKind } from '../steps/step.ts'
import { findByStatus, stepsOfVersions } from '../versions/queries.ts'
import { type CountRow, countsOf, countsOfJourneys } from './counts.queries.ts'
import type { Statistics } from './schema.ts'
import { stepStats } from './stats.ts'

const RATE_DIGITS = 10_000

/** Goals of users who were held out were counted with this arm, which a path may have too. Processes of the version before still do. */
const EARLIER_HOLDOUT_ARM = 'holdout'

/** Throws 404. */
export async function getStatistics(ctx: ProjectCtx, id: JourneyId): Promise<Statistics> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  const [journey] = await countsOfJourneys(ctx, [id])
  const counts = await countsOf(ctx, id)
  const live = await findByStatus(ctx, id, 'live')
  const versions = [...new Set(counts.flatMap(({ version }) => version ?? []))]
  const graphs = new Map((await stepsOfVersions(ctx, id, versions)).map(({ version, steps }) => [version, steps]))
  const { entered = 0, completed = 0, exited = 0, at } = journey ?? {}
  return {
    entered,
    active: entered - completed - exited,
    completed,
    exited,
    ...(at && { stats_at: at }),
    held_out: sumOf(counts, 'held_out'),
    refused: byReason(counts, ['refused']),
    reasons: byReason(counts, ['completed', 'exited']),
    steps: Object.fromEntries(stepStats(counts)),
    edges: edgesOf(counts, graphs),
    goals: goalsByArm(live?.settings.goals ?? [], counts, entered),
  }
}

const sumOf = (counts: readonly CountRow[], what: string, fits: (row: CountRow) => boolean = () => true): number =>
  counts.reduce((sum, row) => (row.what === what && fits(row) ? sum + row.users : sum), 0)

function byReason(counts: readonly CountRow[], whats: string[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const { what, reason, users } of counts) {
    if (whats.includes(what) && reason !== null) sums.set(reason, (sums.get(reason) ?? 0) + users)
  }
  return Object.fromEntries(sums)
}

/** An open path leads to the default child, unless users exit by it. Users who left by a path without either are not on an edge. */
function edgesOf(counts: readonly CountRow[], graphs: ReadonlyMap<number, Step[]>): Statistics['edges'] {
  const edges = new Map<string, { from: string; path: string; to: string; users: number }>()
  for (const { what, version, external_id: from, path, users } of counts) {
    if (what !== 'left' || from === null || path === null || version === null) continue
    const step = graphs.get(version)?.find(({ external_id }) => external_id === from)
    const childOf = (name: string) => step?.children.find((child) => (child.path ?? DEFAULT_PATH) === name)?.external_id
    const to = childOf(path) ?? (step && exits(step, path) ? undefined : childOf(DEFAULT_PATH))
    if (to === undefined) continue
    const key = JSON.stringify([from, path, to])
    const edge = edges.get(key)
    if (edge) edge.users += users
    else edges.set(key, { from, path, to, users })
  }
  return [...edges.values()]
}

const types: Record<string, StepKind> = kinds

/** Do users exit by this path if it is open? */
const exits = ({ type, data }: Step, path: string): boolean =>
  types[type]?.paths(data).some((one) => one.path === path && one.exitsIfOpen !== undefined) ?? false

/** The goals by arm, each with the rate of the users who were held out for comparison. */
function goalsByArm(goals: readonly Goal[], counts: readonly CountRow[], entered: number): Statistics['goals'] {
  const heldOut = sumOf(counts, 'held_out')
  const withArm = new Map<string, number>()
  for (const { what, arm, users } of counts) if (what === 'arm' && arm !== null) withArm.set(arm, (withArm.get(arm) ?? 0) + users)
  const isHeldOut = (arm: string | null) => arm === HOLDOUT_ARM || (arm === EARLIER_HOLDOUT_ARM && !withArm.has(arm))
  return goals.flatMap(({ name }) => {
    const reached = (arm: string | null) => sumOf(counts, 'goal', (row) => row.path === name && row.arm === arm)
    const reachedHeldOut = sumOf(counts, 'goal', (row) => row.path === name && isHeldOut(row.arm))
    const holdoutRate = heldOut > 0 ? { holdout_rate: rateOf(reachedHeldOut, heldOut) } : {}
    const without = reached(null)
    const arms: [string | null, number][] = [...withArm]
    if (withArm.size === 0 || without > 0) arms.push([null, entered])
    return arms.map(([arm, all]) => ({ name, arm, users: reached(arm), rate: rateOf(reached(arm), all), ...holdoutRate }))
  })
}

/** At most 1: a user who enters again may reach the goal once more before the experiment, in the arm of the entrance before. */
const rateOf = (users: number, all: number): number => (all === 0 ? 0 : Math.min(1, Math.round((users / all) * RATE_DIGITS) / RATE_DIGITS))
