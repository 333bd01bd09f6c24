import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ApiError, missing } from '../../../lib/errors.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { Finding } from '../../templates/index.ts'
import { targetOf } from '../../tracking/index.ts'
import { checkSandboxContent } from '../tasks.ts'
import { findSandboxMessage } from './queries.ts'
import { type JudgedLink, judgeLink } from './sandbox-links.ts'
import type { SandboxMessageCheck } from './schema.ts'

const WAYS_OUT: JudgedLink['kind'][] = ['unsubscribe', 'preferences']

const NO_WAY_OUT: Finding = {
  kind: 'no_unsubscribe_link',
  severity: 'error',
  param: 'html',
  message:
    'This email has no unsubscribe link. Most countries require one in marketing email. Add a link to `{{ unsubscribe_url }}` or `{{ preferences_url }}` to the template.',
}

/** The problems of a sandbox message, and what each of its links is. No link is requested. Throws 404, 422. */
export async function checkSandboxMessage(ctx: ProjectCtx, id: MessageId): Promise<SandboxMessageCheck> {
  const row = await findSandboxMessage(ctx, id)
  if (!row) throw missing('message')
  const { channel, content, headers } = row
  const base = ctx.baseUrl()
  const outcome = await ctx.threads.run(ctx, checkSandboxContent, { channel, content, base })
  if ('exceeded' in outcome) throw new ApiError('validation_failed', `The message cannot be checked, because ${outcome.exceeded}.`)
  const own = { base, targetOf: (url: string) => targetOf(ctx, ctx.projectId, url) }
  const links = outcome.value.links.map((link) => ({ ...link, ...judgeLink(link.url, own) }))
  // Only email of a type that users can leave has the header.
  const isMarketing = headers !== null && 'List-Unsubscribe' in headers
  const lacksWayOut = isMarketing && !links.some(({ kind }) => WAYS_OUT.includes(kind))
  return {
    size_bytes: typeof content.html === 'string' ? Buffer.byteLength(content.html) : null,
    findings: [...(lacksWayOut ? [NO_WAY_OUT] : []), ...outcome.value.findings],
    links,
  }
}
