/** What vendors call back to tell. */

import { type PublicPage, type PublicReply, type PublicRequest, publicPage } from '../../infra/http/public-page.ts'
import { asSystem, type Ctx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, missing } from '../../lib/errors.ts'
import type { ProviderId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { findProject } from '../projects/index.ts'
import { openSecrets, outsideOf } from './connections.ts'
import type { Report } from './provider.ts'
import { findCalled } from './queries.ts'
import { providers } from './registry.ts'

/**
 * Takes in what vendors say, before they are answered. Gets words for a person who wrote to the vendor with it, when the
 * vendor takes them in its answer; otherwise they have to be sent.
 */
export type WhenReported = (ctx: ProjectCtx, providerId: ProviderId, reports: Report[], takesWords: boolean) => Promise<string | undefined>

/** Vendors put many events into one call. */
const BYTES_MAX = 2_097_152
const PATH = '/callbacks/providers/{providerId}'
const OPEN = 'The vendor proves who it is, by its signature or by credentials that only it was told.'

/** Where vendors report to; `whenReported` hears of it only when it is genuine. */
export const providerPages = (whenReported: WhenReported): PublicPage[] =>
  (['POST', 'GET'] as const).map((method) =>
    publicPage({
      method,
      path: PATH,
      summary: method === 'POST' ? 'Take reports from a vendor.' : 'Take reports from a vendor that sends them as a query.',
      open: OPEN,
      bytesMax: BYTES_MAX,
      run: (ctx, call) => take(ctx, call, whenReported),
    }),
  )

const provider = pathId<ProviderId>()

async function take(outer: Ctx, { params, query, headers, body, url }: PublicRequest, whenReported: WhenReported): Promise<PublicReply> {
  const id = provider.read(params.providerId ?? '', 'providerId')
  const row = await findCalled(outer, id)
  const read = row && providers[row.kind].read
  if (!read) throw missing('provider')
  const ctx = asSystem(outer, row.project_id, await findProject(outer, row.project_id))
  const secrets = openSecrets(ctx, row)
  const callback = { headers, query, body, url: `${ctx.baseUrl()}${url}` }
  const reading = secrets ? await read({ ...row.settings, ...secrets } as never, callback, outsideOf(ctx, id)) : null
  if (reading?.is !== 'read') throw new ApiError('webhook_signature_invalid', 'The webhook signature could not be verified.')
  const { reports, answer, reply = { status: 204 } } = reading
  const words = reports.length > 0 ? await whenReported(ctx, id, reports, answer !== undefined) : undefined
  return words !== undefined && answer ? answer(words) : reply
}
