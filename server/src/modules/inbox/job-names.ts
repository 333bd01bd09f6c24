/** The job that deletes expired messages of inboxes. */
import type { JobName } from '../../infra/runtime/ctx.ts'

export const PURGE: JobName = { name: 'inbox.purge' }
