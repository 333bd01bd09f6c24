import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf, hasAddresses } from '../../../lib/channels.ts'
import type { CampaignId, ListId } from '../../../lib/ids.ts'
import { membersAmong, membershipsIn } from '../../lists/index.ts'
import { messagesOf, messagesRemovedBefore, type Recipient } from '../../messages/index.ts'
import { foldAddress, usersWithAddress } from '../../subscriptions/index.ts'
import { variantName } from '../../templates/index.ts'
import { findIdsOf, requireUser } from '../../users/index.ts'
import { type Member, membersOf } from '../audience/members.ts'
import { skipReason, variantFor } from '../audience/plan.ts'
import { isLoadedTo } from '../audience/queries.ts'
import type { CampaignRow } from '../schema.ts'
import { getCampaign } from '../service.ts'
import { explainInWords } from './explain-in-words.ts'
import type { RecipientExplanation } from './schema.ts'
import { presentMessage } from './service.ts'

/** Explains why a user gets a campaign or does not, from the current data and the user's messages. Throws 404. */
export async function explainRecipient(ctx: ProjectCtx, id: CampaignId, name: string): Promise<RecipientExplanation> {
  const campaign = await getCampaign(ctx, id)
  const user = await requireUser(ctx, name)
  const lists = await membershipsIn(ctx, campaign.list_ids as ListId[], user.id)
  const exclusions = await membershipsIn(ctx, campaign.exclusion_list_ids as ListId[], user.id)
  const [member] = await membersOf(ctx, campaign, [user.id])
  const messages = await messagesOf(ctx, id, await findIdsOf(ctx, user.id))
  const removedBefore = messages.length === 0 ? await messagesRemovedBefore(ctx) : null
  const isReached = campaign.state !== 'aborted' || (await isLoadedTo(ctx, id, user.id))
  const reason = member ? (skipReason(campaign, member) ?? (await duplicateReason(ctx, campaign, member))) : 'user_gone'
  const variant = reason === null ? variantFor(campaign, user) : null
  const suppression = member?.suppression ?? null
  return {
    user: { id: user.id, external_id: user.external_id ?? user.anonymous_id ?? '' },
    summary: explainInWords({
      campaign,
      lists,
      exclusions,
      suppression,
      reason,
      variant,
      messages: withoutReplaced(messages),
      removedBefore,
      isReached,
    }),
    in_audience: campaign.type === 'blast' ? lists.some(({ is_member }) => is_member) : null,
    lists: lists.map(presentList),
    exclusion_lists: exclusions.map(presentList),
    consent: member?.consent ? withoutUser(member.consent) : null,
    suppression,
    now: { reason, variant: variant === null ? null : variantName(variant) },
    messages: messages.map((row) => ({
      ...presentMessage(row),
      cause: row.cause,
      consent_id: row.consent_id,
      created_at: row.created_at,
    })),
  }
}

/**
 * The messages without those that were not sent because a user who was merged into this one had one for the same cause, or the other way
 * round.
 */
const withoutReplaced = (messages: Recipient[]): Recipient[] =>
  messages.filter((message) => !isUnsent(message) || !messages.some((other) => other.cause === message.cause && !isUnsent(other)))

const isUnsent = ({ state }: Recipient): boolean => state === 'skipped' || state === 'aborted'

const USERS_MAX = 1000

/** Whether an earlier user of the audience stands for the address of this one. */
async function duplicateReason(ctx: ProjectCtx, campaign: CampaignRow, { user }: Member): Promise<'duplicate_address' | null> {
  const { channel, type, list_ids } = campaign
  const address = addressOf(channel, user)
  if (type !== 'blast' || address === null || !hasAddresses(channel)) return null
  const sharing = await usersWithAddress(ctx, channel, foldAddress(channel, address, ctx.project))
  const earlier = sharing.map(({ id }) => id).filter((id) => id < user.id)
  if (earlier.length === 0) return null
  const inAudience = await membersAmong(ctx, list_ids as ListId[], earlier.slice(0, USERS_MAX))
  const members = await membersOf(ctx, campaign, inAudience)
  return members.some((member) => skipReason(campaign, member) === null) ? 'duplicate_address' : null
}

const presentList = ({ id, name, is_member }: { id: ListId; name: string; is_member: boolean }) => ({ id, name, member: is_member })

const withoutUser = <T extends { user_id: unknown }>({ user_id: _, ...consent }: T) => consent
