import { job } from '../../infra/queue/jobs.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/times.ts'
import { DISPATCH, nextDispatchAt, purgeSubscriptions, purgeWebhookEvents } from '../webhook-events/index.ts'
import { deliverDue } from './deliver.ts'
import * as deliveryQueries from './deliveries.queries.ts'
import { createDispatcher } from './dispatch.ts'
import * as endpointQueries from './endpoints.queries.ts'
import { purgeHours } from './hours.queries.ts'
import { SHOWN_HOURS } from './hours.ts'
import { DELIVER, REPLAY } from './job-names.ts'
import { nextReplayAt, purgeReplays } from './replays.queries.ts'
import { replayDue } from './replays.ts'
import { KEPT_DAYS } from './service.ts'

/** Events and deliveries that are created together share a run. */
const GATHER_MS = 100
const RETRY_MS = 200

const PURGE_BATCH = 5000

/** Deletes data that is older than 30 days. Deliveries are deleted before their events, so none is left without its event. */
async function purge(ctx: Ctx): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - KEPT_DAYS * DAY_MS)
  const deliveries = await deliveryQueries.purgeDeliveries(ctx, before, PURGE_BATCH)
  if (deliveries === PURGE_BATCH) return deliveries
  const ended = new Date(ctx.clock.now().getTime() - HOUR_MS)
  const others = [
    purgeWebhookEvents(ctx, before, PURGE_BATCH),
    purgeSubscriptions(ctx, ended, PURGE_BATCH),
    purgeReplays(ctx, before, PURGE_BATCH),
    purgeHours(ctx, new Date(ctx.clock.now().getTime() - (SHOWN_HOURS + 1) * HOUR_MS), PURGE_BATCH),
    endpointQueries.purgeEndpoints(ctx, PURGE_BATCH),
    endpointQueries.purgeSecrets(ctx),
  ]
  return deliveries + (await Promise.all(others)).reduce((sum, count) => sum + count, 0)
}

export const webhookJobs = [
  job({ ...DISPATCH, gatherMs: GATHER_MS, nextAt: nextDispatchAt, retryMs: RETRY_MS, run: createDispatcher() }),
  job({ ...DELIVER, gatherMs: GATHER_MS, nextAt: deliveryQueries.nextAttemptAt, retryMs: RETRY_MS, run: deliverDue }),
  // Replays are rare. One whose wake-up was lost may wait for a minute.
  job({ ...REPLAY, gatherMs: GATHER_MS, idleMs: MINUTE_MS, nextAt: nextReplayAt, retryMs: RETRY_MS, run: replayDue }),
  job({ name: 'webhooks.purge', idleMs: HOUR_MS, run: purge }),
]
