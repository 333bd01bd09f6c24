/**
 * Sends batches: claims messages, reads their send context, checks eligibility, applies rates, and then in slices: renders, saves a send
 * attempt record, sends, saves the results. After a crash the leases end and other senders continue. Only the holder of a lease can save
 * results, and only messages in a send attempt record may have been sent without a result.
 */
import type { Db } from '../../../infra/postgres/db.ts'
import { jointViews } from '../../../infra/postgres/joint.ts'
import type { Started } from '../../../infra/queue/jobs.ts'
import { APPLY } from '../../../infra/queue/queue.ts'
import { asSystem, type Ctx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import { saveTogether } from '../../../infra/runtime/save-together.ts'
import { channels } from '../../../lib/channels.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import type { Outgoing, Rendered } from '../../channels/index.ts'
import type { InboxStreams } from '../../inbox/index.ts'
import { findProject } from '../../projects/index.ts'
import { checkEligibility, deferredUntil, isRepeatable, notRepeated, recheckedFrom, result } from '../eligibility.ts'
import { messageKey } from '../message-key.ts'
import { type ClaimedMessage, type Priority, SEND_JOBS } from '../schema.ts'
import { type Attachments, attachmentsOfSlice, createAttachments } from './attachments.ts'
import { attemptSlice } from './attempt-slice.ts'
import { beginAttempts, type ReadyMessage } from './attempts.ts'
import { type Batch, type Claiming, claimNext } from './claim.ts'
import { type About, loadSendContexts, readAbout, type SendContexts } from './context.ts'
import type { FindSendingCampaigns, RecordOverBudget } from './find-sending-campaigns.ts'
import { beginFlight, createFlights, endFlight } from './flights.ts'
import { type Lease, withLease } from './lease.ts'
import { applyLimits, giveBackRates, RATES } from './limits.ts'
import { withRequested } from './mail-headers.ts'
import { createFullQueues } from './mail-room.ts'
import { findSecondCopies } from './moved-addresses.ts'
import { createTemplateCache, type TemplateCache } from './prepare.ts'
import * as queries from './queries.ts'
import { finishRateBatch, latestOf, openQueues } from './rate-queues.ts'
import { countAsSent, type Granted } from './rates.ts'
import { type Attempted, notAttempted, recordResults } from './record-results.ts'
import type { SendingProject } from './render.ts'
import type { RenderOutcome } from './render-messages.ts'
import { type RenderedSlice, renderSlice } from './render-slice.ts'
import { createSliceSizes, type SliceSizes, slicesOf } from './slices.ts'
import { traceAttempts } from './trace-attempts.ts'

const SLICES_AT_ONCE = 3
/** Queues with up to this many messages share statements. */
const SMALL_QUEUE = 20
const RELEASED_AT_ONCE = 1000
const DECIDED_AT_ONCE = 100

/** What a sending process keeps between batches. After `stop`, results are not kept for a database that is away. */
export type Sender = SenderParts &
  Reporting &
  Claiming & { prepare: TemplateCache; attachments: Attachments; sliceSizes: SliceSizes; stop?: AbortSignal }

/** What a sender calls in higher layers while it works, and the streams of this process that show new in-app messages at once. */
export type SenderParts = {
  findSendingCampaigns: FindSendingCampaigns
  recordOverBudget: RecordOverBudget
  inboxStreams: Pick<InboxStreams, 'wake'>
}

/** What a sender calls in other folders of the module: complaints of the simulator are applied as reports of providers are. */
type Reporting = { complain?: (ctx: ProjectCtx, ids: MessageId[]) => Promise<void> }

export const createSender = (parts: SenderParts & Reporting, priority: Priority): Sender => ({
  ...parts,
  priority,
  prepare: createTemplateCache(),
  attachments: createAttachments(),
  sliceSizes: createSliceSizes(),
  fullQueues: createFullQueues(),
  ...createFlights(),
})

const viewOf = jointViews()
/** Results of small queues share one transaction at a time, and so do those of large ones: if each slice had its own, requests would wait for them. */
const [resultsViewOf, manyResultsViewOf] = [jointViews(1), jointViews(1)]

/**
 * Claims one batch of due messages, with an equal share for each queue, and begins to send them. A queue has at most two batches in flight.
 * When a batch is finished and its queue has more messages, the job runs again.
 */
export async function sendDueMessages(ctx: Ctx, sender: Sender): Promise<Started> {
  const claimedAt = ctx.clock.now()
  const { batches, ...next } = await claimNext(ctx, sender)
  for (const { name, messages } of batches) beginFlight(sender, name, messages.length)
  const sending = mapWithConcurrency(batches, batches.length, (batch) => sendBatch(ctx, sender, batch, claimedAt))
  const done = batches.reduce((sum, { messages }) => sum + messages.length, 0)
  return { done, finished: sending.then(() => undefined), wakesItself: true, ...next }
}

async function sendBatch(ctx: Ctx, sender: Sender, { name, messages, limit, rated }: Batch, claimedAt: Date): Promise<void> {
  const view = { ...ctx, db: viewOf(ctx.db) }
  try {
    const [shared, results] = messages.length > SMALL_QUEUE ? [ctx, manyResultsViewOf] : [view, resultsViewOf]
    await sendQueue(shared, { ...sender, isRated: rated !== undefined }, messages, claimedAt, results(ctx.db))
    if (rated) await finishRateBatch(view, sender, rated)
  } finally {
    endFlight(sender, name, messages.length, ctx.clock.now().getTime() - claimedAt.getTime())
    if (sender.waiting.delete(name) || (messages.length > 0 && messages.length >= limit)) ctx.wake(SEND_JOBS[sender.priority])
  }
}

/** Releases messages whose lease ended because their sender stopped. Returns how many, or when the next lease ends. */
export async function releaseLeases(ctx: Ctx): Promise<number | Started> {
  const endsAt = await queries.nextLeaseEnd(quickly(ctx))
  if (!endsAt || endsAt > ctx.clock.now()) return { done: 0, finished: Promise.resolve(), nextAt: endsAt }
  const released = await queries.releaseLeases(quickly(ctx), RELEASED_AT_ONCE)
  if (released > 0) for (const job of [...Object.values(SEND_JOBS), APPLY]) ctx.wake(job)
  return released
}

/** Sends claimed messages of one project and channel. Their results are saved over `resultsDb`. */
export async function sendQueue(
  outer: Ctx,
  sender: Sender & { isRated?: boolean },
  messages: ClaimedMessage[],
  claimedAt: Date,
  resultsDb: Db = outer.db,
): Promise<void> {
  const [first] = messages
  if (!first) return
  const ofProject = { ...outer, projectId: first.project_id } as ProjectCtx
  const [project, about] = await Promise.all([
    findProject(outer, first.project_id),
    readAbout(ofProject, sender.findSendingCampaigns, messages),
  ])
  const ctx = asSystem(outer, first.project_id, project)
  await withLease(ctx, messages, claimedAt, (lease) => send(ctx, { ...sender, project, about, lease, resultsDb }, messages))
}

/** What sending a batch of one project and channel needs. */
type Sending = Sender & { isRated?: boolean; project: SendingProject; about: About; lease: Lease; resultsDb: Db }

async function send(ctx: ProjectCtx, sending: Sending, messages: ClaimedMessage[]): Promise<void> {
  const contexts = await loadSendContexts(ctx, sending.about, sending.findSendingCampaigns, messages)
  const { ready, done } = await decide(ctx, messages, contexts)
  const { granted, refused, grantedAtMs } = await applyLimits(ctx, sending, ready)
  const now = ctx.clock.now()
  const deferred = refused.map(({ item: { message, eligible }, at }) =>
    notAttempted(message, eligible, deferredUntil('rate_limited', latestOf(at, now))),
  )
  if (done.length + deferred.length > 0) await recordResults({ ...ctx, db: sending.resultsDb }, [...done, ...deferred])
  const slices = slicesByProvider(sending, granted)
  await mapWithConcurrency(Array.from({ length: SLICES_AT_ONCE }), SLICES_AT_ONCE, async () => {
    for (let next = slices.next(); !next.done; next = slices.next()) {
      await sendSlice(ctx, { ...sending, grantedAtMs }, contexts, next.value)
    }
  })
  const overRate = refused.map(({ item: { message }, at, rate }) => ({ message, at, rate }))
  if (!sending.isRated) await openQueues(ctx, sending.priority, overRate)
}

function* slicesByProvider({ sliceSizes }: Sender, ready: ReadyMessage[]): Generator<ReadyMessage[], void> {
  const groups = Map.groupBy(ready, ({ connection }) => `${connection.provider}:${connection.providerId}`)
  for (const group of groups.values()) yield* slicesOf(group, sliceSizes, ({ eligible }) => eligible.template.id)
}

/** Divides messages into those that may be sent now, and those that have a result without an attempt. */
async function decide(ctx: ProjectCtx, messages: ClaimedMessage[], { contextOf, connectionOf }: SendContexts) {
  const ready: ReadyMessage[] = []
  const done: Attempted[] = []
  for (const [at, message] of messages.entries()) {
    // Requests come between, so that none waits for a whole batch.
    if (at > 0 && at % DECIDED_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    const decided = decideOne(ctx, message, contextOf)
    if (!decided) continue
    const { context, decision } = decided
    if ('state' in decision) {
      done.push(notAttempted(message, context, decision))
      continue
    }
    const connection = connectionOf(decision.campaign)
    if (!isRepeatable(message, connection, ctx.clock.now())) {
      done.push(notAttempted(message, context, notRepeated))
      continue
    }
    ready.push({ message: { ...message, variant: decision.variant }, eligible: decision, connection })
  }
  const second = await findSecondCopies(
    ctx,
    ready.map(({ message, eligible: { user } }) => ({ message, user })),
  )
  const { first = [], again = [] } = Object.groupBy(ready, ({ message }) => (second.has(message.id) ? 'again' : 'first'))
  const skipped = again.map(({ message, eligible }) => notAttempted(message, eligible, result('skipped', 'duplicate_address')))
  return { ready: first, done: [...done, ...skipped] }
}

/** Null if that fails: the message gets no result and is claimed again when its lease ends, and those beside it are sent. */
function decideOne(ctx: ProjectCtx, message: ClaimedMessage, contextOf: SendContexts['contextOf']) {
  try {
    const context = contextOf(message)
    return { context, decision: checkEligibility(context) }
  } catch (error) {
    ctx.log.error(
      { err: error, project_id: message.project_id, message_id: message.id },
      'whether a message may be sent could not be decided',
    )
    return null
  }
}

async function sendSlice(ctx: ProjectCtx, sending: Sending & Granted, contexts: SendContexts, slice: ReadyMessage[]): Promise<void> {
  const { release, ...outcomes } = await renderSlice(ctx, sending, contexts.requestOf, slice)
  const { rendered, failed, skipped, overBudget } = sortOut(ctx, slice, outcomes, contexts)
  for (const { ready, bytes } of rendered) sending.sliceSizes.record(ready.eligible.template.id, bytes)
  await sending.recordOverBudget(ctx, overBudget)
  await giveBackRates(ctx, skipped, sending)
  const leased = await sending.lease.stillLeased(slice.map(({ message }) => message))
  const attachments = await attachmentsOfSlice(ctx, sending.attachments, rendered)
  const stillLeased = rendered.filter(({ ready }) => leased.has(ready.message.id))
  const { current: candidates = [], changed = [] } = Object.groupBy(stillLeased, ({ ready }) =>
    attachments.has(ready.eligible.template) ? 'current' : 'changed',
  )
  const { sendAttemptId, begun, stopped } = await beginAttempts(ctx, sending.findSendingCampaigns, candidates)
  const notSent = [
    ...[...stopped].map(([{ message, eligible }, result]) => notAttempted(message, eligible, result)),
    ...changed.map(({ ready: { message, eligible } }) => notAttempted(message, eligible, recheckedFrom(ctx.clock.now()))),
  ]
  const connection = slice[0]?.connection as ReadyMessage['connection']
  const files = (ready: ReadyMessage) => ({
    request: contexts.requestOf(ready.message),
    ofTemplate: attachments.get(ready.eligible.template),
  })
  const { sent, failures } = await attemptSlice(
    ctx,
    sending.attachments,
    candidates.flatMap(({ ready, outgoing }) => (begun.has(ready) ? [{ ready, outgoing, files: files(ready) }] : [])),
    connection.atOnce,
  )
  await record(
    { ...ctx, db: sending.resultsDb },
    [...failed, ...notSent, ...sent],
    failures.length === 0 ? sendAttemptId : null,
    sending.stop,
  )
  const complained = sent.filter(({ attempt }) => attempt?.outcome.is === 'accepted' && attempt.outcome.complained)
  if (complained.length > 0)
    await sending.complain?.(
      ctx,
      complained.map(({ message }) => message.id),
    )
  const startedAtMs = Math.max(0, ...sent.map(({ attempt }) => attempt?.startedAt.getTime() ?? 0))
  const used = slice.filter((ready) => !skipped.has(ready))
  await countAsSent(ctx, used, RATES, { ...sending, startedAtMs })
  if (sent.some(({ message }) => channels[message.channel].recipient === 'inbox')) sending.inboxStreams.wake()
  // Of an attempt that failed, a socket may still have bytes to write.
  if (failures.length === 0 && sent.every(({ attempt }) => attempt?.outcome.is === 'accepted')) release()
  // Last, because results are saved whatever becomes of their spans.
  if (ctx.tracing) await traceAttempts(ctx, ctx.tracing, sent)
  if (failures.length > 0) throw failures[0]
}

/** Saves the results of a slice. Deletes its send attempt record only if all are saved, because others must not be sent again. */
async function record(ctx: ProjectCtx, results: Attempted[], sendAttemptId: number | null, stop: AbortSignal | undefined): Promise<void> {
  const save = (some: Attempted[]) => recordResults(ctx, some, some.length === results.length ? sendAttemptId : null)
  const [unsaved] = await saveTogether(ctx, results, save, stop)
  if (unsaved) throw unsaved.error
}

/** Divides messages into those that can be sent, and those that have a result now, of which `skipped` wait. `overBudget` counts by campaign. */
function sortOut(ctx: ProjectCtx, slice: ReadyMessage[], { outcomes, shown }: Omit<RenderedSlice, 'release'>, contexts: SendContexts) {
  const rendered: { ready: ReadyMessage; outgoing: Outgoing; bytes: number }[] = []
  const failed: Attempted[] = []
  const skipped = new Set<ReadyMessage>()
  const overBudget = new Map<CampaignId, number>()
  for (const [index, ready] of slice.entries()) {
    const { message, eligible } = ready
    const outcome: RenderOutcome = outcomes[index] ?? { skipped: true }
    if ('rendered' in outcome) {
      const outgoing = {
        ...outcome.rendered,
        id: message.id,
        key: messageKey(ctx, message),
        headers: withRequested(outcome.headers, contexts.requestOf(message)?.headers ?? {}),
        ...(!eligible.consent.is_transactional && { isMarketing: true as const }),
        ...(message.attempts > 1 && { isRetry: true as const }),
        ...(outcome.mail && { mail: outcome.mail }),
        devices: contexts.devices(eligible.user.id),
        ...(shown.has(message.id) && { shown: shown.get(message.id) as Rendered }),
      }
      rendered.push({ ready, outgoing, bytes: outcome.bytes })
    } else if ('skipped' in outcome) {
      skipped.add(ready)
      failed.push(notAttempted(message, eligible, recheckedFrom(ctx.clock.now(), outcome.detail)))
    } else {
      failed.push(notAttempted(message, eligible, result('failed', 'render_failed', outcome.problem)))
      if (outcome.isOverBudget) overBudget.set(eligible.campaign.id, (overBudget.get(eligible.campaign.id) ?? 0) + 1)
    }
  }
  return { rendered, failed, skipped, overBudget }
}
