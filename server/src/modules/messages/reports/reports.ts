/** What vendors report of messages, and what people answer to them. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId, ProviderId, UserId } from '../../../lib/ids.ts'
import { connectProvider, type Report } from '../../channels/index.ts'
import { hasAddresses, receiveText, suppress, unsubscribeBy } from '../../subscriptions/index.ts'
import { appendUserChanges, findLiveUsers, type UserRow } from '../../users/index.ts'
import { emit } from '../../webhook-events/index.ts'
import { newMessageId } from '../messages.queries.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { messageEvent } from '../sending/record-results.ts'
import { holdReported, type ReportedMessage, saveReported } from './queries.ts'
import { afterReport } from './transition.ts'
import { type MatchedReport, webhookEventsOfReport } from './webhook-events.ts'

/**
 * Applies the reports of one callback: states, webhook events, suppression and consent in one transaction, then the reply to what users
 * wrote. Returns the text of that reply when the provider's own answer carries it (`repliesInAnswer`); otherwise it is sent.
 */
export async function applyReports(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  providerId: ProviderId,
  reports: Report[],
  repliesInAnswer: boolean,
): Promise<string | undefined> {
  const about = reports.filter(({ what }) => what !== 'received')
  if (about.length > 0) await inTx(ctx, (ctx) => takeIn(ctx, findSendingCampaigns, providerId, about))
  let inAnswer: string | undefined
  for (const { what, address, text } of reports) {
    if (what !== 'received' || address === undefined || text === undefined) continue
    const reply = await receiveText(ctx, address, text)
    if (reply !== null && repliesInAnswer) inAnswer = reply
    else if (reply !== null) await answer(ctx, providerId, address, reply)
  }
  return inAnswer
}

async function takeIn(ctx: InTx, findSendingCampaigns: FindSendingCampaigns, providerId: ProviderId, reports: Report[]): Promise<void> {
  const ids = reports.flatMap(({ messageId }) => (messageId === undefined ? [] : [messageId]))
  const references = reports.flatMap(({ reference }) => (reference === undefined ? [] : [reference]))
  const messages = await holdReported(ctx, providerId, ids, references)
  const known = messages.filter(({ is_erased }) => !is_erased).map(({ user_id }) => user_id)
  const told = matched(reports, messages, await findLiveUsers(ctx, known))
  const last = new Map(told.flatMap(({ became }) => (became ? [[became.id, became] as const] : [])))
  if (last.size > 0) await saveReported(ctx, [...last.values()])
  await suppress(ctx, told.flatMap(suppressionOf))
  await unsubscribe(ctx, findSendingCampaigns, told)
  await emit(ctx, () => told.flatMap((one) => webhookEventsOfReport(one, ctx.clock.now())))
  await appendUserChanges(ctx, told.flatMap(eventOf))
}

/** Each report beside its message, in order: of several about one message each sees what the one before made of it. */
function matched(reports: Report[], messages: ReportedMessage[], users: Map<UserId, UserRow>): MatchedReport[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const byReference = new Map(messages.map((message) => [message.provider_message_id, message]))
  return reports.flatMap((report) => {
    const found =
      (report.messageId === undefined ? undefined : byId.get(report.messageId)) ??
      (report.reference === undefined ? undefined : byReference.get(report.reference))
    if (!found) return []
    const message = { ...found }
    const to = afterReport(found.state, report.what)
    const became = to && { id: found.id, ...to, detail: report.diagnostic ?? null }
    if (to) found.state = to.state
    return [{ report, message, became, user: users.get(found.user_id) }]
  })
}

const REASONS = { bounced: 'hard_bounce', complained: 'complaint' } as const

/** An address that bounced for good, or whose owner complained, gets nothing more, whatever the message's state was. */
function suppressionOf({ report, message }: MatchedReport) {
  const reason = report.what === 'bounced' || report.what === 'complained' ? REASONS[report.what] : undefined
  const address = message.recipient ?? report.address
  const { channel } = message
  return reason && address && hasAddresses(channel) ? [{ channel, address, reason, source: { message_id: message.id } }] : []
}

async function unsubscribe(ctx: InTx, findSendingCampaigns: FindSendingCampaigns, told: MatchedReport[]): Promise<void> {
  const leaving = told.filter(({ report, user }) => user && (report.what === 'complained' || report.what === 'unsubscribed'))
  if (leaving.length === 0) return
  const ids = [...new Set<CampaignId>(leaving.map(({ message }) => message.campaign_id))]
  const campaigns = new Map((await findSendingCampaigns(ctx, ids)).map((campaign) => [campaign.id, campaign]))
  for (const { report, message, user } of leaving) {
    const campaign = campaigns.get(message.campaign_id)
    if (!campaign || !user) continue
    const source = report.what === 'complained' ? 'complaint' : 'provider'
    await unsubscribeBy(ctx, { userId: user.id, subscriptionId: campaign.subscription_id, source, proof: { message_id: message.id } })
  }
}

const eventOf = ({ report, message, became, user }: MatchedReport) =>
  became && user
    ? [
        {
          user_id: user.id,
          what: [],
          event: messageEvent(`${message.channel}_${became.state}`, message.campaign_id, message.id, report.at),
        },
      ]
    : []

/** Sends what a keyword is answered with, by whoever brought the keyword. It stands in no ledger: it is due to nobody's campaign. */
async function answer(ctx: ProjectCtx, providerId: ProviderId, address: string, reply: string): Promise<void> {
  const connection = await connectProvider(ctx, 'text', providerId)
  const id: MessageId = await newMessageId(ctx)
  const { outcome } = await connection.send({
    channel: 'text',
    recipient: address,
    summary: reply,
    content: { to: address, body: reply },
    id,
    key: `${ctx.projectId}-${id}`,
    headers: {},
    devices: [],
  })
  if (outcome.is !== 'accepted') ctx.log.warn({ provider_id: providerId, outcome: outcome.is }, 'a reply to a keyword was not taken')
}
