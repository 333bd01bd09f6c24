import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { sourceOf } from '../../channels/index.ts'
import { previewPreferencesUrl } from '../../subscriptions/index.ts'
import { allAttachments, attachmentsOfTemplate } from '../../templates/index.ts'
import { findUsers } from '../../users/index.ts'
import { messageKey } from '../message-key.ts'
import { attachmentsOf } from '../requests/attachments.queries.ts'
import { viewUrlOf } from '../view-link.ts'
import { findSandboxMessage } from './queries.ts'
import type { SandboxMessageWhole } from './schema.ts'

/** One sandbox message with its content and, of an email, its source. Throws 404. */
export async function getSandboxMessage(ctx: ProjectCtx, id: MessageId): Promise<SandboxMessageWhole> {
  const row = await findSandboxMessage(ctx, id)
  if (!row) throw missing('message')
  const { headers, made_at, source: submitted, template_id, ...whole } = row
  const [user] = row.user_id === null ? [] : await findUsers(ctx, [row.user_id])
  const found = {
    ...whole,
    external_id: user?.external_id ?? null,
    ...(user && { preferences_url: previewPreferencesUrl(ctx, ctx.projectId, user.id) }),
    ...(user && row.channel === 'email' && { view_url: viewUrlOf(ctx, ctx.projectId, id) }),
  }
  if (row.channel !== 'email') return found
  if (submitted !== null) return { ...found, source: Buffer.from(submitted, 'base64').toString('latin1') }
  const key = messageKey(ctx, { project_id: ctx.projectId, id, created_at: made_at ?? row.created_at })
  const ofTemplate = template_id === null ? [] : await attachmentsOfTemplate(ctx, template_id)
  const attachments = allAttachments(ofTemplate, await attachmentsOf(ctx, id))
  const message = { content: row.content, headers: headers ?? {}, key, attachments }
  const source = sourceOf(message, row.created_at)
  return { ...found, headers: headers ?? {}, ...(source !== null && { source }) }
}
