/** Provider callbacks. */

import type { PublicReply, PublicRequest } from '../../infra/http/public-page.ts'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, missing } from '../../lib/errors.ts'
import type { ProviderId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { storableText } from '../../lib/text.ts'
import { inProject } from '../projects/index.ts'
import { openSecrets, outsideOf } from './connections.ts'
import type { Report } from './provider.ts'
import { findCalled } from './queries.ts'
import { providers } from './registry.ts'

/** Providers put many events into one call. */
export const CALLBACK_BYTES_MAX = 2_097_152
export const CALLBACK_PATH = '/callbacks/providers/{providerId}'

const provider = pathId<ProviderId>()

export type ProviderCallback = {
  ctx: ProjectCtx
  providerId: ProviderId
  reports: Report[]
  /** Calls with the same are applied once. */
  once: string | undefined
  /** Replies with text for the user who wrote to the provider; absent when the provider does not accept one, and it has to be sent. */
  answer: ((text: string) => PublicReply) | undefined
  reply: PublicReply
}

/**
 * Reads a callback. It is answered with 503 while the secrets of the provider cannot be decrypted, so that the provider repeats it. Throws 404 for an
 * unknown provider, and 400 unless the provider's signature or credentials are right.
 */
export async function readProviderCallback(outer: Ctx, { params, query, headers, body, url }: PublicRequest): Promise<ProviderCallback> {
  const id = provider.read(params.providerId ?? '', 'providerId')
  const row = await findCalled(outer, id)
  const read = row && providers[row.kind].read
  if (!read) throw missing('provider')
  return inProject(outer, row.project_id, async (ctx) => {
    const secrets = openSecrets(ctx, row)
    if (!secrets) return { ctx, providerId: id, reports: [], once: undefined, answer: undefined, reply: { status: 503 } }
    const callback = { headers, query, body, url: `${ctx.baseUrl()}${url}` }
    const reading = await read({ ...row.settings, ...secrets } as never, callback, outsideOf(ctx, id))
    if (reading.is !== 'read') throw new ApiError('webhook_signature_invalid', 'The webhook signature could not be verified.')
    const { reports, once, answer, reply = { status: 204 } } = reading
    return { ctx, providerId: id, reports: reports.map(storable), once, answer, reply }
  })
}

const TEXTS = ['reference', 'address', 'code', 'diagnostic', 'text'] as const

/** Mail hosts return any bytes. A character that the database refuses would have the provider repeat the whole call, in vain. */
function storable(report: Report): Report {
  const given = TEXTS.flatMap((name) => {
    const text = report[name]
    return text === undefined ? [] : [[name, storableText(text)] as const]
  })
  return { ...report, ...Object.fromEntries(given) }
}
