/** The names of jobs of lists. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const BUILD: JobName = { name: 'lists.build' }
/** Evaluates memberships whose time has come. */
export const CHECK_DUE: JobName = { name: 'timers.apply' }
export const CHECK_CLOCK: JobName = { name: 'lists.check-clock' }
export const AFTER_RETENTION: JobName = { name: 'lists.after-retention' }
export const NOTE_SIZES: JobName = { name: 'lists.note-sizes' }
export const DELETE_RETIRED: JobName = { name: 'lists.delete-retired' }
