import type { InTx } from '../../../infra/runtime/ctx.ts'
import { distinct } from '../../../lib/shapes.ts'
import { clearTokens, findOwners, lockOwners } from './queries.ts'
import { saveDeviceChanges } from './save-changes.ts'

/** Clears device tokens that a push service rejected for good. The devices stay. */
export async function clearDeviceTokens(ctx: InTx, tokens: string[]): Promise<void> {
  if (tokens.length === 0) return
  // Users before devices, as a merge locks them.
  await lockOwners(ctx, await findOwners(ctx, [], tokens))
  const owners = distinct((await clearTokens(ctx, tokens)).map(({ user_id }) => user_id))
  if (owners.length === 0) return
  await saveDeviceChanges(ctx, owners)
}
