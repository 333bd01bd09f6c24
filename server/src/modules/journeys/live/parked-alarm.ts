/** Says when unusually many users of journeys are parked, which is a fault of the server or of a published graph. */
import type { Db } from '../../../infra/postgres/db.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../../lib/times.ts'

const PARKED_MAX = 100
const WITHIN_MS = 10 * MINUTE_MS

type Alarm = { times: number[]; raisedAt: number }

/** Each process counts what it parked itself. */
const alarms = new WeakMap<Db, Alarm>()

/** Notes that a user was parked. Logs an error when that happened more than 100 times within 10 minutes, and at most once in that time. */
export function noteParked(ctx: Pick<Ctx, 'clock' | 'log' | 'metrics'>, db: Db): void {
  ctx.metrics.journeys('parked', 1)
  const now = ctx.clock.now().getTime()
  const alarm = alarms.get(db) ?? { times: [], raisedAt: Number.NEGATIVE_INFINITY }
  alarms.set(db, alarm)
  alarm.times.push(now)
  if (alarm.times.length <= PARKED_MAX) return
  const oldest = alarm.times.shift() as number
  if (now - oldest > WITHIN_MS || now - alarm.raisedAt < WITHIN_MS) return
  alarm.raisedAt = now
  ctx.log.error({ parked: PARKED_MAX, within_ms: WITHIN_MS }, 'many users of journeys were parked')
}
