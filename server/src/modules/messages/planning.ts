/** Stores the messages of an audience. */
import { isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import { type InTx, inSavepoint } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { mergesInto } from '../users/index.ts'
import type { Plan, Planned } from './planned.queries.ts'
import * as queries from './planned.queries.ts'
import { RECEIVED_STATES } from './schema.ts'

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
  const { received, withdrawn } = await sentToMerged(ctx, plan, users)
  return queries.renewPlanned(
    ctx,
    plan,
    users.map((user): Planned => (received.has(user.user_id) ? { ...user, state: 'skipped', reason: 'duplicate' } : user)),
    [...withdrawn],
  )
}

/**
 * Those of the users who have no message of a cause that stays, neither as themselves nor as one of those who were merged into them: such a
 * message may have been stored while its user was merged. `planMessages` decides about those that do not stay.
 */
export async function withoutMessage(ctx: InTx, cause: string, ids: UserId[]): Promise<UserId[]> {
  const mergedInto = new Map((await mergesInto(ctx, ids)).map(({ id, merged_into }) => [id, merged_into]))
  const messages = await queries.statesOfCause(ctx, cause, [...ids, ...mergedInto.keys()])
  const found = new Set(messages.filter(stays).map(({ user_id }) => mergedInto.get(user_id) ?? user_id))
  return ids.filter((id) => !found.has(id))
}

/** It was not skipped, nor withdrawn to be sent at another time. */
const stays = ({ state, reason }: Pick<queries.StateOfCause, 'state' | 'reason'>): boolean =>
  state !== 'skipped' && !(state === 'aborted' && reason === 'rescheduled')

/** What became of the messages of users who were merged into these. Each user is in one set at most. */
type SentToMerged = { received: Set<UserId>; withdrawn: Set<UserId> }

/**
 * What became of the message as that of users who were merged into those who would get it. It stays where it is if the remaining user had one
 * too, which was skipped for it. `received`: the remaining user got it as one of them, or may get it. `withdrawn`: all of theirs were withdrawn
 * to be sent at another time, or skipped, so that the remaining user is to get it.
 */
async function sentToMerged(ctx: InTx, { cause }: Plan, users: Planned[]): Promise<SentToMerged> {
  const wanted = users.flatMap(({ user_id, state }) => (state === 'queued' ? [user_id] : []))
  const merges = await mergesInto(ctx, wanted)
  if (merges.length === 0) return { received: new Set(), withdrawn: new Set() }
  const mergedInto = new Map(merges.map(({ id, merged_into }) => [id, merged_into]))
  const messages = await queries.statesOfCause(ctx, cause, [...mergedInto.keys()])
  const usersOf = (some: typeof messages) => new Set(some.flatMap(({ user_id }) => mergedInto.get(user_id) ?? []))
  const kept = usersOf(messages.filter(stays))
  return {
    received: usersOf(messages.filter(({ state }) => RECEIVED_STATES.includes(state) || state === 'claimed')),
    withdrawn: usersOf(messages).difference(kept),
  }
}
