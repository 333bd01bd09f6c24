import { openLog } from './infra/log/open-log.ts'
import type { Jobs } from './infra/queue/jobs.ts'
import { MOVE } from './infra/queue/log/move.ts'
import { systemClock } from './infra/runtime/clock.ts'
import type { Config } from './infra/runtime/config.ts'
import type { Ctx } from './infra/runtime/ctx.ts'

/** Opens the log of accepted requests, if there is one. What is appended wakes the jobs of this process. */
export async function openAcceptedLog(
  config: Config,
  started: { jobs: Jobs | null },
  opening: AsyncDisposableStack,
): Promise<Pick<Ctx, 'acceptedLog'>> {
  const acceptedLog = await openLog(config, systemClock)
  if (!acceptedLog) return {}
  opening.use(acceptedLog).onAppended(() => started.jobs?.wake(MOVE))
  return { acceptedLog }
}
