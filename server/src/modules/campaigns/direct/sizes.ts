/** Refuses messages with more files or headers than the provider of their campaign accepts, before they are accepted (D-MSG-7). */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Fault } from '../../../lib/errors.ts'
import { connectProvider, isRefusedBySome } from '../../channels/index.ts'
import { smallestFiles } from '../../templates/index.ts'
import type { CampaignRow } from '../schema.ts'
import type { MessageInput } from './schema.ts'

/**
 * Why the files of a message are too large, together with those of the template of its campaign that has the smallest files; null for a
 * message without files. Which template the user gets, and how large the email is, is known only once it is rendered.
 */
export async function sizeFault(
  ctx: ProjectCtx,
  { id, channel, provider_id, is_direct }: CampaignRow,
  { attachments = [] }: MessageInput,
): Promise<Fault | null> {
  if (attachments.length === 0) return null
  const ofRequest = attachments.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0)
  const ofTemplates = is_direct ? 0 : await smallestFiles(ctx, id)
  const message = (await connectProvider(ctx, channel, provider_id)).sizeProblem(ofRequest + ofTemplates)
  return message === null ? null : { code: 'validation_failed', param: 'attachments', message }
}

/** Why the provider would refuse the headers of a message; null for a message without headers. */
export async function headerFault(
  ctx: ProjectCtx,
  { channel, provider_id }: CampaignRow,
  { headers = {} }: MessageInput,
): Promise<Fault | null> {
  // Most fit every provider.
  if (!isRefusedBySome(headers)) return null
  const problem = (await connectProvider(ctx, channel, provider_id)).headerProblem(headers)
  return (
    problem && { code: 'validation_failed', param: problem.name === null ? 'headers' : `headers.${problem.name}`, message: problem.message }
  )
}
