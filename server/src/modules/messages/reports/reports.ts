/** Applies delivery reports of providers, and answers text messages from users. */
import { APPLY } from '../../../infra/queue/queue.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { hasAddresses } from '../../../lib/channels.ts'
import type { CampaignId, MessageId, ProviderId, UserId } from '../../../lib/ids.ts'
import { normalisePhone, phoneRegions } from '../../../lib/phone.ts'
import { connectProvider, type Report } from '../../channels/index.ts'
import { isNewEventId } from '../../events/index.ts'
import { receiveText, recordBounces, suppress, unsubscribeBy, usersWithAddress } from '../../subscriptions/index.ts'
import { appendUserChanges, findLiveUsers, type UserRow } from '../../users/index.ts'
import { emit } from '../../webhook-events/index.ts'
import { addressHash } from '../addresses.ts'
import { messageKey } from '../message-key.ts'
import { newMessageId } from '../messages.queries.ts'
import type { FindCampaignSubscriptions } from '../sending/find-sending-campaigns.ts'
import { messageEvent } from '../system-events.ts'
import { type AppliedReport, withoutNames } from './applied-report.ts'
import { lockReported, type ReportedMessage, saveReported } from './queries.ts'
import { afterReport, mayBeTaken } from './transition.ts'
import { type MatchedReport, webhookEventsOfReport } from './webhook-events.ts'

/**
 * Applies the reports of one callback: states, webhook events, suppression and consent in one transaction, then what users wrote, each text
 * in one. Providers repeat what they get no answer to: a text is acted on once, and a reply is sent once. Returns the text of the reply when
 * the provider's own answer carries it (`repliesInAnswer`). Of several calls with the same `once`, the first is applied.
 */
export async function applyReports(
  ctx: ProjectCtx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  providerId: ProviderId,
  reports: Report[],
  { once, repliesInAnswer = false }: { once?: string | undefined; repliesInAnswer?: boolean } = {},
): Promise<string | undefined> {
  const ofMessages = reports.filter(({ what }) => what !== 'received')
  if (ofMessages.length > 0 || once !== undefined)
    await inTx(ctx, async (ctx) => {
      if (once !== undefined && !(await isNewEventId(ctx, `reported ${providerId} ${once}`))) return
      if (ofMessages.length > 0) await applyToMessages(ctx, findCampaignSubscriptions, providerId, ofMessages)
    })
  let inAnswer: string | undefined
  for (const { what, address, text, reference } of reports) {
    if (what !== 'received' || address === undefined || text === undefined) continue
    const { reply, isRepeat } = await inTx(ctx, async (ctx) => {
      const isRepeat = reference !== undefined && !(await isNewEventId(ctx, `text_received ${providerId} ${reference}`))
      if (!isRepeat) await recordText(ctx, address, text)
      return { reply: await receiveText(ctx, address, text, { isRepeat }), isRepeat }
    })
    if (reply !== null && repliesInAnswer) inAnswer = reply
    else if (reply !== null && !isRepeat) await answer(ctx, providerId, address, reply)
  }
  return inAnswer
}

const TEXT_LENGTH_MAX = 1600

/** Adds the event that a user sent a text message, for every user with the number. */
async function recordText(ctx: InTx, address: string, text: string): Promise<void> {
  const phone = normalisePhone(address, phoneRegions({}, ctx.project)) ?? address
  const users = await usersWithAddress(ctx, 'text', phone)
  const event = {
    name: 'text_received',
    data: { text: text.slice(0, TEXT_LENGTH_MAX).toWellFormed() },
    created_at: ctx.clock.now().toISOString(),
  }
  await appendUserChanges(
    ctx,
    users.map(({ id }) => ({ user_id: id, what: [], event })),
  )
}

/** No provider has this id. Messages are found by their own. */
const NO_PROVIDER = 0 as ProviderId

/**
 * Applies complaints that the sandbox acted out, as if a provider had reported them. They suppress no address, so that more messages can be
 * sent to it.
 */
export async function applyComplaints(
  ctx: ProjectCtx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  ids: MessageId[],
): Promise<void> {
  const at = ctx.clock.now()
  const reports = ids.map((messageId): AppliedReport => ({ what: 'complained', messageId, at, isActedOut: true }))
  await inTx(ctx, (ctx) => applyToMessages(ctx, findCampaignSubscriptions, NO_PROVIDER, reports))
}

/** Applies what came by email about a message of this server. Its address is the one that was written to, whatever the report says. */
export const applyMailReport = (
  ctx: InTx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  report: Omit<AppliedReport, 'address' | 'reference'> & { messageId: MessageId },
): Promise<void> => applyToMessages(ctx, findCampaignSubscriptions, NO_PROVIDER, [report])

async function applyToMessages(
  ctx: InTx,
  findCampaignSubscriptions: FindCampaignSubscriptions,
  providerId: ProviderId,
  reports: AppliedReport[],
): Promise<void> {
  const ids = reports.flatMap(({ messageId }) => (messageId === undefined ? [] : [messageId]))
  const references = reports.flatMap(({ reference }) => (reference === undefined ? [] : [reference]))
  const messages = await lockReported(ctx, providerId, ids, references)
  const known = messages.filter(({ is_erased }) => !is_erased).map(({ user_id }) => user_id)
  const matched = matchReports(ctx, providerId, reports, messages, await findLiveUsers(ctx, known))
  const last = new Map(matched.flatMap(({ became }) => (became ? [[became.id, became] as const] : [])))
  if (last.size > 0) await saveReported(ctx, [...last.values()])
  // The outcomes of messages of journeys are in the queue.
  if (matched.some(({ became, message }) => became && message.entrance_id !== null)) ctx.wake(APPLY)
  await suppressReported(ctx, matched)
  await unsubscribe(ctx, findCampaignSubscriptions, matched)
  await emit(ctx, () => matched.flatMap((one) => webhookEventsOfReport(one, ctx.clock.now())))
  await appendUserChanges(ctx, matched.flatMap(eventOf))
}

/**
 * Pairs reports with their messages, in order. Each report of a message is applied to the state that the previous one led to. One about a copy
 * (`cc`, `bcc`) changes neither the message nor its user. Any other address means the recipient, whose mailbox may forward to it.
 */
function matchReports(
  ctx: InTx,
  providerId: ProviderId,
  reports: AppliedReport[],
  messages: ReportedMessage[],
  users: Map<UserId, UserRow>,
): MatchedReport[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const byReference = new Map(messages.map((message) => [message.provider_message_id, message]))
  return reports.flatMap((report) => {
    const ofId = report.messageId === undefined ? undefined : byId.get(report.messageId)
    const found =
      (ofId && isSameMessage(ofId, providerId, report) ? ofId : undefined) ??
      (report.reference === undefined ? undefined : byReference.get(report.reference))
    if (!found) return []
    const message = { ...found }
    const was = found.state
    const copy = report.other !== undefined ? report.other : isOfCopy(ctx, found, report) ? report.address : undefined
    const to = copy === undefined ? afterReport(was, report.what, found.uncertain_at !== null) : null
    const isSoft = report.bounce !== undefined && report.bounce.suppresses.is !== 'at once'
    if (to) {
      found.state = to.state
      found.provider_message_id ??= report.reference ?? null
    }
    const said = { detail: report.diagnostic ?? null, reference: found.provider_message_id }
    const became = to && { id: found.id, ...to, ...(isSoft && { reason: 'soft_bounce' as const }), ...said }
    const user = copy === undefined ? users.get(found.user_id) : undefined
    const effects = { suppressed: false, unsubscribed: false }
    if (found.is_erased)
      return [{ report: withoutNames(report), message, was, became, user, ...(copy !== undefined && { copy: null }), ...effects }]
    return [{ report, message, was, became, user, ...(copy !== undefined && { copy }), ...effects }]
  })
}

/**
 * The server of another database may have sent with our id over the account of the provider. Only the provider’s own id tells. A message without one
 * is meant if this provider took it without a reply, or may be taking it now.
 */
function isSameMessage(message: ReportedMessage, providerId: ProviderId, { reference }: AppliedReport): boolean {
  const { provider_message_id: id, provider_id, state } = message
  if (id !== null) return reference === undefined || id === reference
  return providerId === NO_PROVIDER || state === 'claimed' || (provider_id === providerId && mayBeTaken(message))
}

const isOfCopy = (ctx: InTx, { campaign_id, copies }: ReportedMessage, { address }: AppliedReport): boolean =>
  copies !== null && address !== undefined && copies.includes(addressHash(ctx, campaign_id, 'email', address) ?? '')

const REASONS: Partial<Record<AppliedReport['what'], 'hard_bounce' | 'complaint'>> = {
  bounced: 'hard_bounce',
  complained: 'complaint',
  fraud: 'complaint',
}

/**
 * Suppresses addresses after bounces and complaints, whatever the state of the message was. A bounce that came by email suppresses as its
 * classification says, and is counted once for each message. Of an address that is reported after the erasure of its user, only the hash is kept.
 */
async function suppressReported(ctx: InTx, matched: MatchedReport[]): Promise<void> {
  const addressed = matched.flatMap((one) => {
    const reason = REASONS[one.report.what]
    const address = one.copy ?? one.message.recipient ?? one.report.address
    const { channel } = one.message
    return reason && address && hasAddresses(channel) && !one.report.isActedOut && one.report.other === undefined
      ? [{ one, channel, address, reason, isAddressKept: !one.message.is_erased, source: { message_id: one.message.id } }]
      : []
  })
  const atOnce = addressed.filter(({ one }) => !one.report.bounce)
  await suppress(ctx, atOnce)
  for (const { one } of atOnce) one.suppressed = true
  const bounced = addressed.flatMap((entry) => {
    const { bounce } = entry.one.report
    return bounce && (entry.one.became || bounce.suppresses.is === 'at once') ? [{ ...entry, ...bounce }] : []
  })
  const suppressed = await recordBounces(ctx, bounced)
  for (const { one, address } of bounced) one.suppressed = suppressed.has(address)
}

async function unsubscribe(ctx: InTx, findCampaignSubscriptions: FindCampaignSubscriptions, matched: MatchedReport[]): Promise<void> {
  const optOuts = matched.filter(({ report, user }) => user && (report.what === 'complained' || report.what === 'unsubscribed'))
  if (optOuts.length === 0) return
  const ids = [...new Set<CampaignId>(optOuts.map(({ message }) => message.campaign_id))]
  const campaigns = new Map((await findCampaignSubscriptions(ctx, ids)).map((campaign) => [campaign.id, campaign]))
  for (const one of optOuts) {
    const { report, message, user } = one
    const campaign = campaigns.get(message.campaign_id)
    if (!campaign || !user) continue
    const source = report.what === 'complained' ? 'complaint' : 'provider'
    const address = message.recipient ?? report.address
    const subscriptionId = campaign.subscription_id
    const outcome = await unsubscribeBy(ctx, { userId: user.id, subscriptionId, address, source, proof: { message_id: message.id } })
    one.unsubscribed = outcome === 'unsubscribed'
  }
}

const eventOf = ({ report, message, became, user }: MatchedReport) =>
  became && user ? [{ user_id: user.id, what: [], event: messageEvent(message, became.state, report.at) }] : []

/** Sends the reply to a keyword by the provider that received it. The reply belongs to no campaign, so it is not stored as a message. */
async function answer(ctx: ProjectCtx, providerId: ProviderId, address: string, reply: string): Promise<void> {
  const connection = await connectProvider(ctx, 'text', providerId)
  const id: MessageId = await newMessageId(ctx)
  const { outcome } = await connection.send({
    channel: 'text',
    recipient: address,
    summary: reply,
    content: { to: address, body: reply },
    id,
    key: messageKey(ctx, { project_id: ctx.projectId, id, created_at: ctx.clock.now() }),
    headers: {},
    devices: [],
  })
  if (outcome.is !== 'accepted') ctx.log.warn({ provider_id: providerId, outcome: outcome.is }, 'reply to a keyword was not accepted')
}
