import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { appendUserChanges } from '../changes.ts'
import { lockOwners, refreshPushFlag } from './queries.ts'

/** Saves what follows for users whose devices changed. Whether they have a push device is a change of the user only if it is different now. */
export async function saveDeviceChanges(ctx: InTx, users: UserId[]): Promise<void> {
  await lockOwners(ctx, users)
  const flagged = new Set((await refreshPushFlag(ctx, users)).map(({ id }) => id))
  await appendUserChanges(
    ctx,
    users.map((user_id) => ({ user_id, what: flagged.has(user_id) ? ['devices', 'attribute:has_push_device'] : ['devices'] })),
  )
}
