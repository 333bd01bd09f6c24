/** Checks domains in the DNS: on request, and again and again in the background. */
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { mapWithConcurrency } from '../../lib/concurrency.ts'
import { ApiError } from '../../lib/errors.ts'
import type { DomainId } from '../../lib/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/times.ts'
import { inProject } from '../projects/index.ts'
import { checkDns, type DnsFindings, type DomainResolver, type ResolverOf } from './dns-check.ts'
import { ourHost, oursOf, present } from './present.ts'
import * as queries from './queries.ts'
import type { CheckedRecord, Domain, DomainRow } from './schema.ts'
import { decideSending, type SendingFinding } from './sending/decide.ts'
import { isAwaited } from './sending/keys.ts'
import { lookUpSending, type SendingAnswers } from './sending/look-up.ts'
import * as keys from './sending/queries.ts'
import { linkRecords, RETIRED_KEY_DAYS } from './sending/records.ts'
import { forgetDomains, found } from './service.ts'

/** How many checks in a row must fail before a domain is not used any more: a request counts at once, the background is patient. */
const FAILURES_MAX = { request: 1, background: 3 }

/** Checks the domain in the DNS and stores the result. */
export const verifyDomain = (ctx: ProjectCtx, id: DomainId, resolver: DomainResolver): Promise<Domain> =>
  check(ctx, id, resolver, 'request')

async function check(ctx: ProjectCtx, id: DomainId, resolver: DomainResolver, by: keyof typeof FAILURES_MAX): Promise<Domain> {
  const asked = found(await queries.findDomain(ctx, id))
  const { host, sending_domain: domain, verification_token: token } = asked
  const selectors = (await keys.findKeys(ctx, [id])).map(({ selector }) => selector)
  const [findings, answers] = await Promise.all([
    checkDns(host, ourHost(ctx), token, resolver),
    domain === null ? null : lookUpSending(domain, selectors, oursOf(ctx), resolver),
  ])
  const { row, all, lost } = await inTx(ctx, (ctx) => saveFindings(ctx, id, host, findings, answers, FAILURES_MAX[by]))
  forgetDomains(ctx)
  for (const what of lost) {
    ctx.log.warn({ domain_id: id, what }, 'a domain is not verified any more')
    ctx.metrics.domainUnverified(what)
  }
  return present(ctx, row, all)
}

async function saveFindings(
  ctx: InTx,
  id: DomainId,
  host: string,
  findings: DnsFindings,
  answers: SendingAnswers | null,
  failuresMax: number,
) {
  const claims = await queries.lockClaims(ctx, host)
  const before = found(await queries.lockDomain(ctx, id))
  const others = claims.filter(({ project_id }) => project_id !== ctx.projectId)
  const links = decideLinks(before, findings, others.length > 0, oursOf(ctx).host)
  const present = await keys.findKeys(ctx, [id])
  const sending = answers && decideSending(before, present, answers, oursOf(ctx), ctx.clock.now())
  const failed_checks = failedLinkChecks(before, links)
  const failed_sending_checks = failedSendingChecks(before, sending)
  const is_verified = links.isVerified || (before.is_verified && !links.isTaken && failed_checks < failuresMax)
  const isSendingVerified = isStillVerified(before, sending, failed_sending_checks < failuresMax)
  if (links.isVerified && !before.is_verified) await queries.unverifyOthers(ctx, others, TAKEN)
  if (sending) {
    const { unused = [], kept = [] } = Object.groupBy(sending.changesOf(isSendingVerified && sending.isComplete !== 'yes'), ({ state }) =>
      state === 'unused' ? 'unused' : 'kept',
    )
    await keys.setStates(ctx, id, kept)
    const before = new Date(ctx.clock.now().getTime() - RETIRED_KEY_DAYS * DAY_MS)
    await keys.deleteUnused(
      ctx,
      id,
      before,
      unused.map(({ selector }) => selector),
    )
  }
  const all = await keys.findKeys(ctx, [id])
  const isPending = all.some(isAwaited) || (before.sending_domain === null ? !is_verified : !isSendingVerified)
  const row = found(
    await queries.saveCheck(ctx, id, {
      is_verified,
      problem: links.problem,
      isSendingVerified,
      sending_problem: sending?.problem ?? null,
      is_strict: sending?.is_strict ?? false,
      has_return_path: sending?.has_return_path ?? false,
      spf_alignment: sending?.spf_alignment ?? null,
      records: [...(sending?.records ?? []), ...linkStates(before, findings, ctx)],
      dns_host: sending?.dns_host ?? null,
      failed_checks,
      failed_sending_checks,
      nextCheckAt: new Date(ctx.clock.now().getTime() + (isPending || failed_checks + failed_sending_checks > 0 ? HOUR_MS : DAY_MS)),
    }),
  )
  const lost = [
    ...(before.is_verified && !is_verified ? (['links'] as const) : []),
    ...(before.sending_verified_at && !isSendingVerified ? (['sending'] as const) : []),
  ]
  return { row, all, lost }
}

/** How many checks in a row found links missing that were there before. One without an answer does not count. */
function failedLinkChecks({ is_verified, failed_checks }: DomainRow, { isVerified, isKnown }: LinksDecision): number {
  if (!isKnown) return failed_checks
  return is_verified && !isVerified ? failed_checks + 1 : 0
}

/** The same of what sending needs. */
function failedSendingChecks({ sending_verified_at, failed_sending_checks }: DomainRow, sending: SendingFinding | null): number {
  if (sending?.isComplete === 'unknown') return failed_sending_checks
  return sending_verified_at !== null && sending?.isComplete === 'no' ? failed_sending_checks + 1 : 0
}

function isStillVerified({ sending_verified_at }: DomainRow, sending: SendingFinding | null, isTolerated: boolean): boolean {
  if (sending === null) return false
  return sending.isComplete === 'yes' || (sending_verified_at !== null && (sending.isComplete === 'unknown' || isTolerated))
}

const TAKEN = 'Another project has verified that it controls the host. Use another host.'
const CONTESTED =
  'Another project on this server has also added this host. Publish the TXT record to prove that you control it, and then verify it again.'
const NO_RESPONSE = 'The DNS servers did not respond. Try again in a few minutes.'

/** `isTaken`: another project may get the host, so that it cannot be kept while checks fail. `isKnown`: the DNS responded. */
type LinksDecision = { isVerified: boolean; problem: string | null; isTaken: boolean; isKnown: boolean }

/**
 * Decides if the host of links is verified. A TXT record proves that the project controls the host. A CNAME is enough if no other project has
 * added the host. If the DNS does not respond, nothing changes.
 */
function decideLinks(
  { host, is_verified }: DomainRow,
  { pointsHere, isOwned }: DnsFindings,
  isContested: boolean,
  ours: string | null,
): LinksDecision {
  const decided = (isVerified: boolean, problem: string | null, isKnown = true): LinksDecision => ({
    isVerified,
    problem,
    isTaken: isContested,
    isKnown,
  })
  if (isOwned === 'yes') return decided(true, null)
  if (pointsHere === 'yes') return is_verified || !isContested ? decided(true, null) : decided(false, CONTESTED)
  if (pointsHere === 'unknown' || isOwned === 'unknown') return decided(is_verified, NO_RESPONSE, false)
  const records = ours === null ? 'the TXT record' : `a CNAME record from it to \`${ours}\`, or the TXT record`
  return decided(false, `\`${host}\` does not point to this server. Publish ${records}.`)
}

const STATUSES = { yes: 'ok', no: 'missing', unknown: 'unknown' } as const

function linkStates(row: DomainRow, { pointsHere, isOwned }: DnsFindings, ctx: InTx): CheckedRecord[] {
  return linkRecords(row, oursOf(ctx)).map(({ purpose, name, value }) => ({
    purpose,
    name,
    value,
    status: STATUSES[purpose === 'tracking' ? pointsHere : isOwned],
    found: [],
    note: null,
  }))
}

const CHECKED_AT_ONCE = 20
const CONCURRENT_CHECKS = 5
/** Another process takes over the checks of one that ended. */
const CLAIM_MS = 10 * MINUTE_MS

/** Checks domains whose time has come. Returns how many. */
export async function checkDueDomains(ctx: Ctx, resolver: ResolverOf): Promise<number> {
  const due = await queries.claimDue(ctx, CHECKED_AT_ONCE, new Date(ctx.clock.now().getTime() + CLAIM_MS))
  await mapWithConcurrency(due, CONCURRENT_CHECKS, ({ project_id, id }) =>
    inProject(ctx, project_id, (ctx) => checkUnlessDeleted(ctx, id, resolver(ctx))),
  )
  return due.length
}

async function checkUnlessDeleted(ctx: ProjectCtx, id: DomainId, resolver: DomainResolver): Promise<void> {
  try {
    await check(ctx, id, resolver, 'background')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}
