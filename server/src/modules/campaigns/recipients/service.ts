import { mapPage, type PageOf, type PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, UserId } from '../../../lib/ids.ts'
import { type Counts, type MessageState, messageCountsOf, type Recipient, recipientsOf } from '../../messages/index.ts'
import { variantName } from '../../templates/index.ts'
import { findLiveUsers, type UserRow } from '../../users/index.ts'
import { findWinnerNumbers } from '../progress/queries.ts'
import { getCampaign } from '../service.ts'
import type { DeliveryReport, RecipientOf } from './schema.ts'

/** A page of the messages of a campaign with their users. Throws 404. */
export async function listRecipients(
  ctx: ProjectCtx,
  id: CampaignId,
  page: PageRequest,
  query: { state?: MessageState },
): Promise<PageOf<RecipientOf>> {
  await getCampaign(ctx, id)
  const found = await recipientsOf(ctx, id, page, query)
  const users = await findLiveUsers(
    ctx,
    found.results.map(({ user_id }) => user_id),
  )
  return mapPage(found, (row) => {
    const user = users.get(row.user_id)
    return { user: named(row.user_id, user), ...presentMessage(row), ...(!user && { detail: null }) }
  })
}

const named = (id: UserId, user: UserRow | undefined): RecipientOf['user'] =>
  user ? { id: user.id, external_id: user.external_id ?? user.anonymous_id ?? '' } : { id, external_id: null }

const letter = (variant: number | null) => (variant === null ? null : variantName(variant))

/** A message in API replies. */
export const presentMessage = (row: Recipient): Omit<RecipientOf, 'user'> => ({
  id: row.id,
  ...(row.journey_id !== null && { journey_id: row.journey_id }),
  state: row.state,
  reason: row.reason,
  detail: row.detail,
  variant: letter(row.variant),
  attempts: row.attempts,
  provider: row.provider,
  due_at: row.due_at,
  settled_at: row.settled_at,
  opened_at: row.opened_at,
  clicked_at: row.clicked_at,
})

/** Counts the messages of a campaign by state, reason and variant. Throws 404. */
export async function reportDelivery(ctx: ProjectCtx, id: CampaignId): Promise<DeliveryReport> {
  const { winner_variant } = await getCampaign(ctx, id)
  const counts = (await messageCountsOf(ctx, [id])).get(id)
  const numbers = winner_variant === null ? null : await findWinnerNumbers(ctx, id)
  return {
    ...reportOf(counts),
    ...(winner_variant !== null && {
      winner: {
        variant: variantName(winner_variant),
        numbers: (numbers ?? []).map((row) => ({ ...row, variant: variantName(row.variant) })),
      },
    }),
  }
}

/** The counts as a report, without the winner of a test. */
export const reportOf = (counts: Counts | undefined): DeliveryReport => ({
  ...(counts ?? { total: 0, pending: 0, sent: 0, opens: 0, clicks: 0, bounced: 0, unsubscribed: 0 }),
  states: (counts?.states ?? []).map((row) => ({ ...row, variant: letter(row.variant) })),
})
