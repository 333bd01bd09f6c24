import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../infra/ctx.ts'
import { isSqlState, UNIQUE_VIOLATION } from '../../infra/db.ts'
import { type PageOf, type PageRequest, readPageRequest } from '../../infra/paging.ts'
import { ApiError, type Fault, missing, refuse } from '../../lib/errors.ts'
import type { ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { logChanges } from '../users/index.ts'
import * as queries from './queries.ts'
import type { SubscriptionChanges, SubscriptionInput, SubscriptionRow, UserSubscription, UserSubscriptionChanges } from './schema.ts'

const SUBSCRIPTIONS_MAX = 200

const DEFAULTS: SubscriptionInput[] = [
  { name: 'Default Email', channel: 'email' },
  { name: 'Default SMS', channel: 'text' },
  { name: 'Default Push', channel: 'push' },
  { name: 'Default Webhook', channel: 'webhook' },
  { name: 'Default In-app', channel: 'in_app' },
]

/** Gives a new project one public type for each channel (D-PROJ-1). */
export async function createDefaultSubscriptions(ctx: Ctx, projectId: ProjectId): Promise<void> {
  await queries.insertSubscriptions(ctx, projectId, DEFAULTS)
}

const taken = () => new ApiError('resource_already_exists', 'A subscription type with this name and channel already exists.')

/** Makes a subscription type. Throws 409 when name and channel are taken, 429 when there are too many. */
export async function createSubscription(ctx: ProjectCtx, input: SubscriptionInput): Promise<SubscriptionRow> {
  if ((await queries.countSubscriptions(ctx)) >= SUBSCRIPTIONS_MAX) {
    throw new ApiError('quota_exceeded', `A project may have at most ${SUBSCRIPTIONS_MAX} subscription types.`)
  }
  const [created] = await queries.insertSubscriptions(ctx, ctx.projectId, [input])
  if (!created) throw taken()
  return created
}

export async function getSubscription(ctx: ProjectCtx, id: SubscriptionId): Promise<SubscriptionRow> {
  const row = await queries.findSubscription(ctx, id)
  if (!row) throw missing('subscription type')
  return row
}

/** A new default state is different for everybody who has none of their own; runs in the same transaction. */
export type WhenDefaultChanged = (ctx: InTx, id: SubscriptionId) => Promise<void>

/** Changes the members given. Throws 409 when another type has the name already. */
export function updateSubscription(
  ctx: ProjectCtx,
  id: SubscriptionId,
  changes: SubscriptionChanges,
  whenDefaultChanged: WhenDefaultChanged,
): Promise<SubscriptionRow> {
  return inTx(ctx, async (ctx) => {
    const row = await queries.updateSubscription(ctx, id, changes)
    if (!row) throw missing('subscription type')
    if (changes.default_state !== undefined) await whenDefaultChanged(ctx, id)
    return row
  }).catch((error: unknown) => {
    throw isSqlState(error, UNIQUE_VIOLATION) ? taken() : error
  })
}

/** Whose states are meant, and whether only those a preference centre shows. */
export type Subscriber = { id: UserId; publicOnly: boolean }

export const listUserSubscriptions = (ctx: ProjectCtx, { id, publicOnly }: Subscriber, page: PageRequest) =>
  queries.listUserSubscriptions(ctx, id, page, publicOnly)

const FIRST_PAGE = readPageRequest(queries.userSubscriptionListing, { limit: '100' }).request

/**
 * Sets all the states or none; of several for one type the last counts. Answers with the first hundred states.
 * Throws 422 for a type that does not exist, or that this caller cannot see.
 */
export function changeUserSubscriptions(
  ctx: ProjectCtx,
  { id, publicOnly }: Subscriber,
  changes: UserSubscriptionChanges,
): Promise<PageOf<UserSubscription>> {
  return inTx(ctx, async (ctx) => {
    const byType = new Map(changes.map((change) => [change.subscription_id, change]))
    const known = await queries.knownSubscriptions(ctx, [...byType.keys()], publicOnly)
    refuse(unknownTypes(changes, new Set(known.map(({ id }) => id))))
    await queries.saveStates(ctx, id, [...byType.values()])
    await logChanges(ctx, [{ user_id: id, what: [...byType.keys()].map((type) => `subscription:${type}`) }])
    return queries.listUserSubscriptions(ctx, id, FIRST_PAGE, publicOnly)
  })
}

/**
 * Subscribes people to these types, but only where nothing is stored: who said yes or no has said so.
 * `source` is where they agreed to it.
 */
export async function subscribeWithoutState(
  ctx: InTx,
  userIds: UserId[],
  subscriptionIds: SubscriptionId[],
  source: string,
): Promise<void> {
  const subscribed = await queries.insertSubscribed(ctx, userIds, subscriptionIds, source)
  const byPerson = Map.groupBy(subscribed, ({ user_id }) => user_id)
  await logChanges(
    ctx,
    [...byPerson].map(([user_id, pairs]) => ({ user_id, what: pairs.map(({ subscription_id }) => `subscription:${subscription_id}`) })),
  )
}

const unknownTypes = (changes: UserSubscriptionChanges, known: Set<SubscriptionId>): Fault[] =>
  changes.flatMap(({ subscription_id }, at): Fault[] => {
    if (known.has(subscription_id)) return []
    const param = `[${at}].subscription_id`
    return [{ code: 'validation_failed', param, message: `The value of \`${param}\` is not a subscription type of this project.` }]
  })
