import type { Appender } from '../../infra/queue/append.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { admitNames, type UsedName } from '../../infra/runtime/new-names.ts'
import type { ReplyRecord } from '../../infra/runtime/reply-record.ts'
import { pathOf } from '../../lib/attribute-paths.ts'
import { type Fault, refuse } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { distinct } from '../../lib/shapes.ts'
import { usedDataKeys, usedEventNames } from '../events/index.ts'
import { checkDeferredItem, findUsers, resolveIds, usedAttributes } from '../users/index.ts'
import { checkEvent, refuseMembers, requireAnonymousEvents } from './check-events.ts'
import type { EventInput } from './schema.ts'

/** A request with its bytes, which are stored unchanged. */
type Request = { raw: Buffer; requestId: string; record: ReplyRecord | undefined }

/** Stores a request of events, all or none of them. Resolves after the commit (D-EVT-1). */
export async function acceptEvents(ctx: ProjectCtx, appender: Appender, items: unknown[], request: Request): Promise<void> {
  const { caller } = ctx
  requireAnonymousEvents(items, caller)
  refuse(items.flatMap((item, at) => checkEvent(item, at, ctx.project, caller.kind === 'user')))
  if (caller.kind === 'user') await requireOwnIds(ctx, caller.userId, items as EventInput[])
  // First, because a request that is refused must take no new names.
  await appender.requireRoom(ctx)
  if (caller.kind !== 'secret') await admitNewNames(ctx, items as EventInput[])
  await append(ctx, appender, 'events', items.length, request)
  ctx.metrics.eventsIngested('accepted', items.length)
}

/** Publishable keys may introduce a limited number of names. Throws 429. */
async function admitNewNames(ctx: ProjectCtx, items: EventInput[]): Promise<void> {
  const events = items.map(({ name }, at) => ({ name, param: `[${at}].name` }))
  await admitNames(ctx, [
    { kind: 'event', used: events, alreadyUsed: (names) => usedEventNames(ctx, names) },
    { kind: 'event_data', used: dataKeys(items), alreadyUsed: (keys) => usedDataKeys(ctx, distinct(items.map(({ name }) => name)), keys) },
    { kind: 'attribute', used: userAttributes(items), alreadyUsed: (keys) => usedAttributes(ctx, keys) },
  ])
}

function* dataKeys(items: EventInput[]): Generator<UsedName> {
  for (const [at, { data = {} }] of items.entries()) {
    for (const name in data) if (data[name] !== null) yield { name, param: `[${at}].data` }
  }
}

function* userAttributes(items: EventInput[]): Generator<UsedName> {
  for (const [at, { user = {} }] of items.entries()) {
    for (const name in user.data) if (user.data[name] !== null) yield { name, param: `[${at}].user.data` }
    for (const [member, value] of Object.entries(user)) {
      const [name] = pathOf(member) ?? []
      if (name !== undefined && value !== null) yield { name, param: `[${at}].user.${member}` }
    }
  }
}

/** Stores a request of user updates, all or none of them (D-PATCHU-1). */
export async function acceptUserUpdates(ctx: ProjectCtx, appender: Appender, items: unknown[], request: Request): Promise<void> {
  refuse(items.flatMap((item, at): Fault[] => checkDeferredItem(item, at, ctx.project)))
  await appender.requireRoom(ctx)
  await append(ctx, appender, 'users', items.length, request)
}

/** Shares a commit with other requests. With an Idempotency-Key, its record is stored in that commit. */
async function append(
  ctx: ProjectCtx,
  appender: Appender,
  kind: 'events' | 'users',
  items: number,
  { raw: body, requestId, record }: Request,
): Promise<void> {
  const { caller, projectId } = ctx
  const userId = caller.kind === 'user' ? caller.userId : null
  await appender.append({ projectId, kind, userId, requestId, receivedAt: ctx.clock.now(), items, body, record })
}

/** With a user token, ids can be left out. Given ids must be those of that user, who can have several anonymous ids. Throws 403. */
async function requireOwnIds(ctx: ProjectCtx, userId: UserId, items: EventInput[]): Promise<void> {
  const [user] = await findUsers(ctx, [userId])
  const earlier = items.flatMap(({ anonymous_id = null }) =>
    anonymous_id === null || anonymous_id === user?.anonymous_id ? [] : [anonymous_id],
  )
  const others = earlier.length === 0 ? new Set<string | null>() : await anonymousIdsOfOthers(ctx, userId, distinct(earlier))
  const foreign = items.map(({ external_id = null, anonymous_id = null }) => {
    if (external_id !== null && external_id !== user?.external_id) return 'external_id'
    return others.has(anonymous_id) ? 'anonymous_id' : null
  })
  refuseMembers(foreign, {
    reason: 'other_user',
    message: 'Omit user ids from events, or use the ids of the user that the user token belongs to.',
  })
}

/** Those of these ids that the user does not have. */
async function anonymousIdsOfOthers(ctx: ProjectCtx, userId: UserId, anonymousIds: string[]): Promise<Set<string | null>> {
  const found = await resolveIds(ctx, [], anonymousIds)
  const own = new Set(found.filter(({ id }) => id === userId).map(({ anonymous_id }) => anonymous_id))
  return new Set(anonymousIds.filter((id) => !own.has(id)))
}
