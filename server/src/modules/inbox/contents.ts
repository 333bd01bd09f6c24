/** What is in inboxes, as far as others see to it: deliveries, merges, erasure. */

import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { parseTime } from '../../lib/times.ts'
import * as queries from './queries.ts'
import type { InboxContent } from './schema.ts'

/**
 * Puts copies of messages into inboxes, each once however often it is asked. `user_id` is whoever the message belongs to in this
 * transaction, which holds its row: then neither a merge nor an erasure comes in between.
 */
export async function deliverToInbox(ctx: InTx, copies: InboxContent[]): Promise<void> {
  if (copies.length === 0) return
  try {
    await queries.insertCopies(ctx, copies.map(toStored))
  } catch (error) {
    throw isSqlState(error, UNIQUE_VIOLATION) ? new Conflict('A copy was delivered by somebody else.') : error
  }
}

function toStored({ content: { expires_at, ...content }, ...copy }: InboxContent): queries.StoredCopy {
  const expiry = typeof expires_at === 'string' ? parseTime(expires_at.trim()) : null
  return { ...copy, content: storable(content), expires_at: expiry?.toISOString() ?? null }
}

/** What a template comes to may hold what the database cannot. */
const storable = (content: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value]),
  )

/**
 * The inboxes of people who turned out to be one are the survivor's. After their messages were moved in the same transaction,
 * so that nothing can be delivered to who is no more.
 */
export async function mergeInbox(ctx: InTx, merges: queries.Merge[]): Promise<void> {
  const found = await queries.withCounters(
    ctx,
    merges.map(({ from_id }) => from_id),
  )
  const formers = new Set(found.map(({ user_id }) => user_id))
  const moves = merges.filter(({ from_id }) => formers.has(from_id))
  if (moves.length === 0) return
  await queries.lockOrMakeCounters(ctx, distinct(moves.flatMap(({ from_id, into_id }) => [from_id, into_id])))
  await queries.mergeMessages(ctx, moves)
}

/** Removes everything of these people, and says how much of what there was. */
export async function eraseInbox(ctx: InTx, userIds: UserId[]): Promise<queries.Erased> {
  return (await queries.erase(ctx, userIds)) ?? { inbox_messages: 0, inbox_counters: 0 }
}
