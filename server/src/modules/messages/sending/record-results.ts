/** What became of a batch, and everything that follows from it, in one transaction. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { Outgoing, ProviderConnection, ProviderResponse } from '../../channels/index.ts'
import { deliverToInbox } from '../../inbox/index.ts'
import { type Consent, hasAddresses, suppress } from '../../subscriptions/index.ts'
import { appendUserChanges, clearDeviceTokens, type QueuedUserChange, type UserRow } from '../../users/index.ts'
import { emit } from '../../webhook-events/index.ts'
import type { SendResult } from '../eligibility.ts'
import { insertCaptures } from '../sandbox/queries.ts'
import { type ClaimedMessage, SENT_STATES, type SettledMessage } from '../schema.ts'
import { webhookEventsOf } from '../webhook-events.ts'
import { deleteHandovers, saveResults } from './queries.ts'

/** One try to hand a message over. */
export type Attempt = { outgoing: Outgoing; outcome: ProviderResponse; connection: ProviderConnection; startedAt: Date; elapsedMs: number }

/** A message that was decided about, and perhaps handed over, but not settled. */
export type Attempted = {
  message: ClaimedMessage
  user: UserRow | undefined
  consent: Consent | undefined
  ending: SendResult
  attempt: Attempt | null
}

/** Writes down what became of messages, and tells: all in one transaction, and only for those that are still ours. */
export async function recordResults(ctx: ProjectCtx, sent: Attempted[], handover: number | null = null): Promise<void> {
  await inTx(ctx, async (ctx) => {
    if (handover !== null) await deleteHandovers(ctx, [handover])
    const settled = await saveResults(ctx, sent.map(toSettled))
    const ours = new Map(settled.map((row) => [row.id, row]))
    const done = sent.filter(({ message }) => ours.has(message.id))
    // Of somebody who was erased meanwhile nothing is kept; what was for somebody who was merged, before or meanwhile, is the survivor's.
    const kept = done.flatMap((one): Attempted[] => {
      const row = ours.get(one.message.id)
      if (!row || row.is_erased) return []
      const user_id = row.user_id === one.message.user_id ? (one.user?.id ?? row.user_id) : row.user_id
      return [{ ...one, message: { ...one.message, user_id } }]
    })
    await keepCopies(ctx, kept)
    await learnFrom(ctx, kept)
    const now = ctx.clock.now()
    await emit(ctx, () => done.flatMap(({ message, user, ending, attempt }) => webhookEventsOf(message, user, ending, attempt, now)))
    await appendUserChanges(
      ctx,
      kept.flatMap((one) => eventsOf(one, now)),
    )
  })
}

/** Copies that people, or developers, read here. */
async function keepCopies(ctx: InTx, sent: Attempted[]): Promise<void> {
  const accepted = sent.flatMap(({ message, attempt }) =>
    attempt?.outcome.is === 'accepted' ? [{ message, outcome: attempt.outcome }] : [],
  )
  const captures = accepted.flatMap(({ message: { id, campaign_id, user_id }, outcome: { capture } }) =>
    capture ? [{ ...capture, id, campaign_id, user_id }] : [],
  )
  if (captures.length > 0) await insertCaptures(ctx, captures)
  const copies = accepted.flatMap(({ message: { id, campaign_id, user_id }, outcome: { inbox } }) =>
    inbox ? [{ id, campaign_id, user_id, content: inbox.content }] : [],
  )
  if (copies.length > 0) await deliverToInbox(ctx, copies)
}

/** An address that is at fault gets nothing more, and a device that is gone is not tried again. */
async function learnFrom(ctx: InTx, sent: Attempted[]): Promise<void> {
  const bounced = sent.flatMap(({ message: { id, channel }, ending, attempt }) =>
    ending.state === 'bounced' && attempt && hasAddresses(channel)
      ? [{ channel, address: attempt.outgoing.recipient, reason: 'hard_bounce' as const, source: { message_id: id } }]
      : [],
  )
  if (bounced.length > 0) await suppress(ctx, bounced)
  const dead = sent.flatMap(({ attempt }) => (attempt && 'deadTokens' in attempt.outcome ? (attempt.outcome.deadTokens ?? []) : []))
  if (dead.length > 0) await clearDeviceTokens(ctx, dead)
}

const DEEDS: Partial<Record<SendResult['state'], string[]>> = {
  sent: ['sent'],
  delivered: ['sent', 'delivered'],
  failed: ['failed'],
  bounced: ['bounced'],
}

/** What became of a message is an event of its person. It triggers nothing: else a message might cause itself. */
const eventsOf = ({ message: { id, campaign_id, channel }, user, ending }: Attempted, now: Date): QueuedUserChange[] =>
  user
    ? (DEEDS[ending.state] ?? []).map((deed) => ({
        user_id: user.id,
        what: [],
        event: messageEvent(`${channel}_${deed}`, campaign_id, id, now),
      }))
    : []

/** An event that says what became of a message. Silent: it triggers nothing. */
export const messageEvent = (name: string, campaign_id: number, message_id: MessageId, at: Date, more: Record<string, unknown> = {}) => ({
  name,
  data: { campaign_id, message_id, ...more },
  created_at: at.toISOString(),
  silent: true as const,
})

function toSettled({ message: { id, lease_token, variant }, ending, consent, attempt }: Attempted): SettledMessage {
  const { state, reason, detail, dueAt, untried = false } = ending
  const accepted = attempt?.outcome.is === 'accepted' ? attempt.outcome : undefined
  return {
    id,
    lease_token,
    state,
    reason,
    detail,
    due_at: dueAt,
    variant,
    recipient: attempt?.outgoing.recipient ?? null,
    provider: attempt?.connection.provider ?? null,
    provider_id: attempt?.connection.providerId ?? null,
    provider_message_id: accepted?.reference ?? null,
    consent_id: attempt ? (consent?.consent_id ?? null) : null,
    counts_to_caps: attempt !== null && consent !== undefined && !consent.is_transactional && counts(state),
    untried,
  }
}

const counts = (state: SendResult['state']): boolean => SENT_STATES.includes(state) || state === 'unknown'
