import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { findUsers } from '../../users/index.ts'
import { findCapture } from './queries.ts'
import type { SandboxMessageWhole } from './schema.ts'

/** One captured message with everything it says. Throws 404. */
export async function getCapture(ctx: ProjectCtx, id: MessageId): Promise<SandboxMessageWhole> {
  const row = await findCapture(ctx, id)
  if (!row) throw missing('message')
  const [user] = await findUsers(ctx, [row.user_id])
  return { ...row, external_id: user?.external_id ?? null }
}
