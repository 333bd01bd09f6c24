import type { Clock } from '../../lib/clock.ts'
import type { AcceptedLog } from '../runtime/accepted-log.ts'
import type { Config } from '../runtime/config.ts'

/** Opens the log of accepted requests. Undefined without LOG_URL: then its client library is not loaded. */
export const openLog = async (config: Config, clock: Clock): Promise<AcceptedLog | undefined> =>
  config.LOG_URL === undefined ? undefined : (await import('./nats-log.ts')).openNatsLog(config, config.LOG_URL, clock)
