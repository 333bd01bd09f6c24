/**
 * How many messages of a blast may be rendered for the mail queue. It holds so much email that waits for its first attempt, and no more: a blast
 * of a million must not be copied into it at once.
 */

import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { SharedRate } from '../../../infra/runtime/shared-rate.ts'
import { SECOND_MS } from '../../../lib/times.ts'
import type { ProviderConnection } from '../../channels/index.ts'
import { untriedBulk } from '../../mta/index.ts'
import { BULK, type Priority } from '../schema.ts'
import type { Refused } from './rates.ts'

const BYTES_MAX = 512 * 1024 * 1024
const RECHECK_MS = 500

/** How fast messages that wait for room are sent, should nothing look after them any more. */
const UNATTENDED: SharedRate = { limit: 100, intervalMs: SECOND_MS }

type Over = Pick<ProviderConnection, 'provider'>

/** How many more messages the mail queue of a project takes; for other providers, any number. */
export async function mailRoom(ctx: ProjectCtx, priority: Priority, { provider }: Over): Promise<number> {
  if (provider !== 'mta' || priority !== BULK) return Number.MAX_SAFE_INTEGER
  const most = ctx.config.MTA_QUEUE_MAX
  const { mails, bytes } = await untriedBulk(ctx, most)
  return bytes < BYTES_MAX ? Math.max(0, most - mails) : 0
}

/** When to look again for room. */
export const roomAt = ({ clock }: Pick<Ctx, 'clock'>): Date => new Date(clock.now().getTime() + RECHECK_MS)

/** Divides messages into those that the mail queue has room for, and the others. */
export async function applyMailRoom<T extends { connection: Over }>(
  ctx: ProjectCtx,
  priority: Priority,
  items: readonly T[],
): Promise<{ granted: T[]; refused: Refused<T>[] }> {
  const queued = items.filter(({ connection }) => connection.provider === 'mta')
  const [first] = queued
  if (!first) return { granted: [...items], refused: [] }
  const room = await mailRoom(ctx, priority, first.connection)
  const over = new Set(queued.slice(room))
  const at = roomAt(ctx)
  return { granted: items.filter((item) => !over.has(item)), refused: [...over].map((item) => ({ item, at, rate: UNATTENDED })) }
}
