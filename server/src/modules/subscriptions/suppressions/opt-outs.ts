/** Addresses whose owners have unsubscribed from everything. */
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Addressed, Channel } from '../../../lib/channels.ts'
import { type Origin, originOfOptOut } from './covering.ts'
import * as queries from './queries.ts'
import { type Address, hashed, keyOf } from './service.ts'

/** An opt-out from everything: its channel, and what it came from. */
export type OptOut = { channel: Addressed; origin: Origin }

/** The opt-outs from everything of the owners of these addresses, also where other suppressions cover them. */
export async function optOutsFromAll(ctx: ProjectCtx, addresses: Address[]): Promise<OptOut[]> {
  const key = await keyOf(ctx)
  const rows = key && addresses.length > 0 ? await queries.findSuppressions(ctx, hashed(ctx, key, addresses)) : []
  return rows.flatMap((row) => {
    const origin = originOfOptOut(row)
    return origin ? [{ channel: row.channel, origin }] : []
  })
}

/** The channels on which the owner of these addresses has unsubscribed from everything. */
export const channelsUnsubscribedFromAll = async (ctx: ProjectCtx, addresses: Address[]): Promise<Set<Channel>> =>
  new Set((await optOutsFromAll(ctx, addresses)).map(({ channel }) => channel))

/** Waits for transactions that change the suppressions of these addresses, and holds those that there are. */
export async function lockSuppressed(ctx: InTx, addresses: Address[]): Promise<void> {
  const key = await keyOf(ctx)
  if (key && addresses.length > 0) await queries.lockSuppressions(ctx, hashed(ctx, key, addresses))
}

/** Lifts suppressions that came from unsubscribing from everything; users cannot lift others. Returns whether there were any. */
export async function liftUnsubscribed(ctx: InTx, addresses: Address[]): Promise<boolean> {
  const key = await keyOf(ctx)
  return key !== undefined && addresses.length > 0 && (await queries.liftUnsubscribed(ctx, hashed(ctx, key, addresses))) > 0
}
