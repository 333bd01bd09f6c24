/** Saves the send results of a batch and everything that follows from them, in one transaction. */
import { APPLY } from '../../../infra/queue/queue.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { hasAddresses } from '../../../lib/channels.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import type { MailRetries } from '../../../lib/mail-retries.ts'
import { copiesOf, type Outgoing, type ProviderConnection, type ProviderResponse, type QueuedMail, shownOf } from '../../channels/index.ts'
import { deliverToInbox } from '../../inbox/index.ts'
import { deflateContent, enqueueMail, type StoredContent } from '../../mta/index.ts'
import { type Consent, suppress } from '../../subscriptions/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { appendUserChanges, clearDeviceTokens, type QueuedUserChange, type UserRow } from '../../users/index.ts'
import { emit, wantedTypes, webhookEvents } from '../../webhook-events/index.ts'
import { addressHash } from '../addresses.ts'
import { countsToCaps, result, resultWithoutAttempt, type SendResult } from '../eligibility.ts'
import { insertSandboxMessages } from '../sandbox/queries.ts'
import { type ClaimedMessage, type MessageResult, type Priority, SEND_JOBS, TRANSACTIONAL } from '../schema.ts'
import { messageEvent } from '../system-events.ts'
import { webhookEventsOf } from '../webhook-events.ts'
import { saveResults } from './queries.ts'
import { mailOf } from './queued-mail.ts'

/** One try to give a message to a provider. */
export type Attempt = {
  outgoing: Outgoing
  template: SendableTemplate
  outcome: ProviderResponse
  connection: ProviderConnection
  startedAt: Date
  elapsedMs: number
  /** When the campaign has its email tried again; null for the times of all campaigns. */
  retries: MailRetries | null
  /** When a provider that is idempotent first got it without a reply. */
  uncertainAt: Date | null
}

/** A message with its send result and its attempt, if there was one, before they are saved. */
export type Attempted = {
  message: ClaimedMessage
  user: UserRow | undefined
  consent: Consent | undefined
  result: SendResult
  attempt: Attempt | null
}

/** The result of a message that was not given to its provider. A final one is only certain if no provider may have it. */
export const notAttempted = (message: ClaimedMessage, known: Pick<Attempted, 'user' | 'consent'>, result: SendResult): Attempted => ({
  message,
  user: known.user,
  consent: known.consent,
  result: resultWithoutAttempt(message, result),
  attempt: null,
})

/** Saves send results with their webhook events and user changes, for the messages whose lease this sender still holds. */
export async function recordResults(ctx: ProjectCtx, sent: Attempted[], sendAttemptId: number | null = null): Promise<void> {
  const contents = await contentsOfMail(sent)
  await inTx(ctx, async (ctx) => {
    const [rows, wanted] = await Promise.all([
      saveResults(ctx, { messages: sent.map((one) => toRow(ctx, one)), sendAttemptId }),
      wantedTypes(ctx),
    ])
    const saved = new Map(rows.map((row) => [row.id, row]))
    const done = sent.flatMap((one): Attempted[] => {
      const row = saved.get(one.message.id)
      return row ? [row.is_reported ? afterItsReport(one) : one] : []
    })
    // Nothing more is stored or reported of users who were erased since.
    const known = done.filter(({ message }) => !saved.get(message.id)?.is_erased)
    // Messages of merged users belong to the remaining user.
    const kept = known.flatMap((one): Attempted[] => {
      const row = saved.get(one.message.id)
      if (!row) return []
      const user_id = row.user_id === one.message.user_id ? (one.user?.id ?? row.user_id) : row.user_id
      return [{ ...one, message: { ...one.message, user_id } }]
    })
    // They are sent later.
    if (done.some(({ result }) => result.state === 'deferred')) for (const job of Object.values(SEND_JOBS)) ctx.wake(job)
    await storeContents(ctx, kept)
    await storeMail(ctx, kept, contents, (id) => saved.get(id)?.priority ?? TRANSACTIONAL)
    await applyBounces(ctx, kept)
    // The outcomes of messages of journeys are in the queue.
    if (done.some(({ message }) => message.entrance_id !== null)) ctx.wake(APPLY)
    const now = ctx.clock.now()
    const isDone = (id: MessageId, type: string) => type === webhookEvents.deliveryCompleted.type && saved.get(id)?.is_reported
    await emit(
      ctx,
      (wanted) =>
        known.flatMap(({ message, user, result, attempt }) =>
          webhookEventsOf(message, user, result, attempt, now, ({ type }) => wanted.has(type) && !isDone(message.id, type)),
        ),
      wanted,
    )
    await appendUserChanges(
      ctx,
      kept.flatMap((one) => eventsOf(one, now)),
    )
  })
}

/** A report says what happened to the message. Its sender adds that the provider accepted it, and nothing if it heard something else. */
const afterItsReport = (one: Attempted): Attempted => (one.attempt?.outcome.is === 'accepted' ? one : { ...one, result: result('unknown') })

/** Stores the messages of the sandbox, and those for the inbox. */
async function storeContents(ctx: InTx, sent: Attempted[]): Promise<void> {
  const accepted = sent.flatMap(({ message, attempt }) =>
    attempt?.outcome.is === 'accepted' ? [{ ...attempt, message, outcome: attempt.outcome }] : [],
  )
  const forSandbox = accepted.flatMap(({ message: { id, campaign_id, user_id }, outcome: { sandbox }, outgoing, template }) => {
    if (!sandbox) return []
    const headers = sandbox.channel === 'email' ? outgoing.headers : null
    const template_id = template.attachment_bytes > 0 ? template.id : null
    return [{ ...sandbox, id, campaign_id, user_id, headers, template_id }]
  })
  if (forSandbox.length > 0) await insertSandboxMessages(ctx, forSandbox)
  const forInbox = accepted.flatMap(({ message: { id, campaign_id, user_id }, outcome: { inbox } }) =>
    inbox ? [{ id, campaign_id, user_id, content: inbox.content }] : [],
  )
  if (forInbox.length > 0) await deliverToInbox(ctx, forInbox)
}

const mailIn = (attempt: Attempt | null): QueuedMail | undefined => (attempt?.outcome.is === 'accepted' ? attempt.outcome.mail : undefined)

/** The contents of the email that goes into the mail queue, as they are stored there. */
async function contentsOfMail(sent: Attempted[]): Promise<Map<MessageId, StoredContent>> {
  const stored = sent.map(async ({ message, attempt }) => {
    const mail = mailIn(attempt)
    return mail && ([message.id, await deflateContent(...mail.pieces)] as const)
  })
  return new Map((await Promise.all(stored)).filter((one) => one !== undefined))
}

/** Puts email that this server delivers itself into the mail queue. */
async function storeMail(
  ctx: InTx,
  sent: Attempted[],
  contents: ReadonlyMap<MessageId, StoredContent>,
  priorityOf: (id: MessageId) => Priority,
): Promise<void> {
  const mails = sent.flatMap(({ message, attempt }) => {
    const [mail, content] = [mailIn(attempt), contents.get(message.id)]
    return mail && content
      ? [mailOf(message, priorityOf(message.id), { mail, content, retries: attempt?.retries ?? null }, ctx.clock.now())]
      : []
  })
  if (mails.length > 0) await enqueueMail(ctx, mails)
}

const isActedOut = ({ outcome }: NonNullable<Attempted['attempt']>): boolean => 'isActedOut' in outcome && outcome.isActedOut === true

/** Suppresses addresses that bounced, and removes invalid device tokens. */
async function applyBounces(ctx: InTx, sent: Attempted[]): Promise<void> {
  const bounced = sent.flatMap(({ message: { id, channel }, result, attempt }) =>
    result.state === 'bounced' && attempt && !isActedOut(attempt) && hasAddresses(channel)
      ? [{ channel, address: attempt.outgoing.recipient, reason: 'hard_bounce' as const, source: { message_id: id } }]
      : [],
  )
  if (bounced.length > 0) await suppress(ctx, bounced)
  const dead = sent.flatMap(({ attempt }) => (attempt && 'deadTokens' in attempt.outcome ? (attempt.outcome.deadTokens ?? []) : []))
  if (dead.length > 0) await clearDeviceTokens(ctx, dead)
}

/** The events of a state: what is delivered was sent before. */
const EVENTS: Partial<Record<SendResult['state'], SendResult['state'][]>> = {
  sent: ['sent'],
  delivered: ['sent', 'delivered'],
  failed: ['failed'],
  bounced: ['bounced'],
}

/** The events of a send result, for its user. */
const eventsOf = ({ message, user, result }: Attempted, now: Date): QueuedUserChange[] =>
  user ? (EVENTS[result.state] ?? []).map((state) => ({ user_id: user.id, what: [], event: messageEvent(message, state, now) })) : []

function toRow(
  ctx: InTx,
  { message: { id, campaign_id, channel, lease_token, variant }, result, consent, attempt }: Attempted,
): MessageResult {
  const { state, reason, detail, dueAt } = result
  const copies = attempt ? copyHashes(ctx, campaign_id, attempt.outgoing) : []
  const accepted = attempt?.outcome.is === 'accepted' ? attempt.outcome : undefined
  return {
    id,
    lease_token,
    state,
    reason,
    detail,
    due_at: dueAt,
    variant,
    recipient: attempt ? shownOf(channel, attempt.outgoing).recipient : null,
    ...(copies.length > 0 && { copies }),
    provider: attempt?.connection.provider ?? null,
    provider_id: attempt?.connection.providerId ?? null,
    provider_message_id: accepted?.reference ?? null,
    consent_id: attempt ? (consent?.consent_id ?? null) : null,
    // In the states of messages that a user may have got; a report may lead there.
    counts_to_caps: attempt !== null && countsToCaps(consent),
    ...(attempt?.uncertainAt && { uncertain_at: attempt.uncertainAt }),
  }
}

/** The hashes of the addresses that get a copy of an email. */
export const copyHashes = (ctx: InTx, campaignId: CampaignId, outgoing: Outgoing): string[] =>
  copiesOf(outgoing).flatMap((address) => addressHash(ctx, campaignId, 'email', address) ?? [])
