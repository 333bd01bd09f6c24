/** The job that sends deliveries. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const DELIVER: JobName = { name: 'webhooks.deliver' }
