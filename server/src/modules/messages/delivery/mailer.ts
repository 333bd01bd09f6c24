/** What a process keeps while it delivers email: its sites and their limits, what is under way, and the results that wait to be saved. */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { isTemporary, saveTogether } from '../../../infra/runtime/save-together.ts'
import { atMost } from '../../../lib/cache-limit.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import {
  type ClaimedRecipient,
  createProcessShare,
  createProjectLimiter,
  createScheduler,
  type MailPriority,
  ownAddressesOf,
  type ProjectLimiter,
  type Scheduler,
  type Site,
} from '../../mta/index.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { type Contents, createContents } from './contents.ts'
import type { MailAttempt } from './events.ts'
import { finishAttempts } from './finish.ts'
import { keyOf } from './gate.ts'
import { decide, reduced } from './results.ts'
import { createSiteQueues, type SiteQueues } from './site-queues.ts'
import { createStops, type Stops } from './stops.ts'

export type Mailer = {
  findSendingCampaigns: FindSendingCampaigns
  /** How many recipients of each priority were claimed and have no result yet. */
  inFlight: Record<MailPriority, number>
  contents: Contents
  stops: Stops
  sites(ctx: Ctx): { scheduler: Scheduler; queues: SiteQueues; projects: ProjectLimiter }
  /** Reports that this process delivers, and finds how many others do. */
  share(ctx: Ctx): Promise<void>
  /** The connections that a site may have, if a notice of that is due; a project has at most one a minute. */
  exceeded(ctx: ProjectCtx, site: Site): number | null
  /** Whether this process delivered to a recipient and could not save that. */
  isUnsavable(ctx: ProjectCtx, recipient: ClaimedRecipient): boolean
  /** Saves an attempt, together with others of its project. Resolves when that is committed. It waits for a database that is away until `stop`. */
  finish(ctx: ProjectCtx, attempt: MailAttempt, stop: AbortSignal): Promise<void>
}

const ATTEMPTS_AT_ONCE = 500
const NOTICES_MAX = 10_000
const UNSAVABLE_MAX = 100_000

type Unsaved = { attempt: MailAttempt; resolve(): void; reject(reason: unknown): void }

export function createMailer(findSendingCampaigns: FindSendingCampaigns): Mailer {
  let sites: ReturnType<Mailer['sites']> | undefined
  const processes = createProcessShare(randomUUID())
  const noticedAt = new LRUCache<ProjectId, number>(atMost(NOTICES_MAX))
  const unsaved = new Map<ProjectId, Unsaved[]>()
  const unsavable: Unsavable = new LRUCache(atMost(UNSAVABLE_MAX))
  return {
    findSendingCampaigns,
    inFlight: { 0: 0, 1: 0, 2: 0 },
    contents: createContents(),
    stops: createStops(findSendingCampaigns),
    sites(ctx) {
      if (sites) return sites
      const shared = { now: () => ctx.clock.now().getTime(), processes: processes.count }
      const scheduler = createScheduler({ ...shared, overrides: ctx.config.MTA_LIMITS })
      sites = { scheduler, queues: createSiteQueues(scheduler, ctx.clock), projects: createProjectLimiter(shared) }
      return sites
    },
    share: (ctx) => processes.report(ctx, () => sites?.scheduler.sites() ?? []),
    exceeded(ctx, site) {
      const now = ctx.clock.now().getTime()
      if (now - (noticedAt.get(ctx.projectId) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return null
      noticedAt.set(ctx.projectId, now)
      return this.sites(ctx).scheduler.limitsOf(site).connections
    },
    isUnsavable: (ctx, recipient) => unsavable.has(unsavableKey(ctx, recipient)),
    finish(ctx, attempt, stop) {
      return new Promise<void>((resolve, reject) => {
        const waiting = unsaved.get(ctx.projectId)
        const one = { attempt, resolve, reject }
        if (waiting) waiting.push(one)
        else {
          unsaved.set(ctx.projectId, [one])
          setImmediate(() => void saveAll(ctx, unsaved, unsavable, stop))
        }
      })
    },
  }
}

/** Saves what waits, in transactions one after the other: what comes while one runs is in the next. */
async function saveAll(ctx: ProjectCtx, unsaved: Map<ProjectId, Unsaved[]>, unsavable: Unsavable, stop: AbortSignal): Promise<void> {
  const waiting = unsaved.get(ctx.projectId) ?? []
  const save = (some: Unsaved[]) =>
    finishAttempts(
      ctx,
      some.map(({ attempt }) => attempt),
    )
  while (waiting.length > 0) {
    const some = waiting.splice(0, ATTEMPTS_AT_ONCE)
    for (const { item, error } of await saveTogether(ctx, some, save, stop)) {
      if (isTemporary(error)) item.reject(error)
      else await saveReduced(ctx, item.attempt, unsavable, stop).catch(item.reject)
    }
    // Of those that were rejected, this has no effect.
    for (const { resolve } of some) resolve()
  }
  unsaved.delete(ctx.projectId)
}

/** The recipients whose results the database refuses, by project and `keyOf`. */
type Unsavable = LRUCache<string, true>

const unsavableKey = ({ projectId }: ProjectCtx, recipient: ClaimedRecipient): string => `${projectId}:${keyOf(recipient)}`

/**
 * Saves an attempt that the database refused, recipient by recipient: as it is, or else without what the host said. A recipient whose row refuses
 * that too is remembered, so that this process does not deliver to it again.
 */
async function saveReduced(ctx: ProjectCtx, attempt: MailAttempt, unsavable: Unsavable, stop: AbortSignal): Promise<void> {
  const save = (some: MailAttempt[]) => finishAttempts(ctx, some)
  const { mail, decided, site, steps } = attempt
  const ofRecipients = steps.filter((step) => 'to' in step && step.to !== undefined)
  const failures: unknown[] = []
  // Each recipient gets events of an attempt of its own. The steps that recipients share go with the first result that is saved.
  let areStepsSaved = false
  for (const one of decided) {
    const part: MailAttempt = { ...attempt, decided: [one], ...(areStepsSaved && { tls: [], steps: ofRecipients }) }
    const [unsaved] = await saveTogether(ctx, [part], save, stop)
    areStepsSaved ||= !unsaved
    if (!unsaved) continue
    ctx.log.error(
      { err: unsaved.error, message_id: mail.id, recipient_no: one.recipient.no },
      'the result of a delivery could not be saved',
    )
    const now = { at: ctx.clock.now(), random: 0, ownAddresses: () => ownAddressesOf(ctx) }
    const less = decide(mail, one.recipient, reduced(one.outcome), site?.key ?? null, now)
    const [failure] = await saveTogether(ctx, [{ ...part, steps: [], tls: [], decided: [less] }], save, stop)
    if (!failure) continue
    if (less.outcome.is === 'unsaved') unsavable.set(unsavableKey(ctx, one.recipient), true)
    failures.push(failure.error)
  }
  if (failures.length > 0) throw failures[0]
}
