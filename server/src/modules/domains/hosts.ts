/** The hosts of requests: whether a request was sent to a custom domain. */
import type { RequestHeaders } from '../../infra/http/public-page.ts'
import { cached } from '../../infra/runtime/cache.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { verifiedHosts } from './queries.ts'

const CACHE_MS = 5000

// All of them at once: callers choose the host, and must not cause a statement with each request.
const hosts = cached(1, CACHE_MS, async (ctx, _: 'all') => new Set((await verifiedHosts(ctx)).map(({ host }) => host)))

/** The host that a request was sent to, without the port. */
export const hostOf = ({ host = '' }: RequestHeaders): string => host.toLowerCase().replace(/:\d*$/, '')

/** Whether a request was sent to a custom domain, which serves links for users and no pages for developers. */
export async function isForCustomDomain(ctx: Ctx, headers: RequestHeaders): Promise<boolean> {
  const host = hostOf(headers)
  return host !== new URL(ctx.baseUrl()).hostname && (await hosts.get(ctx, 'all')).has(host)
}
