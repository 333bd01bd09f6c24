import { randomInt } from 'node:crypto'
import { createResolver } from '../../infra/outgoing/dns/system.ts'
import { tcpCheck } from '../../infra/outgoing/tcp-check.ts'
import type { CallerCtx } from '../../infra/runtime/ctx.ts'
import { egressPolicy } from '../../lib/egress.ts'
import type { Outside } from './service.ts'

const SEEDS = 2 ** 32

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
