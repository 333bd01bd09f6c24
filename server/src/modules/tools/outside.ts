import { randomInt } from 'node:crypto'
import { createResolver } from '../../infra/outgoing/dns/system.ts'
import { tcpCheck } from '../../infra/outgoing/tcp-check.ts'
import type { CallerCtx } from '../../infra/runtime/ctx.ts'
import { egressPolicy } from '../../lib/egress.ts'
import { fault } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import type { Outside, Scoring } from './service.ts'
import { scoreText } from './tasks.ts'

const SEEDS = 2 ** 32
/** Requests with the keys of organisations take turns as those of one project. */
const NO_PROJECT = 0 as ProjectId

/** The external dependencies of one request of a utility. `elapsed` counts from this call. */
export function outsideOf(ctx: Pick<CallerCtx, 'clock' | 'config'>): Outside {
  const began = ctx.clock.now().getTime()
  return {
    resolver: createResolver(ctx.config),
    tcpCheck: (host, port) => tcpCheck({ host, port, policy: egressPolicy(ctx.config.EGRESS_ALLOW_CIDRS) }),
    deadline: (ms) => AbortSignal.timeout(ms),
    // The system’s clock may be set back meanwhile.
    elapsed: () => Math.max(0, ctx.clock.now().getTime() - began),
    randomSeed: () => randomInt(SEEDS),
  }
}

/** Throws 422 for a text that takes a thread too long. */
export const scoringOf = (ctx: Pick<CallerCtx, 'threads' | 'caller' | 'projectId'>): Scoring => ({
  async scoreInThread(text) {
    const scored = await ctx.threads.run({ projectId: ctx.projectId ?? NO_PROJECT, caller: ctx.caller }, scoreText, text)
    if ('value' in scored) return scored.value
    throw fault('validation_failed', 'text', 'The value of `text` takes too long to analyse. Send a shorter text.')
  },
})
