/** How many users a new version lets go at once: those whose wait is over by its settings (D-JRN-5). */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { usableTimeZone } from '../../../lib/time-zones.ts'
import { type WaitingRow, waitingAt } from '../../positions/index.ts'
import { findUsers } from '../../users/index.ts'
import type { Step } from '../schema.ts'
import * as kinds from '../steps/index.ts'
import type { StepContext, StepKind } from '../steps/step.ts'
import type { Planned } from './plan.ts'

const types: Record<string, StepKind> = kinds

/** Of a step with more users, the count is that of the ones who came first. */
const COUNTED_MAX = 10_000

/** How many users of each planned group would move on at once, because their wait is over by the new settings. */
export async function dueNowOf(ctx: ProjectCtx, id: JourneyId, planned: readonly Planned[], steps: readonly Step[]): Promise<number[]> {
  const stepOf = new Map(steps.map((step) => [step.external_id, step]))
  const isCounted = ({ in_place, external_id }: Planned) => in_place && WAITS.includes(stepOf.get(external_id)?.type ?? '')
  const counted = planned.filter(isCounted)
  if (counted.length === 0) return planned.map(() => 0)
  const waiting = await waitingAt(ctx, id, counted, COUNTED_MAX)
  const users = new Map((await findUsers(ctx, [...new Set(waiting.map(({ user_id }) => user_id))])).map((user) => [user.id, user]))
  const isOver = (row: WaitingRow) => {
    const user = users.get(row.user_id)
    return user !== undefined && isDue(ctx, id, stepOf.get(row.external_id) as Step, row, user)
  }
  const over = Map.groupBy(waiting.filter(isOver), ({ version, external_id }) => `${version} ${external_id}`)
  return planned.map(({ version, external_id }) => over.get(`${version} ${external_id}`)?.length ?? 0)
}

const WAITS: readonly string[] = ['delay', 'wait_until']

/** A step that needs Liquid, rules or lists keeps the time that it has. */
function isDue(ctx: ProjectCtx, id: JourneyId, step: Step, row: WaitingRow, user: StepContext['user']): boolean {
  const now = ctx.clock.now()
  const kind = types[step.type] as StepKind
  const needs = kind.needs?.(step.data)
  if (needs?.liquid?.length) return row.due_at !== null && row.due_at <= now
  const decision = kind.decide(step.data, {
    now,
    enteredAt: row.entered_at,
    arrivedAt: row.arrived_at,
    zone: usableTimeZone(user.timezone, ctx.project.timezone),
    user,
    event: null,
    entrance: { id: 0, journeyId: id, step: step.external_id, visit: 1, key: null, keyPath: null, lastLeftAt: null, seen: {}, answers: {} },
    noted: {},
    input: { is: 'timer' },
    rule: () => ({ holds: false, nextChangeAt: null, seen: {} }),
    isIn: () => undefined,
    rendered: () => ({ text: '' }),
  })
  return decision.is === 'go' || decision.is === 'end'
}
