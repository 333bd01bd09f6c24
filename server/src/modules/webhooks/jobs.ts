import { job } from '../../infra/queue/jobs.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import { purgeWebhookEvents, takeUndispatched } from '../webhook-events/index.ts'
import { deliverDue } from './deliver.ts'
import * as queries from './queries.ts'

const IDLE_MS = 200

const DISPATCH_BATCH = 500
const PURGE_BATCH = 5000
const KEPT_DAYS = 30

/** Creates deliveries for new webhook events, one for each endpoint that was subscribed and is still active. */
const dispatch = (ctx: Ctx): Promise<number> =>
  inTx(ctx, async (ctx) => {
    const events = await takeUndispatched(ctx, DISPATCH_BATCH)
    if (events.length === 0) return 0
    await queries.insertDeliveries(ctx, {
      projectIds: events.map(({ project_id }) => project_id),
      endpointIds: events.map(({ endpoint_id }) => endpoint_id),
      eventIds: events.map(({ id }) => id),
      eventTypes: events.map(({ type }) => type),
    })
    return events.length
  })

/** Deletes data that is older than 30 days. Deliveries are deleted before their events, so none is left without its event. */
async function purge(ctx: Ctx): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - KEPT_DAYS * DAY_MS)
  const deliveries = await queries.purgeDeliveries(ctx, before, PURGE_BATCH)
  if (deliveries === PURGE_BATCH) return deliveries
  const others = [purgeWebhookEvents(ctx, before, PURGE_BATCH), queries.purgeEndpoints(ctx, PURGE_BATCH), queries.purgeSecrets(ctx)]
  return deliveries + (await Promise.all(others)).reduce((sum, count) => sum + count, 0)
}

export const webhookJobs = [
  job({ name: 'webhooks.dispatch', idleMs: IDLE_MS, run: dispatch }),
  job({ name: 'webhooks.deliver', idleMs: IDLE_MS, run: deliverDue }),
  job({ name: 'webhooks.purge', idleMs: HOUR_MS, run: purge }),
]
