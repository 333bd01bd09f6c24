/** How many users a new version lets go at once: those whose wait is over by its settings (D-JRN-5). */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { type WaitingRow, waitingAt } from '../../positions/index.ts'
import { findUsers } from '../../users/index.ts'
import type { Step } from '../schema.ts'
import * as kinds from '../steps/index.ts'
import type { StepContext, StepKind } from '../steps/step.ts'
import type { Planned } from './plan.ts'

const types: Record<string, StepKind> = kinds

/** Of a step with more users, the count is that of the ones who came first. */
const COUNTED_MAX = 10_000

/** The numbers for planned groups, in their order. */
export async function dueNowOf(ctx: ProjectCtx, id: JourneyId, planned: readonly Planned[], steps: readonly Step[]): Promise<number[]> {
  const counts: number[] = []
  for (const { in_place, external_id, version } of planned) {
    const step = steps.find((one) => one.external_id === external_id)
    const counted = in_place && step !== undefined && (step.type === 'delay' || step.type === 'wait_until')
    counts.push(counted ? await countDue(ctx, id, step, await waitingAt(ctx, id, version, external_id, COUNTED_MAX)) : 0)
  }
  return counts
}

async function countDue(ctx: ProjectCtx, id: JourneyId, step: Step, waiting: WaitingRow[]): Promise<number> {
  const users = new Map((await findUsers(ctx, [...new Set(waiting.map(({ user_id }) => user_id))])).map((user) => [user.id, user]))
  return waiting.filter((row) => {
    const user = users.get(row.user_id)
    return user !== undefined && isDue(ctx, id, step, row, user)
  }).length
}

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
    zone: user.timezone ?? ctx.project.timezone,
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
