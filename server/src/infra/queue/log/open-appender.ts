import type { Ctx } from '../../runtime/ctx.ts'
import { type Appender, createAppender } from '../append.ts'
import { APPLY } from '../queue.ts'
import { createLogAppender } from './log-appender.ts'

/** Appends to the log of accepted requests, or to the queue if there is no log. */
export const openAppender = (ctx: Pick<Ctx, 'db' | 'clock' | 'acceptedLog' | 'wake'>): Appender =>
  ctx.acceptedLog ? createLogAppender(ctx, ctx.acceptedLog) : createAppender(ctx.db, () => ctx.wake(APPLY))
