import { job } from '../../infra/queue/jobs.ts'
import { type Ctx, inTx } from '../../infra/runtime/ctx.ts'
import { purgeWebhookEvents, takeUndispatched } from '../webhook-events/index.ts'
import { deliverDue } from './deliver.ts'
import * as queries from './queries.ts'

const LOOK_MS = 200
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const DISPATCHED_AT_ONCE = 500
const PURGED_AT_ONCE = 5000
const KEPT_DAYS = 30

/** Turns news into deliveries, one for each endpoint that was to hear of it and is still active. */
const dispatch = (ctx: Ctx): Promise<number> =>
  inTx(ctx, async (ctx) => {
    const news = await takeUndispatched(ctx, DISPATCHED_AT_ONCE)
    if (news.length === 0) return 0
    await queries.insertDeliveries(ctx, {
      projectIds: news.map(({ project_id }) => project_id),
      endpointIds: news.map(({ endpoint_id }) => endpoint_id),
      eventIds: news.map(({ id }) => id),
      eventTypes: news.map(({ type }) => type),
    })
    return news.length
  })

/** Deletes what is older than 30 days. Deliveries go before the news they carry, of which nothing is left to send then. */
async function purge(ctx: Ctx): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - KEPT_DAYS * DAY_MS)
  const deliveries = await queries.purgeDeliveries(ctx, before, PURGED_AT_ONCE)
  if (deliveries === PURGED_AT_ONCE) return deliveries
  const others = [purgeWebhookEvents(ctx, before, PURGED_AT_ONCE), queries.purgeEndpoints(ctx, PURGED_AT_ONCE), queries.purgeSecrets(ctx)]
  return deliveries + (await Promise.all(others)).reduce((sum, count) => sum + count, 0)
}

export const webhookJobs = [
  job({ name: 'webhooks.dispatch', idleMs: LOOK_MS, run: dispatch }),
  job({ name: 'webhooks.deliver', idleMs: LOOK_MS, run: deliverDue }),
  job({ name: 'webhooks.purge', idleMs: HOUR_MS, run: purge }),
]
