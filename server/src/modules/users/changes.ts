/** What became different about people, for those who must look again because of it. */

import { appendAll } from '../../infra/queue/queue.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { sameJson, type UserRecord } from './identity.ts'
import type { UserMerge } from './queries.ts'

/**
 * What is different about a person: `attribute:email`, `attribute:data.plan` (a top-level key), `devices`, and whatever other
 * modules say of theirs, such as `subscription:4`. Of somebody new, everything is.
 */
export type UserChange = {
  user_id: UserId
  what: string[]
  is_new?: true
  /** The person now, when it is at hand; is not logged. */
  user?: UserRecord
}

/** A fact that the system itself knows about a person, under one of its reserved names. A silent one triggers nothing. */
export type SystemEvent = { name: string; data: Record<string, unknown>; created_at: string; silent?: true }

/** A change as the log of accepted requests keeps it. `merged_from` names people that turned out to be this one. */
export type QueuedUserChange = Omit<UserChange, 'user'> & { event?: SystemEvent; merged_from?: UserId[] }

export type UserChanges = { changes: UserChange[]; merges: UserMerge[] }

/** What other modules do when people change or turn out to be one; runs in the same transaction. */
export type WhenChanged = (ctx: InTx, news: UserChanges) => Promise<void>

const COMPARED = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale', 'has_push_device'] as const

/** Everything in which the two differ. */
export function differences(before: UserRecord, after: UserRecord): string[] {
  const fields = COMPARED.filter((name) => before[name] !== after[name])
  const created = before.created_at.getTime() === after.created_at.getTime() ? [] : ['created_at']
  const keys = before.data === after.data ? [] : differentKeys(before.data, after.data).map((key) => `data.${key}`)
  return [...fields, ...created, ...keys].map((name) => `attribute:${name}`)
}

const differentKeys = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => Object.hasOwn(before, key) !== Object.hasOwn(after, key) || !sameJson(before[key], after[key]),
  )

/** Hands changes that were made outside the log to whoever applies the log: they are looked at after what was accepted before. */
export async function appendUserChanges(ctx: InTx, changes: QueuedUserChange[]): Promise<void> {
  if (changes.length === 0) return
  await appendAll(ctx.db, [
    {
      projectId: ctx.projectId,
      kind: 'changes',
      userId: null,
      requestId: '',
      receivedAt: ctx.clock.now(),
      items: changes.length,
      body: Buffer.from(JSON.stringify(changes)),
    },
  ])
}

/** The same for people that were saved, with those merged into them. */
export const appendAllUserChanges = (ctx: InTx, { changes, merges }: UserChanges): Promise<void> =>
  appendUserChanges(ctx, [
    ...changes.map(({ user: _, ...change }) => change),
    ...[...Map.groupBy(merges, ({ into_id }) => into_id)].map(
      ([user_id, pairs]): QueuedUserChange => ({ user_id, what: [], merged_from: pairs.map(({ from_id }) => from_id) }),
    ),
  ])
