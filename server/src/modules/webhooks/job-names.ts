import type { JobName } from '../../infra/runtime/ctx.ts'

/** The jobs of webhooks that others wake. */
export const DISPATCH: JobName = { name: 'webhooks.dispatch' }
export const DELIVER: JobName = { name: 'webhooks.deliver' }
