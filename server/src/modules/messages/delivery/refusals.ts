/**
 * Who gets no email that was queued for them: their address was suppressed since, or they left its subscription type. A claimed message is decided
 * on by the same rules.
 */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, SubscriptionId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import type { ClaimedRecipient, MailRow } from '../../mta/index.ts'
import { knownSubscriptions, subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import { findLiveUsers } from '../../users/index.ts'
import { optOutOf, type SendingCampaign } from '../eligibility.ts'
import { usersOf } from '../messages.queries.ts'
import type { Outcome } from './results.ts'

/** A recipient with its email. */
export type Claimed = { mail: MailRow; recipient: ClaimedRecipient }

export type Campaigns = ReadonlyMap<number, SendingCampaign>

/** A user was looked at when the message was rendered, so that a first attempt right after that needs no other check. */
const RENDERED_MS = 5000

/** Why recipients get nothing, or null. An opt-out is of the whole email, its copies too; a suppression is of one address. */
export async function refusalsOf(
  ctx: ProjectCtx,
  claimed: Claimed[],
  campaigns: Campaigns,
  now: Date,
): Promise<(one: Claimed) => Outcome | null> {
  const isRendered = (mail: MailRow) => mail.source !== 'submission' && now.getTime() - mail.created_at.getTime() <= RENDERED_MS
  const checked = claimed.filter(({ mail, recipient }) => recipient.attempts > 1 || recipient.no > 0 || !isRendered(mail))
  const isTransactional = await transactionalAmong(ctx, checked, campaigns)
  const [suppressions, optOuts] = await Promise.all([
    suppressionsOf(ctx, checked, isTransactional),
    optOutsOf(
      ctx,
      checked.filter((one) => !isTransactional(one)),
      campaigns,
    ),
  ])
  return (one) => {
    const optOut = optOuts.get(one.mail.id)
    if (optOut) return { is: 'cancelled', reason: optOut }
    const suppression = suppressions.get(isTransactional(one))?.get(one.recipient.address)
    return suppression === undefined ? null : { is: 'suppressed', reason: suppression }
  }
}

/** The suppressions of addresses for all email, and for marketing. */
async function suppressionsOf(ctx: ProjectCtx, checked: Claimed[], isTransactional: (one: Claimed) => boolean) {
  const kinds = [...Map.groupBy(checked, isTransactional)]
  const found = kinds.map(async ([isTransactional, some]) => {
    const addresses = distinct(some.map(({ recipient }) => recipient.address))
    return [isTransactional, await suppressedAmong(ctx, 'email', addresses, { isTransactional })] as const
  })
  return new Map(await Promise.all(found))
}

/** The emails of messages whose users do not get their subscription type any more, and why. */
async function optOutsOf(ctx: ProjectCtx, marketing: Claimed[], campaigns: Campaigns) {
  const optOuts = new Map<MessageId, NonNullable<ReturnType<typeof optOutOf>>>()
  if (marketing.length === 0) return optOuts
  const typeOf = new Map(marketing.map((one) => [one.mail.id, typeIn(one, campaigns) as SubscriptionId]))
  const messages = await usersOf(ctx, [...typeOf.keys()])
  const users = await findLiveUsers(
    ctx,
    messages.map(({ user_id }) => user_id),
  )
  const pairs = messages.flatMap(({ id, user_id }) => {
    const [user, subscription_id] = [users.get(user_id), typeOf.get(id)]
    return user && subscription_id !== undefined ? [{ id, user_id: user.id, subscription_id }] : []
  })
  const keyOf = (pair: { user_id: number; subscription_id: number }) => `${pair.user_id}:${pair.subscription_id}`
  const states = new Map((await subscriptionStates(ctx, pairs)).map((consent) => [keyOf(consent), consent]))
  for (const pair of pairs) {
    const optOut = optOutOf(states.get(keyOf(pair)))
    if (optOut) optOuts.set(pair.id, optOut)
  }
  return optOuts
}

const typeIn = ({ mail }: Pick<Claimed, 'mail'>, campaigns: Campaigns): SubscriptionId | undefined =>
  mail.source === 'message' ? campaigns.get(mail.campaign_id ?? 0)?.subscription_id : undefined

/** Tells which emails are transactional: all but those of campaigns of other subscription types. */
export async function transactionalAmong(
  ctx: ProjectCtx,
  claimed: Claimed[],
  campaigns: Campaigns,
): Promise<(one: Pick<Claimed, 'mail'>) => boolean> {
  const ids = distinct(claimed.flatMap((one) => typeIn(one, campaigns) ?? []))
  const types = ids.length === 0 ? [] : await knownSubscriptions(ctx, ids, false)
  const marketing = new Set(types.flatMap(({ id, is_transactional }) => (is_transactional ? [] : [id])))
  return (one) => !marketing.has(typeIn(one, campaigns) as SubscriptionId)
}
