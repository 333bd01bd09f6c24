/** Everything that decides about people of an audience, in one statement of each kind. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import type { Channel } from '../../../lib/shapes.ts'
import { membersAmong } from '../../lists/index.ts'
import { type Consent, type SuppressionReason, subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import { contactsOf, findMergedInto } from '../../users/index.ts'
import type { CampaignRow } from '../schema.ts'

export type Contact = Awaited<ReturnType<typeof contactsOf>>[number]

/** What decides about a person of an audience. */
export type Member = {
  user: Contact
  isExcluded: boolean
  consent: Consent | undefined
  suppression: SuppressionReason | undefined
}

type Audience = Pick<CampaignRow, 'channel' | 'subscription_id' | 'exclusion_list_ids'>

/** What is known of these people, each once, in the order of their ids. Who was merged is the survivor; who was erased is left out. */
export async function membersOf(ctx: ProjectCtx, audience: Audience, ids: UserId[]): Promise<Member[]> {
  const users = await usersOf(ctx, ids)
  const present = users.map(({ id }) => id)
  const excluded = new Set(
    audience.exclusion_list_ids.length > 0 ? await membersAmong(ctx, audience.exclusion_list_ids as ListId[], present) : [],
  )
  const consents = await consentsOf(ctx, audience, present)
  const addresses = users.flatMap((user) => addressOf(audience.channel, user) ?? [])
  const suppressions = addresses.length > 0 ? await suppressedAmong(ctx, audience.channel, addresses) : new Map<string, SuppressionReason>()
  return users.map((user) => ({
    user,
    isExcluded: excluded.has(user.id),
    consent: consents.get(user.id),
    suppression: suppressions.get(addressOf(audience.channel, user) ?? ''),
  }))
}

const addressOf = (channel: Channel, { email, phone }: Pick<Contact, 'email' | 'phone'>): string | null =>
  channel === 'email' ? email : channel === 'text' ? phone : null

/** A list learns a moment later that its member was merged: until then the survivor stands in. */
async function usersOf(ctx: ProjectCtx, ids: UserId[]): Promise<Contact[]> {
  const users = new Map((await contactsOf(ctx, ids)).map((user) => [user.id, user]))
  const gone = ids.filter((id) => !users.has(id))
  if (gone.length > 0) {
    const mergedInto = (await findMergedInto(ctx, ctx.projectId, gone)).map(({ merged_into }) => merged_into)
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
