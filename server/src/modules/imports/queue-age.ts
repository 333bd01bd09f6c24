import { oldestEntryAgeMs } from '../../infra/queue/backlog.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'

const QUEUE_AGE_MAX_MS = 1000

/**
 * Each batch appends changes to the ingest queue. When the queue falls behind, imports and their undoing wait, so that they do not delay
 * events.
 */
export const isQueueBehind = async (ctx: ProjectCtx): Promise<boolean> => (await oldestEntryAgeMs(ctx, ctx.projectId)) > QUEUE_AGE_MAX_MS
