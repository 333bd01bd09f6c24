import { mapPage, type PageRequest } from '../../infra/http/paging.ts'
import type { Download } from '../../infra/http/route.ts'
import { Conflict, isSqlState, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import { cached } from '../../infra/runtime/cache.ts'
import { afterCommit, type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { organisationalDomain } from '../../lib/dmarc.ts'
import { ApiError, fault, missing } from '../../lib/errors.ts'
import type { DomainId, ProjectId } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { dnsName, isDomainName } from '../../lib/urls.ts'
import { CHECK } from './job-names.ts'
import { ourHost, present } from './present.ts'
import * as queries from './queries.ts'
import type { Domain, DomainChanges, DomainInput, DomainRow } from './schema.ts'
import { generateKeys, isAwaited } from './sending/keys.ts'
import * as keys from './sending/queries.ts'
import { forgetSenders } from './sending/senders.ts'
import { zoneFile } from './sending/zone-file.ts'
import { deleteWarmUp } from './warm-up/queries.ts'

const DOMAINS_MAX = 100
const TOKEN_BYTES = 18
const CACHE_MS = 5000
const CACHE_MAX = 10_000

export async function listDomains(ctx: ProjectCtx, page: PageRequest) {
  const found = await queries.listDomains(ctx, page)
  const all = await keys.findKeys(
    ctx,
    found.results.map(({ id }) => id),
  )
  return mapPage(found, (row) => present(ctx, row, all))
}

export async function getDomain(ctx: ProjectCtx, id: DomainId): Promise<Domain> {
  return shown(ctx, found(await queries.findDomain(ctx, id)))
}

const shown = async (ctx: ProjectCtx, row: DomainRow): Promise<Domain> => present(ctx, row, await keys.findKeys(ctx, [row.id]))

/** Adds a domain, which is not used until it is verified. Throws 409 if the project has it already, 422 if it is not allowed. */
export async function createDomain(ctx: ProjectCtx, input: DomainInput): Promise<Domain> {
  const { host, sending_domain } = checkNames(ctx, input)
  // Here too, because keys take processor time.
  await requireRoom(ctx)
  const pairs = sending_domain === null ? [] : await generateKeys(ctx, sending_domain)
  const row = await inTx(ctx, async (ctx) => {
    await lockRoom(ctx, 'domains', ctx.projectId)
    await requireRoom(ctx)
    const token = ctx.secrets.random(TOKEN_BYTES).toString('base64url')
    const row = await queries.insertDomain(ctx, { host, sending_domain, token, nextCheckAt: new Date(ctx.clock.now().getTime() + HOUR_MS) })
    if (!row) throw await duplicate(ctx, host)
    if (pairs.length > 0) await keys.insertKeys(ctx, row.id, pairs)
    return input.is_default ? makeDefault(ctx, row.id, true) : row
  })
  forgetDomains(ctx)
  return shown(ctx, row)
}

async function requireRoom(ctx: ProjectCtx | InTx): Promise<void> {
  if ((await queries.countDomains(ctx)) < DOMAINS_MAX) return
  throw new ApiError('quota_exceeded', `A project may have at most ${DOMAINS_MAX} domains. Delete one first.`)
}

async function duplicate(ctx: InTx, host: string): Promise<ApiError> {
  const param = (await queries.hasHost(ctx, host)) ? 'host' : 'sending_domain'
  return new ApiError('resource_already_exists', `The project already has a domain with this \`${param}\`.`, { param })
}

/** The names of a new domain as the DNS has them. */
function checkNames(ctx: ProjectCtx, { host, sending_domain }: DomainInput): { host: string; sending_domain: string | null } {
  const sending = sending_domain === undefined ? null : (dnsName(sending_domain) ?? '')
  if (sending !== null && (!isDomainName(sending) || organisationalDomain(sending) === null)) {
    throw fault('validation_failed', 'sending_domain', 'The value of `sending_domain` must be a public domain, such as `example.com`.')
  }
  if (host === undefined && sending === null) {
    throw fault(
      'parameter_missing',
      'host',
      'Set `host`, the host name for tracked links, or `sending_domain`, the domain of From addresses.',
    )
  }
  const name = host === undefined ? `links.${sending}` : (dnsName(host) ?? '')
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
  return { host: name, sending_domain: sending }
}

export async function updateDomain(ctx: ProjectCtx, id: DomainId, { is_default }: DomainChanges): Promise<Domain> {
  if (is_default === undefined) return getDomain(ctx, id)
  const row = await inTx(ctx, (ctx) => makeDefault(ctx, id, is_default))
  forgetDomains(ctx)
  return shown(ctx, row)
}

async function makeDefault(ctx: InTx, id: DomainId, isDefault: boolean): Promise<DomainRow> {
  if (isDefault) await queries.clearDefault(ctx, id)
  const row = await queries.setDefault(ctx, id, isDefault).catch((error: unknown) => {
    throw isSqlState(error, UNIQUE_VIOLATION) ? new Conflict('Another transaction set a default.') : error
  })
  return found(row)
}

/** Deletes a domain and its keys. Links that were sent with it keep working as long as the host points here. */
export async function deleteDomain(ctx: ProjectCtx, id: DomainId): Promise<void> {
  await inTx(ctx, async (ctx) => {
    if ((await queries.deleteDomain(ctx, id)) === 0) throw missing('domain')
    await keys.deleteKeys(ctx, id)
    await deleteWarmUp(ctx, id)
  })
  forgetDomains(ctx)
}

/**
 * Adds new key pairs to a sending domain. They sign once their records are found; until then the current keys sign. While a new RSA key is
 * waiting for its record, no more are created. Throws 404, and 422 for a domain without a sending domain.
 */
export async function rotateKeys(ctx: ProjectCtx, id: DomainId): Promise<Domain> {
  const { sending_domain: domain } = found(await queries.findDomain(ctx, id))
  if (domain === null) throw fault('validation_failed', 'sending_domain', 'The domain is for links only. It has no keys.')
  const pairs = await generateKeys(ctx, domain)
  await inTx(ctx, async (ctx) => {
    found(await queries.lockDomain(ctx, id))
    const present = await keys.findKeys(ctx, [id])
    if (present.some(isAwaited)) return
    await keys.insertKeys(ctx, id, pairs)
    await queries.checkSoon(ctx, id)
    ctx.wake(CHECK)
  })
  return getDomain(ctx, id)
}

/** The records of a domain as a zone file, without those of retired keys. */
export async function downloadZoneFile(ctx: ProjectCtx, id: DomainId): Promise<Download> {
  const row = found(await queries.findDomain(ctx, id))
  const current = (await keys.findKeys(ctx, [id])).filter(({ state }) => state !== 'retired')
  const { records } = present(ctx, row, current)
  return { filename: `${row.sending_domain ?? row.host}.zone`, parts: partsOf(zoneFile(records)) }
}

async function* partsOf(text: string): AsyncGenerator<string> {
  yield text
}

const usable = cached(CACHE_MAX, CACHE_MS, (ctx, id: ProjectId) => queries.verifiedDomains(ctx, id))

/** Forgets what is cached about domains, after a change. */
export function forgetDomains(ctx: ProjectCtx): void {
  afterCommit(ctx, usable.forget)
  afterCommit(ctx, forgetSenders)
}

/**
 * The base URL of links, without a final slash: the domain with this id if it is verified, or else the default domain of the project,
 * or else this server.
 */
export async function trackingBaseUrl(ctx: ProjectCtx, id: DomainId | null): Promise<string> {
  const domains = await usable.get(ctx, ctx.projectId)
  const domain = domains.find((domain) => domain.id === id) ?? domains.find(({ is_default }) => is_default)
  return domain ? `https://${domain.host}` : ctx.baseUrl()
}

export function found(row: DomainRow | undefined): DomainRow {
  if (!row) throw missing('domain')
  return row
}
