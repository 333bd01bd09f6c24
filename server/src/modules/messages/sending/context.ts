/** Reads the send context of a batch of messages, with one statement for each kind of data. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf, type Channel, channels } from '../../../lib/channels.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import type { CampaignId, MessageId, ProviderId, UserId } from '../../../lib/ids.ts'
import { usableTimeZone } from '../../../lib/time-zones.ts'
import { connectProvider, type ProviderConnection, type PushTarget } from '../../channels/index.ts'
import { type Consent, type SuppressionReason, subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import { chooseTemplate, type SendableTemplate, sendableTemplatesOf } from '../../templates/index.ts'
import { findLiveUsers, mergesInto, pushDevicesOf, type UserRow } from '../../users/index.ts'
import type { SendContext, SendingCampaign, Throttle } from '../eligibility.ts'
import { exclusionsOf } from '../exclusions.ts'
import { delayedUntil, longestWindowMs, NO_POLICY, quietUntil, type Received, type SendingPolicy } from '../policy/policy.ts'
import { findPolicy, type ReceivedRow, receivedSince } from '../policy/queries.ts'
import type { MessageRequest } from '../requests/schema.ts'
import { loadRequests, templateOf } from '../requests/service.ts'
import type { ClaimedMessage } from '../schema.ts'
import { duplicatesAmong } from './duplicates.ts'
import type { FindSendingCampaigns } from './find-sending-campaigns.ts'

export type SendContexts = {
  contextOf(message: ClaimedMessage): SendContext<SendableTemplate>
  devices(userId: UserId): PushTarget[]
  /** The provider of one of the campaigns. */
  connectionOf(campaign: SendingCampaign): ProviderConnection
  /** What the request of a message gave; undefined for messages that no request asked for. */
  requestOf(message: ClaimedMessage): MessageRequest | undefined
}

/** Reads the data that messages need first. It depends on no setting of their project. */
export function readAbout(ctx: ProjectCtx, findSendingCampaigns: FindSendingCampaigns, messages: ClaimedMessage[]) {
  const campaignIds = [...new Set(messages.map(({ campaign_id }) => campaign_id))]
  const userIds = messages.map(({ user_id }) => user_id)
  return Promise.all([
    findSendingCampaigns(ctx, campaignIds),
    sendableTemplatesOf(ctx, campaignIds),
    findLiveUsers(ctx, userIds),
    findPolicy(ctx),
  ])
}

export type About = Awaited<ReturnType<typeof readAbout>>

/**
 * Reads the send contexts of messages of one project and channel. Independent data is read at the same time, so that a message waits for
 * three round trips instead of nine.
 */
export async function loadSendContexts(
  ctx: ProjectCtx,
  about: About,
  findSendingCampaigns: FindSendingCampaigns,
  messages: ClaimedMessage[],
): Promise<SendContexts> {
  const channel = messages[0]?.channel as Channel
  const [found, allTemplates, users, policy] = about
  const campaigns = new Map(found.map((campaign) => [campaign.id, campaign]))
  const templates = Map.groupBy(allTemplates, ({ campaign_id }) => campaign_id)
  const [consents, suppressions, devices, duplicates, throttleOf, connections, isExcluded] = await Promise.all([
    consentsOf(ctx, messages, campaigns, users),
    suppressionsOf(ctx, channel, users, false),
    channels[channel].recipient === 'devices' ? devicesOf(ctx, users) : new Map<UserId, PushTarget[]>(),
    duplicatesAmong(ctx, messages, users),
    throttlesOf(ctx, findSendingCampaigns, policy ?? NO_POLICY, messages, users),
    connectionsOf(ctx, channel, found),
    exclusionsOf(
      ctx,
      found,
      [...users.values()].map(({ id }) => id),
    ),
  ])
  const hasTransactional = [...consents.values()].some(({ is_transactional }) => is_transactional)
  const ofTransactional = hasTransactional ? await suppressionsOf(ctx, channel, users, true) : suppressions
  const consentOf = ({ user_id, campaign_id }: ClaimedMessage) =>
    consents.get(`${users.get(user_id)?.id}:${campaigns.get(campaign_id)?.subscription_id}`)
  const undecidedOf = undecidedIn(messages, users, (message) => consentOf(message)?.is_transactional === false)
  const requests = await loadRequests(ctx, messages)
  // The users of a batch have few locales.
  const choices = new Map<string, SendableTemplate | undefined>()
  const templateFor = (campaignId: CampaignId, locale: string | null, variant: number) => {
    const key = `${campaignId}:${variant}:${locale}`
    if (!choices.has(key)) choices.set(key, chooseTemplate(templates.get(campaignId) ?? [], locale, ctx.project.locale, variant))
    return choices.get(key)
  }
  return {
    requestOf: ({ id }) => requests.get(id),
    devices: (userId) => devices.get(userId) ?? [],
    connectionOf: ({ provider_id }) => connections.get(provider_id) as ProviderConnection,
    contextOf(message) {
      const { id, attempts, campaign_id, user_id, expires_at, variant } = message
      const request = requests.get(id)
      const campaign = campaigns.get(campaign_id)
      const user = users.get(user_id)
      const consent = consentOf(message)
      const chosen = variant ?? campaign?.winner_variant ?? null
      const address = user && addressOf(channel, user)
      return {
        channel,
        attempts,
        expiresAt: expires_at,
        now: ctx.clock.now(),
        campaign,
        user,
        consent,
        suppression: address == null ? undefined : (consent?.is_transactional ? ofTransactional : suppressions).get(address),
        isExcluded: campaign !== undefined && user !== undefined && isExcluded(campaign, user.id),
        template:
          (request && templateOf(campaign_id, request)) ?? templateFor(campaign_id, request?.locale ?? user?.locale ?? null, chosen ?? 0),
        variant: chosen,
        isDuplicate: duplicates.get(id) === true,
        waitsForOther: duplicates.get(id) === false,
        isResent: message.resent_from !== null,
        isUndecided: chosen === null && (campaign?.waits_for_winner ?? false),
        throttle: () => (user && consent && !consent.is_transactional ? throttleOf(message, user, undecidedOf) : null),
      }
    },
  }
}

async function connectionsOf(
  ctx: ProjectCtx,
  channel: Channel,
  campaigns: SendingCampaign[],
): Promise<Map<ProviderId | null, ProviderConnection>> {
  const ids = [...new Set(campaigns.map(({ provider_id }) => provider_id))]
  return new Map(await mapWithConcurrency(ids, ids.length, async (id) => [id, await connectProvider(ctx, channel, id)] as const))
}

async function consentsOf(
  ctx: ProjectCtx,
  messages: Pick<ClaimedMessage, 'campaign_id' | 'user_id'>[],
  campaigns: Map<CampaignId, SendingCampaign>,
  users: Map<UserId, UserRow>,
): Promise<Map<string, Consent>> {
  const pairs = messages.flatMap(({ campaign_id, user_id }) => {
    const [campaign, user] = [campaigns.get(campaign_id), users.get(user_id)]
    return campaign && user ? [{ user_id: user.id, subscription_id: campaign.subscription_id }] : []
  })
  const rows = pairs.length > 0 ? await subscriptionStates(ctx, pairs) : []
  return new Map(rows.map((row) => [`${row.user_id}:${row.subscription_id}`, row]))
}

async function suppressionsOf(
  ctx: ProjectCtx,
  channel: Channel,
  users: Map<UserId, UserRow>,
  isTransactional: boolean,
): Promise<Map<string, SuppressionReason>> {
  const addresses = [...users.values()].map((user) => addressOf(channel, user)).filter((address) => address !== null)
  return addresses.length === 0 ? new Map() : suppressedAmong(ctx, channel, addresses, { isTransactional })
}

async function devicesOf(ctx: ProjectCtx, users: Map<UserId, UserRow>): Promise<Map<UserId, PushTarget[]>> {
  const ids = [...users.values()].map(({ id }) => id)
  return Map.groupBy(await pushDevicesOf(ctx, ids), ({ user_id }) => user_id)
}

/** The messages to a user that are decided after one of them although they have smaller ids. */
type UndecidedOf = (message: ClaimedMessage, user: UserRow) => ClaimedMessage[]

/** Messages are decided in the order in which they are due. Those that caps do not count are left out. */
function undecidedIn(
  messages: ClaimedMessage[],
  users: Map<UserId, UserRow>,
  isCounted: (message: ClaimedMessage) => boolean,
): UndecidedOf {
  const ofUsers = Map.groupBy(messages, ({ user_id }) => users.get(user_id)?.id)
  return ({ id }, user) => {
    const ofUser = ofUsers.get(user.id) ?? []
    return ofUser.slice(ofUser.findIndex((one) => one.id === id) + 1).filter((one) => one.id < id && isCounted(one))
  }
}

type ThrottleOf = (message: ClaimedMessage, user: UserRow, undecidedOf: UndecidedOf) => Throttle | null

/**
 * Reads what the throttles of the project's sending policy depend on. A message of the batch that is not throttled counts towards the caps
 * for the other messages to the same user.
 */
async function throttlesOf(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  policy: SendingPolicy,
  messages: ClaimedMessage[],
  users: Map<UserId, UserRow>,
): Promise<ThrottleOf> {
  if (policy === NO_POLICY) return () => null
  const now = ctx.clock.now()
  const received = await receivedOf(ctx, findSendingCampaigns, policy, messages, users)
  return (message, user, undecidedOf) => {
    const { channel } = message
    const quiet = quietUntil(policy, channel, now, usableTimeZone(user.timezone, ctx.project.timezone))
    if (quiet) return { reason: 'quiet_hours', at: quiet }
    const ofUser = received.get(user.id) ?? []
    // Another batch of the same claim counts them as well: of all its messages, each counts those with smaller ids.
    const undecided = undecidedOf(message, user).map((one) => ({ channel, at: now, in_flight: one.id, lease_token: one.lease_token }))
    const delayed = delayedUntil(policy, message, now, [...ofUser, ...undecided])
    if (delayed) return { reason: 'frequency_cap', at: delayed }
    // It may still end unsent. Without its token, it counts for messages with smaller ids too.
    received.set(user.id, [...ofUser, { channel, at: now, in_flight: message.id, lease_token: null }])
    return null
  }
}

async function receivedOf(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  policy: SendingPolicy,
  messages: ClaimedMessage[],
  users: Map<UserId, UserRow>,
): Promise<Map<UserId, Received[]>> {
  const window = longestWindowMs(policy)
  if (window === 0) return new Map()
  const since = new Date(ctx.clock.now().getTime() - window)
  const own = messages.map(({ id }) => id)
  const ids = [...new Set([...users.values()].map(({ id }) => id))]
  const [ofUsers, merges] = await Promise.all([receivedSince(ctx, ids, since, own), mergesInto(ctx, ids)])
  const rows = merges.length === 0 ? ofUsers : [...ofUsers, ...(await receivedAsOthers(ctx, merges, since, own))]
  const counts = await countingInFlight(ctx, findSendingCampaigns, rows, users)
  return Map.groupBy(
    rows.filter((row) => row.is_counted || counts(row)),
    ({ user_id }) => user_id,
  )
}

/** What users got as users who were merged into them: such a message stays where it is if the remaining user had one for its cause too. */
async function receivedAsOthers(ctx: ProjectCtx, merges: Merges, since: Date, except: MessageId[]): Promise<ReceivedRow[]> {
  const mergedInto = new Map(merges.map(({ id, merged_into }) => [id, merged_into]))
  const rows = await receivedSince(ctx, [...mergedInto.keys()], since, except)
  return rows.map((row) => ({ ...row, user_id: mergedInto.get(row.user_id) ?? row.user_id }))
}

type Merges = Awaited<ReturnType<typeof mergesInto>>

/**
 * Tells which messages that are in flight, or whose sender died, count towards caps: not those that are transactional, nor those of an
 * archived campaign, which are aborted.
 */
async function countingInFlight(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  rows: ReceivedRow[],
  users: Map<UserId, UserRow>,
): Promise<(row: ReceivedRow) => boolean> {
  const unsaved = rows.filter(({ is_counted }) => !is_counted)
  if (unsaved.length === 0) return () => false
  const found = await findSendingCampaigns(ctx, [...new Set(unsaved.map(({ campaign_id }) => campaign_id))])
  const campaigns = new Map(found.map((campaign) => [campaign.id, campaign]))
  const present = new Map([...users.values()].map((user) => [user.id, user]))
  const consents = await consentsOf(ctx, unsaved, campaigns, present)
  return ({ user_id, campaign_id }) => consents.get(`${user_id}:${campaigns.get(campaign_id)?.subscription_id}`)?.is_transactional === false
}
