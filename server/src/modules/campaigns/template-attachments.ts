/** The files of a template: attachments, and images that its HTML shows (D-TPL-4). */
import { requirePublisher } from '../../infra/http/require-publisher.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault, faultsError, missing } from '../../lib/errors.ts'
import { connectProvider } from '../channels/index.ts'
import {
  ATTACHMENT_BYTES_MAX,
  ATTACHMENTS_MAX,
  attachmentFaults,
  deleteAttachment,
  findAttachment,
  findTemplateId,
  listAttachments,
  saveAttachment,
  type TemplateAttachment,
  type TemplateAttachmentInput,
  type TemplateAttachmentWhole,
  type TemplatePlace,
  touchTemplate,
} from '../templates/index.ts'
import { getCampaign, lockEditable } from './service.ts'

/** The files of a template, oldest first. Throws 404. */
export async function listTemplateAttachments(ctx: ProjectCtx, place: TemplatePlace): Promise<TemplateAttachment[]> {
  await getCampaign(ctx, place.campaignId)
  return listAttachments(ctx, await requireTemplate(ctx, place))
}

/** A file of a template. Throws 404. */
export async function getTemplateAttachment(ctx: ProjectCtx, place: TemplatePlace, name: string): Promise<TemplateAttachmentWhole> {
  await getCampaign(ctx, place.campaignId)
  const found = await findAttachment(ctx, await requireTemplate(ctx, place), name)
  if (!found) throw missing('attachment')
  return found
}

/** A file of a template without its content. Throws 404. */
export async function attachmentState(ctx: ProjectCtx, { name, ...place }: TemplatePlace & { name: string }): Promise<TemplateAttachment> {
  const found = (await listTemplateAttachments(ctx, place)).find((file) => file.name === name)
  if (!found) throw missing('attachment')
  return found
}

/** Creates or replaces a file of a template. Throws 400, 403, 404, and 422 beyond the limits and on channels other than email. */
export async function putTemplateAttachment(
  ctx: ProjectCtx,
  place: TemplatePlace,
  name: string,
  input: TemplateAttachmentInput,
): Promise<TemplateAttachment> {
  const { state, channel, provider_id } = await getCampaign(ctx, place.campaignId)
  if (state !== 'draft') requirePublisher(ctx)
  if (channel !== 'email')
    throw fault('validation_failed', 'name', `Only emails have attachments. The channel of the campaign is \`${channel}\`.`)
  const faults = attachmentFaults(input)
  if (faults.length > 0) throw faultsError(faults)
  const { content_id = null } = input
  const { sizeProblem } = await connectProvider(ctx, channel, provider_id)
  return inTx(ctx, async (ctx) => {
    await lockEditable(ctx, place.campaignId)
    const templateId = await requireTemplate(ctx, place)
    await checkLimits(ctx, templateId, { name, content_id, size_bytes: Buffer.byteLength(input.content, 'base64') }, sizeProblem)
    const saved = await saveAttachment(ctx, templateId, { ...input, name, content_id })
    await touchTemplate(ctx, templateId)
    return saved
  })
}

/** Deletes a file of a template. Throws 403, 404. */
export function removeTemplateAttachment(ctx: ProjectCtx, place: TemplatePlace, name: string): Promise<void> {
  return inTx(ctx, async (ctx) => {
    await lockEditable(ctx, place.campaignId)
    const templateId = await requireTemplate(ctx, place)
    if ((await deleteAttachment(ctx, templateId, name)) === 0) throw missing('attachment')
    await touchTemplate(ctx, templateId)
  })
}

async function requireTemplate(ctx: ProjectCtx, place: TemplatePlace): Promise<number> {
  const id = await findTemplateId(ctx, place)
  if (id === undefined) throw missing('template')
  return id
}

type Added = Pick<TemplateAttachment, 'name' | 'content_id' | 'size_bytes'>

async function checkLimits(ctx: InTx, templateId: number, added: Added, sizeProblem: (fileBytes: number) => string | null): Promise<void> {
  const others = (await listAttachments(ctx, templateId)).filter(({ name }) => name !== added.name)
  if (others.length >= ATTACHMENTS_MAX) throw fault('validation_failed', 'name', `A template has at most ${ATTACHMENTS_MAX} attachments.`)
  if (added.content_id !== null && others.some(({ content_id }) => content_id === added.content_id))
    throw fault('validation_failed', 'content_id', 'Another attachment of the template has this `content_id`.')
  const bytes = others.reduce((sum, { size_bytes }) => sum + size_bytes, added.size_bytes)
  if (bytes > ATTACHMENT_BYTES_MAX)
    throw fault('validation_failed', 'content', `The attachments of a template may have at most ${ATTACHMENT_BYTES_MAX} bytes in total.`)
  const problem = sizeProblem(bytes)
  if (problem !== null) throw fault('validation_failed', 'content', problem)
}
