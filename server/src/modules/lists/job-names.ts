/** The jobs of lists that a change wakes. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const BUILD: JobName = { name: 'lists.build' }
/** Evaluates memberships whose time has come. */
export const CHECK_DUE: JobName = { name: 'timers.apply' }
