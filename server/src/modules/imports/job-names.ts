/** The job that imports the users of uploaded files. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const IMPORT: JobName = { name: 'imports' }

/** The job that undoes imports. */
export const UNDO_IMPORT: JobName = { name: 'imports.undo' }
