import { mapPage, type PageRequest } from '../../infra/http/paging.ts'
import { cached } from '../../infra/runtime/cache.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, fault, missing } from '../../lib/errors.ts'
import type { DomainId, ProjectId } from '../../lib/ids.ts'
import { dnsName, isDomainName } from '../../lib/urls.ts'
import { checkDns, type DnsFindings, type DomainResolver, txtNameOf, txtValueOf } from './dns-check.ts'
import * as queries from './queries.ts'
import type { Domain, DomainChanges, DomainInput, DomainRow } from './schema.ts'

const DOMAINS_MAX = 100
const TOKEN_BYTES = 18
const CACHE_MS = 5000
const CACHE_MAX = 10_000

const ourHost = (ctx: ProjectCtx | InTx) => new URL(ctx.baseUrl()).hostname

/** The name that a CNAME can point to; null if this server is reached at an address, or at a name of this machine only. */
function ourName(ctx: ProjectCtx | InTx): string | null {
  const host = ourHost(ctx)
  return isDomainName(host) ? host : null
}

export const listDomains = async (ctx: ProjectCtx, page: PageRequest) => mapPage(await queries.listDomains(ctx, page), present(ctx))

export async function getDomain(ctx: ProjectCtx, id: DomainId): Promise<Domain> {
  return present(ctx)(found(await queries.findDomain(ctx, id)))
}

/** Adds a domain, which is not used until it is verified. Throws 409 if the project has it already, 422 if it is not allowed. */
export async function createDomain(ctx: ProjectCtx, { host, is_default = false }: DomainInput): Promise<Domain> {
  const name = dnsName(host) ?? ''
  if (!isDomainName(name)) {
    throw fault('validation_failed', 'host', 'The value of `host` must be a public host name, such as `links.example.com`.')
  }
  if (name === ourHost(ctx)) {
    throw fault(
      'validation_failed',
      'host',
      'The value of `host` is the host name of this server, which links use by default. Use another one.',
    )
  }
  if ((await queries.countDomains(ctx)) >= DOMAINS_MAX) {
    throw new ApiError('quota_exceeded', `A project may have at most ${DOMAINS_MAX} domains. Delete one first.`)
  }
  const row = await inTx(ctx, async (ctx) => {
    const row = await queries.insertDomain(ctx, name, ctx.secrets.random(TOKEN_BYTES).toString('base64url'))
    if (!row) throw new ApiError('resource_already_exists', 'The project already has a domain with this `host`.', { param: 'host' })
    return is_default ? makeDefault(ctx, row.id, true) : row
  })
  usable.forget()
  return present(ctx)(row)
}

export async function updateDomain(ctx: ProjectCtx, id: DomainId, { is_default }: DomainChanges): Promise<Domain> {
  if (is_default === undefined) return getDomain(ctx, id)
  const row = await inTx(ctx, (ctx) => makeDefault(ctx, id, is_default))
  usable.forget()
  return present(ctx)(row)
}

async function makeDefault(ctx: InTx, id: DomainId, isDefault: boolean): Promise<DomainRow> {
  if (isDefault) await queries.clearDefault(ctx, id)
  return found(await queries.setDefault(ctx, id, isDefault))
}

/** Deletes a domain. Links that were sent with it keep working as long as the host points here. */
export async function deleteDomain(ctx: ProjectCtx, id: DomainId): Promise<void> {
  if ((await queries.deleteDomain(ctx, id)) === 0) throw missing('domain')
  usable.forget()
}

/** Checks the domain in the DNS and stores the result. */
export async function verifyDomain(ctx: ProjectCtx, id: DomainId, resolver: DomainResolver): Promise<Domain> {
  const { host, verification_token: token } = found(await queries.findDomain(ctx, id))
  const findings = await checkDns(host, ourHost(ctx), token, resolver)
  const row = await inTx(ctx, async (ctx) => {
    const claims = await queries.lockClaims(ctx, host)
    const domain = found(await queries.findDomain(ctx, id))
    const others = claims.filter(({ project_id }) => project_id !== ctx.projectId)
    const result = decide(domain, findings, others.length > 0, ourName(ctx))
    if (result.isVerified && !domain.is_verified) await queries.unverifyOthers(ctx, others, TAKEN)
    return found(await queries.saveCheck(ctx, id, result.isVerified, result.problem))
  })
  usable.forget()
  return present(ctx)(row)
}

const TAKEN = 'Another project has verified that it controls the host.'
const CONTESTED =
  'Another project of this server has added this host too. Publish the TXT record to prove that you control it, and then verify it again.'
const NO_RESPONSE = 'The DNS did not respond. Try again in a few minutes.'

/**
 * Decides if a domain is verified. A TXT record proves that the project controls the host. A CNAME is enough if no other project has
 * added the host. If the DNS does not respond, nothing changes.
 */
function decide({ host, is_verified }: DomainRow, { pointsHere, isOwned }: DnsFindings, isContested: boolean, ours: string | null) {
  if (isOwned === 'yes') return { isVerified: true, problem: null }
  if (pointsHere === 'yes') {
    return is_verified || !isContested ? { isVerified: true, problem: null } : { isVerified: false, problem: CONTESTED }
  }
  if (pointsHere === 'unknown' || isOwned === 'unknown') return { isVerified: is_verified, problem: NO_RESPONSE }
  const records = ours === null ? 'the TXT record' : `a CNAME record from it to \`${ours}\`, or the TXT record`
  return { isVerified: false, problem: `\`${host}\` does not point to this server. Publish ${records}.` }
}

const usable = cached(CACHE_MAX, CACHE_MS, (ctx, id: ProjectId) => queries.verifiedDomains(ctx, id))

/**
 * The base URL of links, without a final slash: the domain with this id if it is verified, or else the default domain of the project,
 * or else this server.
 */
export async function trackingBaseUrl(ctx: ProjectCtx, id: DomainId | null): Promise<string> {
  const domains = await usable.get(ctx, ctx.projectId)
  const domain = domains.find((domain) => domain.id === id) ?? domains.find(({ is_default }) => is_default)
  return domain ? `https://${domain.host}` : ctx.baseUrl()
}

function found(row: DomainRow | undefined): DomainRow {
  if (!row) throw missing('domain')
  return row
}

const cnameTo = (ours: string | null, host: string): Domain['dns'] => (ours === null ? [] : [{ type: 'CNAME', name: host, value: ours }])

const present =
  (ctx: ProjectCtx | InTx) =>
  ({ verification_token, ...row }: DomainRow): Domain => ({
    ...row,
    dns: [...cnameTo(ourName(ctx), row.host), { type: 'TXT', name: txtNameOf(row.host), value: txtValueOf(verification_token) }],
  })
