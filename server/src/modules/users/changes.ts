/** Records of what is different about users now, for the modules that depend on it. */

import { jointRun } from '../../infra/postgres/joint.ts'
import { appendAll } from '../../infra/queue/append.ts'
import { APPLY } from '../../infra/queue/queue.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { sameJson, type UserRecord } from './identity.ts'
import type { UserMerge } from './queries.ts'

/**
 * What is different about a user: `attribute:email`, `attribute:data.plan` (a top-level key), `devices`, or a name that another module
 * gives, such as `subscription:4`. It is empty for a new user, where everything is different.
 */
export type UserChange = {
  user_id: UserId
  what: string[]
  is_new?: true
  /** Those of `what`, or of a new user the attributes, that came to the user by a merge, and were not changed after it. */
  inherited?: string[]
  /** The values that attributes had before, by their names. Those of a large change are left out. */
  was?: Record<string, unknown>
  /** An import made the user. */
  is_import?: true
  /** The user as it is now and as it was before, when it was loaded anyway. Not stored in the queue. */
  user?: UserRecord
  former?: UserRecord
  /** Users who were merged into this one, as they were stored before. Not stored in the queue. */
  absorbed?: UserRecord[]
}

/**
 * An event that the server writes about a user, as it is stored in the ingest queue. `starts`: only journeys, or nothing; without it,
 * campaigns too. Earlier releases stored `silent` for nothing.
 */
export type SystemEvent = {
  name: string
  data: Record<string, unknown>
  created_at: string
  starts?: 'journeys' | 'nothing'
  /** It came to the user by a merge. */
  is_inherited?: true
  silent?: true
}

/** A change as it is stored in the ingest queue. `merged_from` lists users that were merged into this one. */
export type QueuedUserChange = Omit<UserChange, 'user' | 'former' | 'absorbed'> & { event?: SystemEvent; merged_from?: UserId[] }

/** What is different without what came by a merge. */
export const ownChanges = ({ what, inherited = [] }: Pick<UserChange, 'what' | 'inherited'>): string[] =>
  inherited.length === 0 ? what : what.filter((name) => !inherited.includes(name))

export type UserChanges = { changes: UserChange[]; merges: UserMerge[] }

export const joinChanges = (one: UserChanges, other: UserChanges): UserChanges => ({
  changes: [...one.changes, ...other.changes],
  merges: [...one.merges, ...other.merges],
})

const COMPARED = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale', 'has_push_device'] as const

/** The names of all attributes that differ between the two. */
export function differences(before: UserRecord, after: UserRecord): string[] {
  const names: string[] = []
  for (const name of COMPARED) if (before[name] !== after[name]) names.push(`${ATTRIBUTE}${name}`)
  if (before.created_at.getTime() !== after.created_at.getTime()) names.push(`${ATTRIBUTE}created_at`)
  if (before.data !== after.data) for (const key of differentKeys(before.data, after.data)) names.push(`${ATTRIBUTE}${DATA}${key}`)
  return names
}

const WAS_BYTES_MAX = 1024

/** The values that changed attributes had before, for `UserChange`: none if they are large. */
export function formerValues(before: UserRecord, what: string[]): Pick<UserChange, 'was'> {
  const was: Record<string, unknown> = {}
  for (const change of what) {
    const name = change.slice(ATTRIBUTE.length)
    if (!change.startsWith(ATTRIBUTE) || name === 'created_at') continue
    was[name] = (name.startsWith(DATA) ? before.data[name.slice(DATA.length)] : before[name as 'email']) ?? null
  }
  return Buffer.byteLength(JSON.stringify(was)) <= WAS_BYTES_MAX ? { was } : {}
}

const DATA = 'data.'

/** The prefix of attributes in changes. */
export const ATTRIBUTE = 'attribute:'

function differentKeys(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const changed = Object.keys(before).filter((key) => !Object.hasOwn(after, key) || !sameJson(before[key], after[key]))
  for (const key of Object.keys(after)) if (!Object.hasOwn(before, key)) changed.push(key)
  return changed
}

/** Appends changes to the ingest queue. They are applied after everything that was accepted before them. */
export async function appendUserChanges(ctx: InTx, changes: QueuedUserChange[]): Promise<void> {
  if (changes.length === 0) return
  await appendChanges(ctx, ctx.projectId, changes)
  ctx.wake(APPLY)
}

const appendChanges = jointRun<QueuedUserChange[]>((ctx, calls) =>
  appendAll(
    ctx.db,
    calls.map(({ projectId, input }) => ({
      projectId,
      kind: 'changes',
      userId: null,
      requestId: '',
      receivedAt: ctx.clock.now(),
      items: input.length,
      body: Buffer.from(JSON.stringify(input)),
    })),
  ),
)

/** Appends the changes of users that were saved, and their merges, to the ingest queue. */
export const appendSavedChanges = (ctx: InTx, { changes, merges }: UserChanges): Promise<void> =>
  appendUserChanges(ctx, [
    ...changes.map(({ user: _, former: __, absorbed: ___, ...change }) => change),
    ...[...Map.groupBy(merges, ({ into_id }) => into_id)].map(
      ([user_id, pairs]): QueuedUserChange => ({ user_id, what: [], merged_from: pairs.map(({ from_id }) => from_id) }),
    ),
  ])
