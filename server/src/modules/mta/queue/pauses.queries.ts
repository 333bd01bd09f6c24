import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { OneOf } from '../../../lib/shapes.ts'

const PAUSE_SCOPES = ['project', 'campaign', 'site'] as const

/** What is paused. `value` is the id of a campaign, or a site; empty for the whole project. */
export const Pause = Type.Object({ scope: OneOf(PAUSE_SCOPES), value: Type.String() })
export type Pause = Static<typeof Pause>

/** The pauses of a project. With `share` they are locked until the transaction ends, so that none can end before. */
export const findPauses = (ctx: ProjectCtx | InTx, lock?: 'share') =>
  ctx.db.many(
    Pause,
    sql`select scope, value from mail_pauses where project_id = ${ctx.projectId} order by scope, value ${lock ? sql`for share` : sql``}`,
  )
