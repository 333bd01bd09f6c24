/** Changes of inboxes by other modules: deliveries, merges, erasure. */

import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { parseTime } from '../../lib/times.ts'
import { PURGE } from './job-names.ts'
import * as queries from './queries.ts'
import type { InboxContent } from './schema.ts'

/**
 * Puts messages into inboxes, each once even if this is repeated. `user_id` is the user of the message in this transaction, which has
 * locked the message, so no merge or erasure can happen in between.
 */
export async function deliverToInbox(ctx: InTx, contents: InboxContent[]): Promise<void> {
  if (contents.length === 0) return
  const stored = contents.map(toStored)
  if (stored.some(({ expires_at }) => expires_at !== null)) ctx.wake(PURGE)
  try {
    await queries.insertMessages(ctx, stored)
  } catch (error) {
    throw isSqlState(error, UNIQUE_VIOLATION) ? new Conflict('Another process has delivered an inbox message.') : error
  }
}

function toStored({ content: { expires_at, ...content }, ...message }: InboxContent): queries.StoredMessage {
  const expiry = typeof expires_at === 'string' ? parseTime(expires_at.trim()) : null
  return { ...message, content: storable(content), expires_at: expiry?.toISOString() ?? null }
}

/** Rendered text may contain characters that the database cannot store. */
const storable = (content: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value]),
  )

/**
 * Merges the inboxes of merged users into the remaining user's. Call it after their messages were moved in the same transaction, so that
 * nothing can be delivered to a merged user afterwards.
 */
export async function mergeInbox(ctx: InTx, merges: queries.Merge[]): Promise<void> {
  const found = await queries.withCounters(
    ctx,
    merges.map(({ from_id }) => from_id),
  )
  const withInbox = new Set(found.map(({ user_id }) => user_id))
  const applicable = merges.filter(({ from_id }) => withInbox.has(from_id))
  if (applicable.length === 0) return
  await queries.lockOrMakeCounters(ctx, distinct(applicable.flatMap(({ from_id, into_id }) => [from_id, into_id])))
  await queries.mergeMessages(ctx, applicable)
}

/** Deletes the inboxes of these users. Returns the number of rows deleted. */
export async function eraseInbox(ctx: InTx, userIds: UserId[]): Promise<queries.Erased> {
  return (await queries.erase(ctx, userIds)) ?? { inbox_messages: 0, inbox_counters: 0 }
}
