/** Reads what decides about the users of an audience, with one statement for each kind of data. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf } from '../../../lib/channels.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import { membersAmong } from '../../lists/index.ts'
import { type Consent, type SuppressionReason, subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import { contactsOf, findMergedInto } from '../../users/index.ts'
import type { CampaignRow } from '../schema.ts'

export type Contact = Awaited<ReturnType<typeof contactsOf>>[number]

/** A user of an audience with what decides about their message. */
export type Member = {
  user: Contact
  isExcluded: boolean
  consent: Consent | undefined
  suppression: SuppressionReason | undefined
}

type Audience = Pick<CampaignRow, 'channel' | 'subscription_id' | 'exclusion_list_ids'>

/** The members for these ids, each once, ordered by id. A merged user is replaced by the remaining one; erased users are left out. */
export async function membersOf(ctx: ProjectCtx, audience: Audience, ids: UserId[]): Promise<Member[]> {
  const users = await usersOf(ctx, ids)
  const userIds = users.map(({ id }) => id)
  const excluded = new Set(
    audience.exclusion_list_ids.length > 0 ? await membersAmong(ctx, audience.exclusion_list_ids as ListId[], userIds) : [],
  )
  const consents = await consentsOf(ctx, audience, userIds)
  const addresses = users.flatMap((user) => addressOf(audience.channel, user) ?? [])
  // All are of one type, and so are their messages.
  const [consent] = consents.values()
  const isTransactional = consent?.is_transactional ?? false
  const suppressions =
    addresses.length > 0
      ? await suppressedAmong(ctx, audience.channel, addresses, { isTransactional })
      : new Map<string, SuppressionReason>()
  return users.map((user) => ({
    user,
    isExcluded: excluded.has(user.id),
    consent: consents.get(user.id),
    suppression: suppressions.get(addressOf(audience.channel, user) ?? ''),
  }))
}

/** Lists are updated a moment after a merge. Until then this replaces a merged user by the remaining one. */
async function usersOf(ctx: ProjectCtx, ids: UserId[]): Promise<Contact[]> {
  const users = new Map((await contactsOf(ctx, ids)).map((user) => [user.id, user]))
  const absent = ids.filter((id) => !users.has(id))
  if (absent.length > 0) {
    const mergedInto = (await findMergedInto(ctx, ctx.projectId, absent)).map(({ merged_into }) => merged_into)
    for (const user of await contactsOf(ctx, mergedInto)) users.set(user.id, user)
  }
  return [...users.values()].sort((a, b) => a.id - b.id)
}

async function consentsOf(ctx: ProjectCtx, { subscription_id }: Audience, ids: UserId[]): Promise<Map<UserId, Consent>> {
  if (ids.length === 0) return new Map()
  const rows = await subscriptionStates(
    ctx,
    ids.map((user_id) => ({ user_id, subscription_id })),
  )
  return new Map(rows.map((row) => [row.user_id, row]))
}
