/** Sends messages that requests ask for (D-MSG-2): the user is saved, and what forbids the message is known before the answer. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf } from '../../../lib/channels.ts'
import { ApiError, type Fault, faultsError } from '../../../lib/errors.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { HOUR_MS, MINUTE_MS, parseTime } from '../../../lib/times.ts'
import {
  type AskedOutcome,
  askFor,
  createRequested,
  exclusionsOf,
  holdContents,
  insertAttachments,
  type RequestedMessage,
  sealValues,
  skipReasonFor,
  splitRedacted,
  withdrawAsked,
} from '../../messages/index.ts'
import { type Consent, type SuppressionReason, subscriptionStates, suppressedAmong } from '../../subscriptions/index.ts'
import {
  findLiveUsers,
  toProfile,
  type UpsertOutcome,
  type UserChanges,
  type UserRecord,
  type UserRow,
  upsertUsers,
} from '../../users/index.ts'
import { checkMessage, messageFaults } from './check.ts'
import { findRepeated, fingerprintOf, repeatedAmong } from './repetitions.ts'
import type { MessageInput, SentMessage, SentMessages } from './schema.ts'
import { type Target, targetsOf } from './targets.ts'

/** Follows up saved users, which concerns modules that depend on this one. */
export type OnUsersSaved = (ctx: InTx, changes: UserChanges) => Promise<void>

type Sent = { message: SentMessage } | { faults: Fault[] }

/** Sends a message. Throws 404 for an unknown campaign, 409 if its key belongs to another message, 400 and 422. */
export async function sendMessage(ctx: ProjectCtx, onUsersSaved: OnUsersSaved, input: MessageInput): Promise<SentMessage> {
  const faults = messageFaults(input, ctx.clock.now())
  if (faults.length > 0) throw faultsError(faults)
  const [sent] = await sendAll(ctx, onUsersSaved, [input])
  if (sent && 'message' in sent) return sent.message
  throw errorOf(sent?.faults ?? [])
}

function errorOf(faults: Fault[]): ApiError {
  const [first] = faults
  if (first?.code === 'idempotency_key_mismatch')
    return new ApiError(first.code, first.message, { param: 'key', reason: 'different_request' })
  return faultsError(faults)
}

/** Sends the valid items of a batch. Returns a result for each item. */
export async function sendMessages(ctx: ProjectCtx, onUsersSaved: OnUsersSaved, items: unknown[]): Promise<SentMessages> {
  const now = ctx.clock.now()
  const checked = items.map((item) => checkMessage(item, now))
  const sent = (
    await sendAll(
      ctx,
      onUsersSaved,
      checked.flatMap((item) => ('input' in item ? [item.input] : [])),
    )
  ).values()
  const outcomes = checked.map((item): Sent => ('faults' in item ? item : (sent.next().value as Sent)))
  const results = outcomes.map((outcome, index) => ({
    index,
    ...('message' in outcome ? outcome : { error: itemError(outcome.faults) }),
  }))
  const succeeded = outcomes.filter((outcome) => 'message' in outcome).length
  return { results, succeeded, failed: outcomes.length - succeeded }
}

const ERROR_LENGTH_MAX = 2000

function itemError(faults: Fault[]): { code: string; message: string } {
  const { code, message } = errorOf(faults)
  return { code, message: (faults.length === 1 ? message : faults.map((one) => one.message).join(' ')).slice(0, ERROR_LENGTH_MAX) }
}

type Item = { input: MessageInput; target: Target }

const itemsOf = (inputs: MessageInput[], targets: Awaited<ReturnType<typeof targetsOf>>): Item[] =>
  inputs.flatMap((input, at) => {
    const target = targets[at] as (typeof targets)[number]
    return 'campaign' in target ? [{ input, target }] : []
  })

async function sendAll(ctx: ProjectCtx, onUsersSaved: OnUsersSaved, inputs: MessageInput[]): Promise<Sent[]> {
  if (inputs.length === 0) return []
  let targets = await targetsOf(ctx, inputs)
  let isRepeated = false
  const sendAsFound = async (ctx: InTx) => {
    // The content that was found can be deleted by now.
    if (isRepeated) targets = await targetsOf(ctx, inputs)
    isRepeated = true
    return sendItems(ctx, onUsersSaved, itemsOf(inputs, targets))
  }
  const sent = (itemsOf(inputs, targets).length === 0 ? [] : await inTx(ctx, sendAsFound)).values()
  // A key that was used before stands for its message, also if its campaign sends nothing any more.
  const repeated = await findRepeated(
    ctx,
    inputs.filter((_, at) => 'faults' in (targets[at] as (typeof targets)[number])),
  )
  return targets.map((target, at): Sent => {
    if ('campaign' in target) return sent.next().value as Sent
    const message = repeated.get(inputs[at] as MessageInput)
    return message ? { message } : target
  })
}

const DIFFERENT: Fault = {
  code: 'idempotency_key_mismatch',
  param: 'key',
  message: 'This `key` was first used for a message with different data. Use a new key.',
}

/** The items of one transaction: what repeats a key is found first, then users are saved, and the new messages decided on. */
async function sendItems(ctx: InTx, onUsersSaved: OnUsersSaved, items: Item[]): Promise<Sent[]> {
  const outcomes = await askFor(
    ctx,
    items.map((item) => askedBy(ctx, item)),
  )
  const fresh = items.flatMap((item, at) => {
    const outcome = outcomes[at] as AskedOutcome
    return outcome.is === 'new' ? [{ ...item, id: outcome.id }] : []
  })
  const now = ctx.clock.now()
  const { outcomes: saved, changes } = await upsertUsers(
    ctx,
    fresh.map(({ input }) => ({ profile: toProfile(input.user), at: now })),
  )
  await onUsersSaved(ctx, changes)
  const known = fresh.map((item, at) => ({ ...item, saved: saved[at] as UpsertOutcome }))
  await withdrawAsked(
    ctx,
    known.flatMap(({ id, saved }) => ('faults' in saved ? [id] : [])),
  )
  // A later item may have merged the user of an earlier one: the message is to the user who remains.
  const mergedInto = await findLiveUsers(
    ctx,
    changes.merges.map(({ from_id }) => from_id),
  )
  const ready = known.flatMap(({ saved, ...item }) =>
    'user' in saved ? [{ ...item, user: mergedInto.get(saved.user.id) ?? saved.user }] : [],
  )
  // Last of what others lock too: an erasure has locked its user before it waits for the content.
  await holdContents(
    ctx,
    ready.flatMap(({ target }) => target.contentId ?? []),
  )
  const messages = await decide(ctx, ready)
  await createRequested(ctx, messages)
  const files = ready.flatMap(filesOf).filter(({ message_id }) => messages.some(({ id, state }) => id === message_id && state === 'queued'))
  if (files.length > 0) await insertAttachments(ctx, files)
  const byId = new Map(messages.map((message, at) => [message.id, sentMessage(message, (ready[at] as Ready).user)]))
  const refused = new Map(known.flatMap(({ id, saved }) => ('faults' in saved ? [[id, saved.faults.map(ofUser)] as const] : [])))
  const keyed = items.flatMap(({ input }, at) => {
    const outcome = outcomes[at] as AskedOutcome
    return outcome.is === 'repeated' ? [{ input, message: outcome.message }] : []
  })
  const repeated = await repeatedAmong(ctx, keyed)
  return items.map(({ input }, at): Sent => resultOf(outcomes[at] as AskedOutcome, input, { outcomes, byId, refused, repeated }))
}

const filesOf = ({ id, input: { attachments = [] } }: Ready) =>
  attachments.map(({ content_id = null, ...file }, position) => ({ message_id: id, position, content_id, ...file }))

const ofUser = ({ param, ...fault }: Fault): Fault => ({ ...fault, ...(param !== undefined && { param: `user.${param}` }) })

type Known = {
  outcomes: AskedOutcome[]
  byId: ReadonlyMap<MessageId, SentMessage>
  refused: ReadonlyMap<MessageId, Fault[]>
  repeated: ReadonlyMap<MessageInput, SentMessage>
}

function resultOf(outcome: AskedOutcome, input: MessageInput, known: Known): Sent {
  switch (outcome.is) {
    case 'different':
      return { faults: [DIFFERENT] }
    case 'new': {
      const message = known.byId.get(outcome.id)
      return message ? { message } : { faults: known.refused.get(outcome.id) ?? [] }
    }
    case 'repeated_item': {
      const first = resultOf(known.outcomes[outcome.at] as AskedOutcome, input, known)
      return 'message' in first ? { message: { ...first.message, duplicate: true } } : first
    }
    case 'repeated': {
      const message = known.repeated.get(input)
      return message ? { message } : { faults: [DIFFERENT] }
    }
    default:
      return outcome satisfies never
  }
}

function askedBy(ctx: ProjectCtx, { input, target }: Item) {
  const { key = null, data = {}, redact = [], locale = null, headers = null, attachments = [], expires_after_minutes = null } = input
  return {
    key,
    fingerprint: fingerprintOf(ctx, input, target.campaign.id),
    sent_by: ctx.caller.kind === 'secret' ? ctx.caller.keyId : null,
    locale,
    content_id: target.contentId,
    redact,
    sealed: sealValues(ctx, splitRedacted(data, redact).values),
    headers,
    attachments: attachments.length,
    attachment_bytes: attachments.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0),
    expires_after_minutes,
  }
}

type Ready = Item & { id: MessageId; user: UserRecord | UserRow }

/** Decides on messages as far as it can be known now. The sender checks all of it again. */
async function decide(ctx: InTx, items: Ready[]): Promise<RequestedMessage[]> {
  if (items.length === 0) return []
  const pairs = items.map(({ user, target }) => ({ user_id: user.id, subscription_id: target.campaign.subscription_id }))
  const states = await subscriptionStates(ctx, pairs)
  const consents = new Map(states.map((row) => [`${row.user_id} ${row.subscription_id}`, row]))
  const consentOf = ({ user, target }: Ready) => consents.get(`${user.id} ${target.campaign.subscription_id}`)
  const suppressions = await suppressionsOf(ctx, items, consentOf)
  const excludes = await exclusionsOf(
    ctx,
    items.map(({ target }) => target.campaign),
    items.map(({ user }) => user.id),
  )
  return items.map((item): RequestedMessage => {
    const { id, input, user, target } = item
    const { campaign } = target
    const consent = consentOf(item)
    const suppression = suppressions.get(item)
    const reason = skipReasonFor(campaign.channel, { user, consent, suppression, isExcluded: excludes(campaign, user.id) })
    const now = ctx.clock.now()
    const dueAt = (input.send_at === undefined ? null : parseTime(input.send_at)) ?? now
    const livesMs =
      input.expires_after_minutes === undefined ? campaign.expires_after_hours * HOUR_MS : input.expires_after_minutes * MINUTE_MS
    const { shown } = splitRedacted(input.data ?? {}, input.redact ?? [])
    return {
      id,
      user_id: user.id,
      campaign_id: campaign.id,
      channel: campaign.channel,
      event: { name: campaign.event_name ?? '', data: shown, created_at: now.toISOString() },
      state: reason === null ? 'queued' : 'skipped',
      reason,
      detail: reason === 'suppressed' ? (suppression ?? null) : null,
      due_at: dueAt,
      expires_at: new Date(Math.max(dueAt.getTime(), now.getTime()) + livesMs),
    }
  })
}

/** Why addresses are suppressed, by message. Transactional messages are stopped by fewer suppressions. */
async function suppressionsOf(
  ctx: InTx,
  items: Ready[],
  consentOf: (item: Ready) => Consent | undefined,
): Promise<Map<Ready, SuppressionReason>> {
  const found = new Map<Ready, SuppressionReason>()
  const kindOf = (item: Ready) => `${item.target.campaign.channel} ${consentOf(item)?.is_transactional}`
  for (const some of Map.groupBy(items, kindOf).values()) {
    const [first] = some as [Ready, ...Ready[]]
    const { channel } = first.target.campaign
    const addresses = some.map(({ user }) => addressOf(channel, user)).filter((address) => address !== null)
    const isTransactional = consentOf(first)?.is_transactional ?? false
    const reasons = await suppressedAmong(ctx, channel, addresses, { isTransactional })
    for (const item of some) {
      const reason = reasons.get(addressOf(channel, item.user) ?? '')
      if (reason) found.set(item, reason)
    }
  }
  return found
}

const sentMessage = ({ id, state, reason, detail }: RequestedMessage, user: Ready['user']): SentMessage => ({
  id,
  state,
  reason,
  detail,
  user: { id: user.id, external_id: user.external_id, anonymous_id: user.anonymous_id },
  duplicate: false,
})
