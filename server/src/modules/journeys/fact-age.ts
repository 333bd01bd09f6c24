import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { HOUR_MS } from '../../lib/times.ts'

/** Facts older than this begin nothing (D-EVT-3). */
export const factAgeMaxMsOf = ({ config }: ProjectCtx | InTx): number => config.EVENT_TRIGGER_MAX_AGE_H * HOUR_MS
