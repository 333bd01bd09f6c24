import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { findUsers } from '../../users/index.ts'
import { findSandboxMessage } from './queries.ts'
import type { SandboxMessageWhole } from './schema.ts'

/** One sandbox message with its content. Throws 404. */
export async function getSandboxMessage(ctx: ProjectCtx, id: MessageId): Promise<SandboxMessageWhole> {
  const row = await findSandboxMessage(ctx, id)
  if (!row) throw missing('message')
  const [user] = await findUsers(ctx, [row.user_id])
  return { ...row, external_id: user?.external_id ?? null }
}
