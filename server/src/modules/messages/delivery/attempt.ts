/** One attempt to deliver an email to its recipients at a domain. */

import type { MxAnswer } from '../../../infra/outgoing/dns/mail-resolver.ts'
import type { AttemptOutcome, OutgoingMail, RecipientOutcome, Route } from '../../../infra/outgoing/mx/outcome.ts'
import { type Routing, routeOf } from '../../../infra/outgoing/mx/route.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type MtaStsPolicy, matchesMx } from '../../../lib/mta-sts.ts'
import { warmUpAllowance } from '../../domains/index.ts'
import {
  type ClaimedRecipient,
  type MailRow,
  type OwnLimits,
  ownAddressesOf,
  returnPathFor,
  type Scheduler,
  type Site,
  siteEventsOf,
  siteOf,
  tlsCountsOf,
} from '../../mta/index.ts'
import { TRANSACTIONAL } from '../schema.ts'
import type { Lease } from '../sending/lease.ts'
import type { MailAttempt } from './events.ts'
import { type Gated, holdAtSite } from './gate.ts'
import { laterIfTemporary } from './later.ts'
import type { Mailer } from './mailer.ts'
import type { Claimed } from './refusals.ts'
import { decide, NEW_CONNECTIONS, type Outcome } from './results.ts'
import { warmUpTarget } from './warm-up-target.ts'

/** Recipients of one email at one domain. */
export type Group = { mail: MailRow; domain: string; recipients: ClaimedRecipient[] }

type Leaving = Group & Pick<Gated, 'isTransactional'>

/** Servers take at least so many recipients of an email (RFC 5321). */
const RECIPIENTS_MAX = 100

/** Groups claimed recipients: those of an email at the same domain get it in one transaction, at most 100 at a time. */
export function groupsOf(claimed: Claimed[]): Group[] {
  const groups = Map.groupBy(claimed, ({ mail, recipient }) => `${mail.id}@${recipient.domain}`)
  return [...groups.values()].flatMap((some) => {
    const { mail, recipient } = some[0] as Claimed
    const recipients = some.map(({ recipient }) => recipient)
    return Array.from({ length: Math.ceil(recipients.length / RECIPIENTS_MAX) }, (_, at): Group => {
      return { mail, domain: recipient.domain, recipients: recipients.slice(at * RECIPIENTS_MAX, (at + 1) * RECIPIENTS_MAX) }
    })
  })
}

/** Looks up where the email goes, waits for a place there, and delivers. Null if the site is paused, or the lease was lost meanwhile. */
export async function attemptDelivery(
  ctx: ProjectCtx,
  mailer: Mailer,
  group: Leaving & { ownLimits: ReadonlyMap<string, OwnLimits>; pausedSites: ReadonlySet<string> },
  lease: Lease<ClaimedRecipient, string>,
): Promise<MailAttempt | null> {
  const startedAt = ctx.clock.now()
  const { routing, policy, mxHosts } = await findRoute(ctx, group)
  if (routing.is === 'unroutable') return attemptOf(ctx, group, { ...routing, startedAt, elapsedMs: 0, site: null })
  const site = siteOf(mxHosts)
  if (group.pausedSites.has(site.key)) {
    await holdAtSite(ctx, mailer.findSendingCampaigns, group, site.key)
    return null
  }
  const { projects } = mailer.sites(ctx)
  const own = group.ownLimits.get(site.key)
  const destination = { site, route: routing.route, policy, startedAt, lease }
  if (!own) return deliverTo(ctx, mailer, group, destination)
  const place = projects.enter(ctx.projectId, site.key, own)
  if (place.is === 'postponed') return attemptOf(ctx, group, { steps: [], startedAt, elapsedMs: 0, site, outcome: place })
  try {
    return await deliverTo(ctx, mailer, group, destination)
  } finally {
    projects.leave(ctx.projectId, site.key)
  }
}

type Destination = {
  site: Site
  route: Route
  policy: MtaStsPolicy | null
  startedAt: Date
  lease: Lease<ClaimedRecipient, string>
}

/** Waits for a place at the site, and delivers. */
async function deliverTo(ctx: ProjectCtx, mailer: Mailer, group: Leaving, to: Destination): Promise<MailAttempt | null> {
  const { mail } = group
  const { site, startedAt, lease } = to
  const { queues } = mailer.sites(ctx)
  const wait = { steps: [], startedAt, elapsedMs: 0, site }
  const entry = await queues.enter(site, mail.priority)
  if (entry.is === 'postponed') {
    const exceeded = entry.limit === 'connections' ? mailer.exceeded(ctx, site) : null
    return attemptOf(ctx, group, { ...wait, outcome: entry, exceeded })
  }
  try {
    using stops = await mailer.stops.watch(ctx, mail, site.key)
    if ((await lease.stillLeased(group.recipients)).size < group.recipients.length) return null
    if (stops.isStopped()) return attemptOf(ctx, group, { ...wait, outcome: givenBack(ctx) })
    const { recipients, warming, day } = await warmUpOf(ctx, group, site)
    if (recipients.length === 0 && warming) return attemptOf(ctx, group, { ...wait, outcome: warming })
    const rest = { ...(day !== null && { warmUpDay: day }), ...(warming && { outcome: warming }) }
    const content = (content: Buffer | null) => deliverContent(ctx, mailer, { ...group, recipients }, { ...to, content, stops })
    const ended = await mailer.contents.use(ctx, { ...mail, project_id: ctx.projectId }, content).catch((error) => {
      // The warm-up gets its places back.
      return ofAll(recipients, { is: 'postponed', until: laterIfTemporary(ctx, error), limit: null })
    })
    return attemptOf(ctx, group, { ...wait, ...ended, ...rest })
  } finally {
    queues.leave(site)
  }
}

type Sending = Destination & { content: Buffer | null; stops: { isStopped(): boolean } }

/** Delivers the content of an email, or says why it did not. */
async function deliverContent(ctx: ProjectCtx, mailer: Mailer, group: Group, sending: Sending): Promise<Partial<Ended>> {
  const { mail, domain, recipients } = group
  const { site, route, policy, lease, content, stops } = sending
  const { scheduler, queues } = mailer.sites(ctx)
  if (content === null) return ofAll(recipients, DELETED)
  const startedAt = ctx.clock.now()
  const limits = { ...scheduler.connectionLimitsOf(site), admitConnection: () => scheduler.admitConnection(site) }
  let isRevoked = false
  const mayBeSent = () => {
    isRevoked ||= stops.isStopped() || !lease.lasts(recipients)
    return !isRevoked
  }
  const sent = { ...outgoing(ctx, group, content), mayBeSent }
  const delivered = await ctx.mail.client.deliver(usable(scheduler, site, route), sent, limits)
  // Nothing of it is saved if another process has the recipients.
  if (isRevoked) return ofAll(recipients, givenBack(ctx))
  const { steps, recipients: outcomes, elapsedMs, postponedTo } = delivered
  if (postponedTo !== undefined) return ofAll(recipients, unsent(queues.tryAgainAt(site, mail.priority, postponedTo)))
  record(scheduler, site, steps, outcomes)
  return { steps, startedAt, elapsedMs, outcomes, tls: tlsCountsOf({ domain, policy, steps, outcomes: outcomes.values() }) }
}

/** The gate decides on it once more. */
const givenBack = ({ clock }: ProjectCtx): Outcome => ({ is: 'postponed', until: clock.now(), limit: null })

/** The site gets no new connection now. */
const unsent = (until: Date): Outcome => ({ is: 'postponed', until, limit: NEW_CONNECTIONS })

const ofAll = (recipients: ClaimedRecipient[], outcome: Outcome): { outcomes: ReadonlyMap<string, Outcome> } => ({
  outcomes: new Map(recipients.map(({ address }) => [address, outcome])),
})

/**
 * Email of a domain that is warmed up waits until the next day once the site has had its share (D-MTA-45), unless it is transactional and
 * answers an event or a request: of what follows from a list or a timer there can be as much as of a blast. Returns the recipients that it may
 * go to now, and what happens to the others.
 */
async function warmUpOf(
  ctx: ProjectCtx,
  { mail, recipients, isTransactional }: Leaving,
  site: Site,
): Promise<{ recipients: ClaimedRecipient[]; warming: Outcome | null; day: string | null }> {
  const target = warmUpTarget(ctx, mail, site.key)
  const { allowed, resumesAt, day } = await warmUpAllowance(ctx, target, recipients.length)
  if (allowed >= recipients.length) return { recipients, warming: null, day }
  const first = (until: Date) => ({
    recipients: recipients.slice(0, allowed),
    day,
    warming: { is: 'postponed', until, limit: 'warm-up' } as const,
  })
  if (mail.priority !== TRANSACTIONAL) return first(resumesAt)
  try {
    if (!(await isTransactional(mail))) return first(resumesAt)
    await warmUpAllowance(ctx, target, recipients.length - allowed, { isBeyondCeiling: true })
    return { recipients, warming: null, day }
  } catch (error) {
    return first(laterIfTemporary(ctx, error))
  }
}

/** Where the email of a domain goes. The resolver caches what it finds. */
async function findRoute(
  { mail: { resolver } }: ProjectCtx,
  { mail, domain, recipients }: Group,
): Promise<{ routing: Routing; policy: MtaStsPolicy | null; mxHosts: string[] }> {
  const facts = { domain, attempt: Math.max(...recipients.map(({ attempts }) => attempts)), siteOf: siteKeyOf }
  // A report about TLS is delivered whatever TLS is worth (RFC 8460 §5.3).
  if (mail.source === 'report') {
    const mx = await resolver.mx(domain)
    const routing = routeOf({ ...facts, mx: mx.is === 'hosts' ? { ...mx, isSecure: false } : mx, policy: null })
    return { routing, policy: null, mxHosts: namesOf(mx) }
  }
  const [mx, policy] = await Promise.all([resolver.mx(domain), resolver.policy(domain)])
  return { routing: routeOf({ ...facts, mx, policy }), policy, mxHosts: namesOf(mx) }
}

/** All hosts of a domain, because they are its site. A route has those that are tried. */
const namesOf = (mx: MxAnswer): string[] => (mx.is === 'hosts' ? mx.hosts.map(({ host }) => host) : [])

const siteKeyOf = (hosts: readonly { host: string }[]): string => siteOf(hosts.map(({ host }) => host)).key

const DELETED: Outcome = { is: 'cancelled', reason: 'requested' }

const NO_DOMAIN = 'localhost'

/** Bounces come back to an address of the recipient, or to the sender. */
function outgoing(ctx: ProjectCtx, { mail, recipients }: Group, content: Buffer): OutgoingMail {
  const [first] = recipients as [ClaimedRecipient]
  const path = { project_id: ctx.projectId, mail_id: mail.id, recipient_no: first.no }
  const returnPath = returnPathFor(ctx, path, mail.return_domain ?? NO_DOMAIN)
  return {
    from: mail.return_domain === null ? mail.mail_from : returnPath,
    to: recipients.map(({ address }) => address),
    content,
    needs8Bit: mail.needs_8bit,
    needsSmtpUtf8: mail.needs_smtp_utf8,
    // Hosts return it in bounces, which are matched by it too.
    envelopeId: returnPath.slice(0, returnPath.indexOf('@')),
    ...(mail.returns && { returns: mail.returns }),
    reports: recipients.map(({ notify, original_recipient: original }) => ({ notify: notify ?? [], original })),
  }
}

type Ended = Partial<Pick<MailAttempt, 'tls' | 'exceeded' | 'warmUpDay'>> & {
  steps: MailAttempt['steps']
  startedAt: Date
  elapsedMs: number
  site: Site | null
  outcome?: Outcome
  outcomes?: ReadonlyMap<string, Outcome>
}

/** The attempt with what follows for each recipient: its own outcome, or that of all without one. */
export function attemptOf(ctx: ProjectCtx, { mail, recipients }: Group, ended: Ended): MailAttempt {
  const { steps, startedAt, elapsedMs, site, outcome, outcomes, tls = [], exceeded = null, warmUpDay } = ended
  const now = { at: ctx.clock.now(), random: (ctx.secrets.random(1)[0] ?? 0) / 256, ownAddresses: () => ownAddressesOf(ctx) }
  const decided = recipients.map((recipient) => {
    const own = outcomes?.get(recipient.address) ?? outcome ?? UNKNOWN
    return decide(mail, recipient, own, site?.key ?? null, now)
  })
  return { mail, startedAt, elapsedMs, steps, decided, site, tls, exceeded, ...(warmUpDay !== undefined && { warmUpDay }) }
}

const UNKNOWN: RecipientOutcome = { is: 'temporary', reason: 'There was no outcome.', scope: 'recipient' }

/** Hosts that failed many times in a row are left out for a while. Those that its policy does not name are no others: they get no email. */
export function usable(scheduler: Scheduler, site: Site, route: Route): Route {
  const { enforcedHosts } = route
  const isNamed = (host: string) => !enforcedHosts || matchesMx(enforcedHosts, host)
  const names = route.hosts.flatMap(({ host }) => (isNamed(host) ? [host] : []))
  const tried = new Set(scheduler.hostsToTry(site, names))
  const hosts = route.hosts.filter(({ host }) => !isNamed(host) || tried.has(host))
  return hosts.length === route.hosts.length ? route : { ...route, hosts, isPartial: true }
}

/** What the attempt says of the site and its hosts. What it shares with another attempt is said by that one. */
function record(scheduler: Scheduler, site: Site, steps: MailAttempt['steps'], outcomes: AttemptOutcome['recipients']): void {
  const failed = steps.flatMap((step) => (step.is === 'failed' && step.stage === 'CONNECT' && !step.isShared ? [step.host] : []))
  for (const host of failed) scheduler.recordHost(site, host, 'failed')
  const delivered = [...outcomes.values()].find((outcome) => outcome.is === 'delivered')
  if (delivered) scheduler.recordHost(site, delivered.host, 'connected')
  for (const event of siteEventsOf(site.key, outcomes.values())) scheduler.record(site, event)
}
