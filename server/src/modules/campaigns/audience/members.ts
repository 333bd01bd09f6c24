/** Everything that decides about people of an audience, in one statement of each kind. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import type { Channel } from '../../../lib/shapes.ts'
import { membersAmong } from '../../lists/index.ts'
import { type Consent, type SuppressionReason, subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import { contactsOf, findSurvivors } from '../../users/index.ts'
import type { CampaignRow } from '../schema.ts'

export type Contact = Awaited<ReturnType<typeof contactsOf>>[number]

/** What decides about a person of an audience. */
export type Member = {
  person: Contact
  isExcluded: boolean
  consent: Consent | undefined
  suppression: SuppressionReason | undefined
}

type Audience = Pick<CampaignRow, 'channel' | 'subscription_id' | 'exclusion_list_ids'>

/** What is known of these people, each once, in the order of their ids. Who was merged is the survivor; who was erased is left out. */
export async function membersOf(ctx: ProjectCtx, audience: Audience, ids: UserId[]): Promise<Member[]> {
  const people = await peopleOf(ctx, ids)
  const present = people.map(({ id }) => id)
  const excluded = new Set(
    audience.exclusion_list_ids.length > 0 ? await membersAmong(ctx, audience.exclusion_list_ids as ListId[], present) : [],
  )
  const consents = await consentsOf(ctx, audience, present)
  const addresses = people.flatMap((person) => addressOf(audience.channel, person) ?? [])
  const suppressions = addresses.length > 0 ? await suppressedAmong(ctx, audience.channel, addresses) : new Map<string, SuppressionReason>()
  return people.map((person) => ({
    person,
    isExcluded: excluded.has(person.id),
    consent: consents.get(person.id),
    suppression: suppressions.get(addressOf(audience.channel, person) ?? ''),
  }))
}

const addressOf = (channel: Channel, { email, phone }: Pick<Contact, 'email' | 'phone'>): string | null =>
  channel === 'email' ? email : channel === 'text' ? phone : null

/** A list learns a moment later that its member was merged: until then the survivor stands in. */
async function peopleOf(ctx: ProjectCtx, ids: UserId[]): Promise<Contact[]> {
  const people = new Map((await contactsOf(ctx, ids)).map((person) => [person.id, person]))
  const gone = ids.filter((id) => !people.has(id))
  if (gone.length > 0) {
    const survivors = (await findSurvivors(ctx, ctx.projectId, gone)).map(({ survivor_id }) => survivor_id)
    for (const person of await contactsOf(ctx, survivors)) people.set(person.id, person)
  }
  return [...people.values()].sort((a, b) => a.id - b.id)
}

async function consentsOf(ctx: ProjectCtx, { subscription_id }: Audience, ids: UserId[]): Promise<Map<UserId, Consent>> {
  if (ids.length === 0) return new Map()
  const rows = await subscriptionStates(
    ctx,
    ids.map((user_id) => ({ user_id, subscription_id })),
  )
  return new Map(rows.map((row) => [row.user_id, row]))
}
