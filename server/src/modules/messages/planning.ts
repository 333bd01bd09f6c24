/** Stores the messages of an audience. */
import { isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import { type InTx, inSavepoint } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { mergesInto } from '../users/index.ts'
import type { Plan, Planned } from './planned.queries.ts'
import * as queries from './planned.queries.ts'

/**
 * Stores the messages of a chunk, as far as its users have none yet or theirs is to be sent at another time. Looking for such a message costs
 * as much as inserting one and there is hardly ever one, so it is looked for only when the insertion finds one.
 */
export async function planMessages(ctx: InTx, plan: Plan, users: Planned[]): Promise<number> {
  try {
    return await inSavepoint(ctx, (ctx) => queries.insertPlanned(ctx, plan, users))
  } catch (error) {
    if (!isSqlState(error, UNIQUE_VIOLATION)) throw error
  }
  const received = await receivedBefore(ctx, plan, users)
  return queries.renewPlanned(
    ctx,
    plan,
    users.map((user): Planned => (received.has(user.user_id) ? { ...user, state: 'skipped', reason: 'duplicate' } : user)),
  )
}

/**
 * The users who would get the message, and got it as users who were merged into them. The message of such a user stays where it is if the
 * remaining user had one too.
 */
async function receivedBefore(ctx: InTx, { cause }: Plan, users: Planned[]): Promise<Set<UserId>> {
  const wanted = users.flatMap(({ user_id, state }) => (state === 'queued' ? [user_id] : []))
  const merges = await mergesInto(ctx, wanted)
  if (merges.length === 0) return new Set()
  const mergedIds = merges.map(({ id }) => id)
  const received = new Set((await queries.recipientsOfCause(ctx, cause, mergedIds)).map(({ user_id }) => user_id))
  return new Set(merges.flatMap(({ id, merged_into }) => (received.has(id) ? [merged_into] : [])))
}
