import type { JobName } from '../../infra/runtime/ctx.ts'

/** Erases what deleted projects contain. */
export const ERASE_PROJECTS: JobName = { name: 'projects.erase' }
