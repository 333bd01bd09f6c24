/**
 * Delivers email: claims recipients, with an equal share for each project, looks up their mail hosts, delivers, and saves what happened to them.
 * After a crash the leases end and other processes continue. An email whose host did not reply is delivered again, and so is one whose process
 * died before the result was saved: those are the only duplicates.
 */
import type { Started } from '../../../infra/queue/jobs.ts'
import { type Ctx, inTx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import { saveTogether } from '../../../infra/runtime/save-together.ts'
import { distinct } from '../../../lib/shapes.ts'
import {
  type ClaimedRecipient,
  claimMail,
  DELIVER_JOBS,
  findMails,
  type MailPriority,
  nextHeldExpiry,
  nextMailLeaseEnd,
  type OwnLimits,
  projectLimitsOf,
  projectsWithMail,
  type RecipientResult,
  releaseExpired,
  releaseMailLeases,
  renewMailLeases,
  saveMailResults,
} from '../../mta/index.ts'
import { contextOf } from '../../projects/index.ts'
import { keepLease, type Lease, leaseMs } from '../sending/lease.ts'
import { attemptDelivery, attemptOf, type Group, groupsOf } from './attempt.ts'
import { checkGate, type Gated, keyOf } from './gate.ts'
import { laterIfTemporary } from './later.ts'
import type { Mailer } from './mailer.ts'
import type { Claimed } from './refusals.ts'

/** So many are claimed and have no result yet: those of a slow site keep none of the others waiting. */
const IN_FLIGHT_MAX: Record<MailPriority, number> = { 0: 1000, 1: 2000, 2: 1000 }
const BATCH: Record<MailPriority, number> = { 0: 200, 1: 500, 2: 300 }
const PROJECTS_MAX = 200
const RELEASED_AT_ONCE = 1000

/** Claims one batch of recipients that are due, and begins to deliver to them. */
export async function deliverDue(ctx: Ctx, mailer: Mailer, priority: MailPriority, stop: AbortSignal): Promise<Started> {
  const room = Math.min(BATCH[priority], IN_FLIGHT_MAX[priority] - mailer.inFlight[priority])
  const waiting = room > 0 ? await projectsWithMail(quickly(ctx), priority, PROJECTS_MAX) : []
  const projects = waiting.filter(({ due_at }) => due_at <= ctx.clock.now())
  if (projects.length === 0) return nothing(waiting[0]?.due_at ?? null)
  await mailer.share(ctx)
  const limit = Math.ceil(room / projects.length)
  const claimedAt = ctx.clock.now()
  const shares = projects.map(({ project_id }) => ({ project_id, limit }))
  const claimed = await claimMail(quickly(ctx), priority, shares, new Date(claimedAt.getTime() + leaseMs(ctx)))
  mailer.inFlight[priority] += claimed.length
  const batches = [...Map.groupBy(claimed, ({ project_id }) => project_id).values()]
  const finished = Promise.all(batches.map((batch) => deliverBatch(ctx, { ...mailer, priority, stop }, batch, claimedAt)))
  return { done: claimed.length, finished: finished.then(() => undefined), wakesItself: true }
}

/** What delivering a batch needs. After `stop`, results are not kept for a database that is away. */
type Delivering = Mailer & { priority: MailPriority; stop: AbortSignal }

/** Delivers to claimed recipients of one project. */
async function deliverBatch(outer: Ctx, delivering: Delivering, recipients: ClaimedRecipient[], claimedAt: Date): Promise<void> {
  const { inFlight, priority } = delivering
  let left = recipients.length
  const done = (count: number) => {
    const wasFull = inFlight[priority] >= IN_FLIGHT_MAX[priority]
    inFlight[priority] -= count
    left -= count
    if (wasFull) outer.wake(DELIVER_JOBS[priority])
  }
  try {
    const [first] = recipients as [ClaimedRecipient]
    const ctx = await contextOf(outer, first.project_id)
    const renew = async (some: readonly ClaimedRecipient[], until: Date) => (await renewMailLeases(ctx, some, until)).map(keyOf)
    await keepLease(ctx, { items: recipients, keyOf, renew }, claimedAt, (lease) => deliverLeased(ctx, delivering, recipients, lease, done))
  } finally {
    done(left)
  }
}

async function deliverLeased(
  ctx: ProjectCtx,
  mailer: Delivering,
  recipients: ClaimedRecipient[],
  lease: Lease<ClaimedRecipient, string>,
  done: (count: number) => void,
): Promise<void> {
  const read = await readToDeliver(ctx, mailer, recipients)
  if (!read) return
  const { gated, ownLimits } = read
  // From here on nothing is waited for before all of it: a failure that nothing waits for yet would end the process.
  const undelivered = gated.done.map(({ outcome, ...one }) => {
    const [group] = groupsOf([one]) as [Group]
    return mailer.finish(
      ctx,
      attemptOf(ctx, group, { steps: [], startedAt: ctx.clock.now(), elapsedMs: 0, site: null, outcome }),
      mailer.stop,
    )
  })
  const { pausedSites, isTransactional } = gated
  const delivering = groupsOf(gated.open).map(async (group) => {
    const attempt = await attemptDelivery(ctx, mailer, { ...group, ownLimits, pausedSites, isTransactional }, lease).catch((error) => {
      const until = laterIfTemporary(ctx, error)
      return attemptOf(ctx, group, {
        steps: [],
        startedAt: ctx.clock.now(),
        elapsedMs: 0,
        site: null,
        outcome: { is: 'postponed', until, limit: null },
      })
    })
    if (attempt) await mailer.finish(ctx, attempt, mailer.stop)
    done(group.recipients.length)
  })
  const results = await Promise.allSettled([...undelivered, ...delivering])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** What the database says of claimed recipients. Null if it cannot for now: they are given back, and have had no attempt. */
async function readToDeliver(
  ctx: ProjectCtx,
  mailer: Delivering,
  recipients: ClaimedRecipient[],
): Promise<{ gated: Gated; ownLimits: ReadonlyMap<string, OwnLimits> } | null> {
  try {
    const mails = new Map((await findMails(ctx, distinct(recipients.map(({ mail_id }) => mail_id)))).map((mail) => [mail.id, mail]))
    const claimed = recipients.flatMap((recipient): Claimed[] => {
      const mail = mails.get(recipient.mail_id)
      return mail ? [{ mail, recipient }] : []
    })
    return { gated: await checkGate(ctx, mailer, claimed), ownLimits: await projectLimitsOf(ctx) }
  } catch (error) {
    const due_at = laterIfTemporary(ctx, error)
    const results = recipients.map(({ mail_id, no, lease_token }): RecipientResult => ({ mail_id, no, lease_token, due_at, ...GIVEN_BACK }))
    const [failure] = await saveTogether(
      ctx,
      results,
      (some) => inTx(ctx, async (ctx) => void (await saveMailResults(ctx, some))),
      mailer.stop,
    )
    if (failure) throw failure.error
    return null
  }
}

const GIVEN_BACK = { state: 'queued', site: null, is_untried: true, is_held: false, history: null } as const

/** When the next lease ends, or the lifetime of the next held email. */
export async function nextReleaseAt(ctx: Ctx): Promise<Date | null> {
  const times = [await nextMailLeaseEnd(ctx), await nextHeldExpiry(ctx)].filter((at) => at !== null)
  return times.sort((a, b) => a.getTime() - b.getTime())[0] ?? null
}

const nothing = (nextAt: Date | null): Started => ({ done: 0, finished: Promise.resolve(), wakesItself: true, nextAt })

/**
 * Releases recipients whose lease ended because their process stopped, and held ones whose lifetime is over. Returns how many, or when there
 * will be some.
 */
export async function releaseMail(ctx: Ctx): Promise<number | Started> {
  const releaseAt = await nextReleaseAt(quickly(ctx))
  if (!releaseAt || releaseAt > ctx.clock.now()) return nothing(releaseAt)
  const released = (await releaseMailLeases(quickly(ctx), RELEASED_AT_ONCE)) + (await releaseExpired(quickly(ctx), RELEASED_AT_ONCE))
  if (released > 0) for (const job of Object.values(DELIVER_JOBS)) ctx.wake(job)
  return released
}
