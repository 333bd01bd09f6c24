/** Which endpoints get an event: those that were active and subscribed to its type when it was stored. */
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import * as queries from './subscriptions.queries.ts'

/** Saves the event types of an active endpoint. Events that are stored from now on follow them. */
export async function subscribe(ctx: InTx, endpointId: EndpointId, types: readonly string[]): Promise<void> {
  const version = await queries.nextVersion(ctx, ctx.projectId)
  await queries.endSubscription(ctx, endpointId, types, version)
  await queries.beginSubscription(ctx, endpointId, types, version)
  await queries.startCursor(ctx, endpointId)
  await queries.saveTypes(ctx, ctx.projectId)
}

/** Deletes the subscriptions of an endpoint. Events for it that have no delivery yet will not get one. */
export async function unsubscribe(ctx: InTx<Ctx>, projectId: ProjectId, endpointId: EndpointId): Promise<void> {
  await queries.nextVersion(ctx, projectId)
  await queries.deleteSubscriptions(ctx, projectId, endpointId)
  await queries.saveTypes(ctx, projectId)
}
