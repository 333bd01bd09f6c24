/** The jobs of campaigns that a request or another job wakes. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const LAUNCH: JobName = { name: 'campaigns.launch' }
export const LOAD: JobName = { name: 'campaigns.load' }
export const FINISH: JobName = { name: 'campaigns.finish' }
export const WINNER: JobName = { name: 'campaigns.winner' }
export const PENDING_ACTIONS: JobName = { name: 'campaigns.pending-actions' }
export const FORGET_ADDRESSES: JobName = { name: 'campaigns.forget-addresses' }
export const PREFLIGHT: JobName = { name: 'campaigns.preflight' }
