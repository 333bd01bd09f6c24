import type { JobName } from '../../infra/runtime/ctx.ts'

/** The job that sends deliveries. */
export const DELIVER: JobName = { name: 'webhooks.deliver' }

/** The job that queues the deliveries of replays. */
export const REPLAY: JobName = { name: 'webhooks.replay' }
