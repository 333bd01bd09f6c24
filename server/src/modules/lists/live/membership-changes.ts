/** Membership changes and the system events that they become. */

import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import { type NewEvent, newSystemEvent } from '../../events/index.ts'
import { LIST_ENTERED, LIST_LEFT } from '../../rules/index.ts'
import type { SystemEvent } from '../../users/index.ts'

/** A user entered a list or left it. An inherited change follows from a merge. */
export type MembershipChange = { userId: UserId; listId: ListId; entered: boolean; inherited?: true }

/** The event that a user entered a list or left it. */
export const membershipEvent = (listId: ListId, entered: boolean, at: Date): SystemEvent => ({
  name: entered ? LIST_ENTERED : LIST_LEFT,
  data: { list_id: listId },
  created_at: at.toISOString(),
})

/** The events of membership changes. Those of inherited changes start nothing: the user did nothing. */
export function membershipEventsOf(ctx: Pick<Ctx, 'clock'>, changes: MembershipChange[]): NewEvent[] {
  const now = ctx.clock.now()
  return changes.map(({ userId, listId, entered, inherited }) =>
    newSystemEvent({
      userId,
      key: `list-${listId}-${now.getTime()}`,
      receivedAt: now,
      event: { ...membershipEvent(listId, entered, now), ...(inherited && { starts: 'nothing' as const, is_inherited: true as const }) },
    }),
  )
}
