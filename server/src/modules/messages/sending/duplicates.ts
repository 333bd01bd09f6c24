/** Messages of one cause to a user and to users who were merged into that one. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { MERGE_DELAY_MAX_MS, mergesInto, type UserRow } from '../../users/index.ts'
import type { ClaimedMessage } from '../schema.ts'
import { sentToMerged, sharingCause } from './duplicates.queries.ts'

/**
 * Finds messages that another one of the same cause replaces, because a user was merged. Returns true for those that are replaced, false for those
 * that wait while the other one may be on its way to a provider.
 */
export async function duplicatesAmong(
  ctx: ProjectCtx,
  messages: ClaimedMessage[],
  users: Map<UserId, UserRow>,
): Promise<Map<MessageId, boolean>> {
  const addressed = messages.flatMap((message) => {
    const user = users.get(message.user_id)
    return user ? [{ ...message, into: user.id }] : []
  })
  const { own = [], merged = [] } = Object.groupBy(addressed, ({ user_id, into }) => (user_id === into ? 'own' : 'merged'))
  const found = await Promise.all([ofMerged(ctx, merged), ofRemaining(ctx, own)])
  return new Map(found.flat().map(({ id, is_replaced }) => [id, is_replaced]))
}

type Addressed = ClaimedMessage & { into: UserId }

/**
 * A user who was merged between the reading and the saving of an audience leaves a message; so does one whose message was under way in a merge, for
 * which that of the remaining user was skipped. Of several such messages, each process finds the same one to send, whatever was claimed first.
 */
async function ofMerged(ctx: ProjectCtx, messages: Addressed[]) {
  if (messages.length === 0) return []
  const shared = messages.map(({ id, into, cause }) => ({ id, user_id: into, cause }))
  return sharingCause(ctx, shared, await pairsInto(ctx, shared))
}

/** A message of a user that is saved and sent while the user is merged does not skip that of the remaining user. */
async function ofRemaining(ctx: ProjectCtx, messages: Addressed[]) {
  const [first] = messages
  if (!first) return []
  const createdMs = messages.reduce((least, { created_at }) => Math.min(least, created_at.getTime()), first.created_at.getTime())
  const merges = await pairsInto(ctx, messages, new Date(createdMs - MERGE_DELAY_MAX_MS))
  return merges.length === 0 ? [] : sentToMerged(ctx, messages, merges)
}

async function pairsInto(ctx: ProjectCtx, users: { user_id: UserId }[], since?: Date) {
  const merges = await mergesInto(ctx, distinct(users.map(({ user_id }) => user_id)), since)
  return merges.map(({ id, merged_into }) => ({ from_id: id, into_id: merged_into }))
}
