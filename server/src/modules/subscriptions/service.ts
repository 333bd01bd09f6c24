import { mapPage, type PageOf, type PageRequest, readPageRequest } from '../../infra/http/paging.ts'
import { isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import { type Caller, type Ctx, type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { CHANNELS, channels } from '../../lib/channels.ts'
import { ApiError, type Fault, missing, notOfProject, refuse } from '../../lib/errors.ts'
import type { ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { findUsers } from '../users/index.ts'
import * as queries from './queries.ts'
import type {
  Subscription,
  SubscriptionChanges,
  SubscriptionInput,
  SubscriptionRow,
  UserSubscription,
  UserSubscriptionChanges,
} from './schema.ts'
import { lockUser, writeStates } from './states.ts'
import { suppressionsOf } from './suppressions/service.ts'

const SUBSCRIPTIONS_MAX = 200

const DEFAULTS: SubscriptionInput[] = CHANNELS.map((channel) => ({ name: `Default ${channels[channel].label}`, channel }))

/** Gives a new project one public type for each channel (D-PROJ-1). */
export async function createDefaultSubscriptions(ctx: Ctx, projectId: ProjectId): Promise<void> {
  await queries.insertSubscriptions(ctx, projectId, DEFAULTS)
}

const taken = () => new ApiError('resource_already_exists', 'A subscription type with this name and channel already exists.')

/** Creates a subscription type. Throws 409 when name and channel are taken, 429 when there are too many. */
export const createSubscription = (ctx: ProjectCtx, input: SubscriptionInput): Promise<Subscription> =>
  inTx(ctx, async (ctx) => {
    await lockRoom(ctx, 'subscription types', ctx.projectId)
    if ((await queries.countSubscriptions(ctx)) >= SUBSCRIPTIONS_MAX) {
      throw new ApiError('quota_exceeded', `A project may have at most ${SUBSCRIPTIONS_MAX} subscription types.`)
    }
    const [created] = await queries.insertSubscriptions(ctx, ctx.projectId, [input])
    if (!created) throw taken()
    return present(created)
  })

/** A type for a reply. Leaves out members that are not set. */
const present = ({ description, ...row }: SubscriptionRow): Subscription => ({ ...row, ...(description !== null && { description }) })

export const listSubscriptions = async (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<Subscription>> =>
  mapPage(await queries.listSubscriptions(ctx, page), present)

export async function getSubscription(ctx: ProjectCtx, id: SubscriptionId): Promise<Subscription> {
  const row = await queries.findSubscription(ctx, id)
  if (!row) throw missing('subscription type')
  return present(row)
}

/**
 * Changes the given members. `defaultChanged` tells the caller that users without a stored state may have another state now, `kindChanged`
 * that the type became transactional or is no more. Throws 404, and 409 when another type has the name.
 */
export async function updateSubscription(
  ctx: InTx,
  id: SubscriptionId,
  changes: SubscriptionChanges,
): Promise<{ subscription: Subscription; defaultChanged: boolean; kindChanged: boolean }> {
  const before = await queries.lockSubscription(ctx, id)
  const row = await queries
    .updateSubscription(ctx, id, { ...changes, ...(changes.description === '' && { description: null }) })
    .catch((error: unknown) => {
      throw isSqlState(error, UNIQUE_VIOLATION) ? taken() : error
    })
  if (!row) throw missing('subscription type')
  return {
    subscription: present(row),
    defaultChanged: changes.default_state !== undefined,
    kindChanged: row.is_transactional !== before?.is_transactional,
  }
}

/** A user whose states are read or set. Users who ask for themselves see public types only. */
export type Subscriber = { id: UserId; isThemself: boolean }

/** A page of the states of a user, each with the suppression that stops messages of the type. Users do not see suppressions. */
export async function listUserSubscriptions(
  ctx: ProjectCtx,
  { id, isThemself }: Subscriber,
  page: PageRequest,
): Promise<PageOf<UserSubscription>> {
  const rows = await queries.listUserSubscriptions(ctx, id, page, isThemself)
  const [user] = isThemself ? [] : await findUsers(ctx, [id])
  const suppressions = user ? await suppressionsOf(ctx, user) : []
  return mapPage(rows, ({ is_transactional, ...row }) => {
    const stopping = suppressions.find(
      ({ channel, stops_transactional }) => channel === row.channel && (stops_transactional || !is_transactional),
    )
    return { ...row, ...(stopping && { suppression: stopping.reason }) }
  })
}

const FIRST_PAGE = readPageRequest(queries.userSubscriptionListing, { limit: '100' }).request

/**
 * Sets all the states or none; the last of several for one type counts. Returns the first hundred states. Throws 422 for a type that does
 * not exist or that the caller may not see, and 404 for an erased user.
 */
export function changeUserSubscriptions(
  ctx: ProjectCtx<Extract<Caller, { keyId: unknown }>>,
  { id, isThemself }: Subscriber,
  changes: UserSubscriptionChanges,
  requestId: string,
): Promise<PageOf<UserSubscription>> {
  return inTx(ctx, async (ctx) => {
    const byType = new Map(changes.map((change) => [change.subscription_id, change]))
    const known = await queries.knownSubscriptions(ctx, [...byType.keys()], isThemself)
    refuse(unknownTypes(changes, new Set(known.map(({ id }) => id))))
    const user_id = await lockUser(ctx, id)
    if (user_id === undefined) throw missing('user')
    const states = [...byType.values()].map((change) => ({ user_id, ...change }))
    const evidence = { source: isThemself ? 'session' : 'api', proof: { key_id: ctx.caller.keyId, request_id: requestId } } as const
    await writeStates(ctx, states, evidence, { keepsConfirmed: isThemself })
    return listUserSubscriptions(ctx, { id: user_id, isThemself }, FIRST_PAGE)
  })
}

const unknownTypes = (changes: UserSubscriptionChanges, known: Set<SubscriptionId>): Fault[] =>
  changes.flatMap(({ subscription_id }, at): Fault[] => {
    if (known.has(subscription_id)) return []
    const param = `[${at}].subscription_id`
    return [notOfProject(param, 'a subscription type')]
  })
