import { type Static, Type } from 'typebox'
import { fence, type Sql, sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { OneOf } from '../../../lib/shapes.ts'

const PAUSE_SCOPES = ['project', 'campaign', 'site'] as const

/** What is paused. `value` is the id of a campaign, or a site; empty for the whole project. */
export const Pause = Type.Object({ scope: OneOf(PAUSE_SCOPES), value: Type.String() })
export type Pause = Static<typeof Pause>

/** The pauses of a project. With `share` they are locked until the transaction ends, so that none can end before. */
export const findPauses = (ctx: ProjectCtx | InTx, lock?: 'share') => (lock ? lockedPauses : pauses)(ctx, ctx.projectId, null)

const pausesOf = (calls: JointCall<null>[], lock: Sql) =>
  sql`select q.call, p.*
      from ${callRows(calls)}
      cross join lateral (select scope, value from mail_pauses where project_id = q.project_id order by scope, value ${lock}) p`

const pauses = jointMany(Pause, (_, calls: JointCall<null>[]) => pausesOf(calls, fence))

const lockedPauses = jointMany(Pause, (_, calls: JointCall<null>[]) => pausesOf(calls, sql`for share`))
