/** Schedules of a project whose time zone has changed. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { SWEEP } from '../job-names.ts'
import { saveNext } from './clock.queries.ts'
import { firstInstant } from './schedules.ts'
import { keepZone, lockSchedules } from './time-zones.queries.ts'

/**
 * Looks up anew when the schedules of a project come, from now on in its new time zone. Users who enter at this moment still do so by the
 * zone before. A local time that came in that zone already comes no second time, because its cause is the same.
 */
export async function moveSchedules(ctx: InTx, former: string): Promise<void> {
  const now = ctx.clock.now()
  const schedules = await lockSchedules(ctx)
  const due = schedules.filter(({ next_at }) => next_at <= now)
  if (due.length > 0)
    await keepZone(
      ctx,
      due.map(({ id }) => id),
      former,
    )
  // The instants of a schedule in the zones of users are those of all zones.
  const later = schedules.filter(({ next_at, params }) => next_at > now && params.zone === 'project')
  const moved: { id: number; next: Date }[] = []
  for (const { id, params } of later) {
    const next = await firstInstant(params, now, ctx.project.timezone)
    if (next !== null) moved.push({ id, next })
  }
  if (moved.length > 0) await saveNext(ctx, moved)
  ctx.wake(SWEEP)
}
