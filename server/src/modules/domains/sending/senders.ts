/** The sending domain of an email, by its From address (D-MTA-42). */
import { cached } from '../../../infra/runtime/cache.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { DkimKey } from '../../../lib/dkim/keys.ts'
import type { DomainId, ProjectId } from '../../../lib/ids.ts'
import { isDomainName } from '../../../lib/urls.ts'
import { isAuthenticated } from './assess.ts'
import { openKey } from './keys.ts'
import * as queries from './queries.ts'
import { returnPathOf } from './records.ts'

/** How emails from a domain are signed and where they bounce to. */
export type SendingDomain = {
  id: DomainId
  domain: string
  /** Whether its records were found, and its signature or its return path is aligned with the From address (RFC 7489). */
  is_verified: boolean
  /** Whether its records were found. */
  has_records: boolean
  dkim: DkimKey[]
  /** The domain of return paths. */
  return_path: string
}

const CACHE_MS = 5000
const CACHE_MAX = 10_000

const senders = cached(CACHE_MAX, CACHE_MS, (ctx, id: ProjectId) => queries.sendersOf(ctx, id))

/** Forgets what is cached, after a change. */
export const forgetSenders = (): void => senders.forget()

/** The name of this server in the DNS of email; null if it has none. */
export function mailHostOf(ctx: Pick<Ctx, 'config' | 'baseUrl'>): string | null {
  const host = ctx.config.MTA_HOSTNAME ?? new URL(ctx.baseUrl()).hostname
  return isDomainName(host) ? host.toLowerCase() : null
}

/** The verified sending domain of a custom domain, for the default senders of its campaigns. Undefined if it has none. */
export async function fromDomainOf(ctx: ProjectCtx, id: DomainId): Promise<string | undefined> {
  const all = await senders.get(ctx, ctx.projectId)
  return all.find((one) => one.id === id && one.is_verified)?.sending_domain
}

/** The first verified sending domain of the project, for email that the server itself sends in its name. */
export async function verifiedSender(ctx: ProjectCtx): Promise<SendingDomain | undefined> {
  const [first] = (await senders.get(ctx, ctx.projectId)).filter(({ is_verified }) => is_verified).sort((a, b) => a.id - b.id)
  return first && sendingDomainOf(ctx, first.sending_domain)
}

/**
 * The sending domain for a From domain: itself, or else the longest domain that it is a subdomain of. Undefined if the project has none.
 * Of another return domain than its own, such as that of a provider, the SPF record is not known, so that only its signature counts.
 */
export async function sendingDomainOf(
  ctx: ProjectCtx | InTx,
  fromDomain: string,
  returnDomain?: string,
): Promise<SendingDomain | undefined> {
  const from = fromDomain.toLowerCase()
  const [sender] = (await senders.get(ctx as Ctx, ctx.projectId))
    .filter((one) => from === one.sending_domain || from.endsWith(`.${one.sending_domain}`))
    .sort((a, b) => b.sending_domain.length - a.sending_domain.length)
  if (!sender) return undefined
  const { sending_domain: domain, is_verified, is_strict, has_return_path, spf_alignment, keys } = sender
  const returnPath = has_return_path ? returnPathOf(domain) : (mailHostOf(ctx) ?? domain)
  const spf = returnDomain === undefined || returnDomain.toLowerCase() === returnPath ? spf_alignment : null
  return {
    id: sender.id,
    domain,
    has_records: is_verified,
    is_verified: is_verified && isAuthenticated(from, { domain, isStrict: is_strict, returnPath, spf }),
    dkim: keys.map((key) => openKey(ctx, domain, key)),
    return_path: returnPath,
  }
}
