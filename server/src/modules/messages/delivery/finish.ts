/** Saves what happened to recipients of emails, and everything that follows from it, in one transaction. */
import { APPLY } from '../../../infra/queue/queue.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, ProviderId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { countWarmUp, type WarmUpOutcome } from '../../domains/index.ts'
import {
  addTlsCounts,
  type Classification,
  type CompletedMail,
  completeMails,
  DELIVER_JOBS,
  lastDeliveryBy,
  lockMails,
  type MailRow,
  recordSiteResults,
  saveMailResults,
} from '../../mta/index.ts'
import { recordBounces } from '../../subscriptions/index.ts'
import { appendUserChanges, findLiveUsers, type UserRow } from '../../users/index.ts'
import { emit } from '../../webhook-events/index.ts'
import { lockReported, type ReportedMessage, type ReportedState, saveReported } from '../reports/queries.ts'
import { afterReport } from '../reports/transition.ts'
import { messageEvent } from '../system-events.ts'
import { eventsOfAttempt, type MailAttempt } from './events.ts'
import { keyOf } from './gate.ts'
import type { Decided } from './results.ts'
import { siteResultsOf } from './site-results.ts'
import { warmUpTarget } from './warm-up-target.ts'

/** Emails that this server delivers have no provider that reports on them. */
const NO_PROVIDER = 0 as ProviderId

/** Saves attempts, for the recipients whose lease this process still holds. */
export async function finishAttempts(ctx: ProjectCtx, attempts: MailAttempt[]): Promise<void> {
  await inTx(ctx, async (ctx) => {
    const ids = distinct(attempts.map(({ mail }) => mail.id))
    const messageIds = distinct(attempts.flatMap(({ mail }) => (mail.source === 'message' ? [mail.id] : [])))
    // First, because erasing locks messages before emails too.
    const messages = messageIds.length === 0 ? [] : await lockReported(ctx, NO_PROVIDER, messageIds, [])
    const mails = new Map((await lockMails(ctx, ids)).map((mail) => [mail.id, mail]))
    const results = attempts.flatMap(({ decided }) => decided.map(({ result }) => result))
    const saved = new Map((await saveMailResults(ctx, results)).map((one) => [keyOf(one), one]))
    const savedOf = (one: Decided): Decided[] => {
      const row = saved.get(keyOf(one.result))
      return row ? [row.is_erased ? { ...one, recipient: { ...one.recipient, address: '' } } : one] : []
    }
    const done = attempts
      .map((attempt) => ({ ...attempt, decided: attempt.decided.flatMap(savedOf) }))
      .filter(({ decided, mail }) => decided.length > 0 && mails.has(mail.id))
    const completed = new Map((await completeMails(ctx, distinct(done.map(({ mail }) => mail.id)))).map((one) => [one.id, one]))
    if (done.some(({ decided }) => decided.some(({ result }) => result.state === 'queued'))) wakeJobs(ctx, done)
    await recordSiteResults(ctx, siteResultsOf(done))
    const tls = done.flatMap((attempt) => attempt.tls)
    if (tls.length > 0) await addTlsCounts(ctx, tls)
    await applyToMessages(ctx, done, completed, messages)
    await countWarmUp(ctx, warmUpOutcomes(ctx, done))
  })
}

/** What the sites of domains that are warmed up did with their email, and what they did not get although it was taken from their ceiling. */
const warmUpOutcomes = (ctx: InTx, done: MailAttempt[]): WarmUpOutcome[] =>
  done.flatMap(({ mail, decided, warmUpDay: day }) =>
    decided.flatMap(({ result, outcome }) => {
      if (day === undefined) return []
      // A host that says nothing has judged no email of the domain: it may be away, or this server.
      const isUnanswered = outcome.is === 'temporary' && !outcome.reply
      const isDeferred = outcome.is === 'temporary' && !isUnanswered
      const [bounced, deferred] = [outcome.is === 'permanent' ? 1 : 0, isDeferred ? 1 : 0]
      const isUnsent = outcome.is === 'cancelled' || isUnanswered || (outcome.is === 'postponed' && outcome.limit !== 'warm-up')
      const unsent = isUnsent ? 1 : 0
      const counts = bounced + deferred + unsent > 0
      return result.site !== null && counts ? [{ ...warmUpTarget(ctx, mail, result.site), day, bounced, deferred, unsent }] : []
    }),
  )

function wakeJobs(ctx: InTx, done: MailAttempt[]): void {
  for (const priority of new Set(done.map(({ mail }) => mail.priority))) ctx.wake(DELIVER_JOBS[priority])
}

/** States, suppressions, webhook events and events of users. */
async function applyToMessages(
  ctx: InTx,
  done: MailAttempt[],
  completed: ReadonlyMap<MessageId, CompletedMail>,
  messages: ReportedMessage[],
): Promise<void> {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const became = done.flatMap(({ mail, decided }) => {
    const message = byId.get(mail.id)
    const own = decided.find(({ recipient }) => recipient.no === 0)
    const to = message && own && stateAfter(message, own)
    return message && to ? [{ message, to }] : []
  })
  if (became.length > 0) {
    await saveReported(
      ctx,
      became.map(({ to }) => to),
    )
    if (became.some(({ message }) => message.entrance_id !== null)) ctx.wake(APPLY)
  }
  const suppressed = await suppressBounced(ctx, done)
  const live = messages.filter(({ is_erased }) => !is_erased).map(({ user_id }) => user_id)
  const users = live.length === 0 ? new Map<number, UserRow>() : await findLiveUsers(ctx, live)
  const userOf = (mail: Pick<MailRow, 'id'>) => users.get(byId.get(mail.id)?.user_id as number & UserRow['id'])
  // Of an email with several attempts here, the last one completes it.
  const last = new Map(done.map((attempt) => [attempt.mail.id, attempt]))
  const now = ctx.clock.now()
  await emit(ctx, (wanted) =>
    done.flatMap((attempt) => {
      const { mail } = attempt
      const own = last.get(mail.id) === attempt ? completed.get(mail.id) : undefined
      const isErased = byId.get(mail.id)?.is_erased ?? false
      return eventsOfAttempt(attempt, { user: userOf(mail), completed: own, isErased, suppressed, wanted }, now)
    }),
  )
  await appendUserChanges(
    ctx,
    became.flatMap(({ message, to }) => {
      const user = users.get(message.user_id)
      return user ? [{ user_id: user.id, what: [], event: messageEvent(message, to.state, now) }] : []
    }),
  )
}

/** What a message becomes whose email is cancelled: a user who does not get the subscription type any more is skipped, as before it was queued. */
const CANCELLED = {
  campaign_stopped: { state: 'aborted', reason: 'campaign_stopped' },
  rescheduled: { state: 'aborted', reason: 'rescheduled' },
  requested: { state: 'aborted', reason: 'cancelled' },
  not_subscribed: { state: 'skipped', reason: 'not_subscribed' },
  not_confirmed: { state: 'skipped', reason: 'not_confirmed' },
} as const

/** The state of a message after what happened to its user’s email; null if that changes nothing. */
function stateAfter({ id, state }: ReportedMessage, { outcome, classification, recipient }: Decided): ReportedState | null {
  switch (outcome.is) {
    case 'delivered': {
      const to = afterReport(state, 'delivered')
      return to && { id, ...to, detail: null }
    }
    case 'permanent': {
      const detail = outcome.reply?.response ?? outcome.reason
      const isOfAddress = classification?.bounce === 'hard' || classification?.bounce === 'soft'
      const to = afterReport(state, isOfAddress ? 'bounced' : 'failed')
      return to && { id, ...to, ...(classification?.bounce === 'soft' && { reason: 'soft_bounce' as const }), detail }
    }
    case 'unsaved':
      return state === 'sent' ? { id, state: 'unknown', reason: 'uncertain', detail: outcome.reason } : null
    case 'expired': {
      const to = afterReport(state, 'failed')
      return to && { id, state: 'failed', reason: 'attempts_exhausted', detail: recipient.last_error }
    }
    case 'suppressed': {
      const to = afterReport(state, 'failed')
      return to && { id, state: 'skipped', reason: 'suppressed', detail: outcome.reason }
    }
    case 'cancelled':
      return state === 'sent' ? { id, ...CANCELLED[outcome.reason], detail: null } : null
    default:
      return null
  }
}

/** Counts bounces, and suppresses the addresses that have had enough, unless they were erased. Returns those. */
async function suppressBounced(ctx: InTx, done: MailAttempt[]): Promise<Set<string>> {
  const bounced = done.flatMap(({ mail, decided }) =>
    decided.flatMap(({ recipient, classification }) =>
      classification?.isBounce && mail.source !== 'report' && recipient.address !== '' ? [{ mail, recipient, classification }] : [],
    ),
  )
  const counted = await withoutOutages(ctx, bounced)
  const bounces = counted.map(({ mail, recipient, classification: { label, suppresses } }) => ({
    address: recipient.address,
    label,
    suppresses,
    source: { message_id: mail.id },
  }))
  return bounces.length === 0 ? new Set() : recordBounces(ctx, bounces)
}

type Bounced = { mail: MailRow; recipient: Decided['recipient']; classification: Classification }

/**
 * Without email that expired with no reply of any host, if no other email of the project was delivered in its time either: the network of this server
 * may have been down, or its port 25 blocked.
 */
async function withoutOutages(ctx: InTx, bounced: Bounced[]): Promise<Bounced[]> {
  const isUnanswered = ({ recipient, classification }: Bounced) => classification.label === 'expired' && !recipient.was_answered
  const begunMs = bounced.filter(isUnanswered).map(({ mail }) => mail.created_at.getTime())
  if (begunMs.length === 0) return bounced
  const delivered = await lastDeliveryBy(ctx, new Date(Math.min(...begunMs)))
  return bounced.filter((one) => !isUnanswered(one) || (delivered !== null && delivered > one.mail.created_at))
}
