/** What templates contained before, who changed them, and how to go back (D-TPL-5). */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import { findVersion, listVersions, type TemplatePlace, type TemplateVersion, type TemplateVersionWhole } from '../templates/index.ts'
import { getTemplate, type PreparedTemplate, prepareTemplate } from './edit-templates.ts'

type Row = Awaited<ReturnType<typeof listVersions>>[number]

const present = ({ actor_type: type, actor_id: id, actor_name: name, ...row }: Row): TemplateVersion => ({
  ...row,
  saved_by: type === null ? null : { type, id, name },
})

/** The versions of a template, the newest first. Throws 404. */
export async function listTemplateVersions(ctx: ProjectCtx, place: TemplatePlace): Promise<TemplateVersion[]> {
  await getTemplate(ctx, place)
  return (await listVersions(ctx, place)).map(present)
}

/** A version with its content. Throws 404. */
export async function getTemplateVersion(ctx: ProjectCtx, place: TemplatePlace, number: number): Promise<TemplateVersionWhole> {
  await getTemplate(ctx, place)
  const row = await findVersion(ctx, place, number)
  if (!row) throw missing('version')
  const { data, ...version } = row
  return { ...present(version), data }
}

/** Prepares the content of a version to be saved again. Throws 403, 404, and 422 if the channel can no longer send it. */
export async function prepareVersion(ctx: ProjectCtx, place: TemplatePlace, number: number): Promise<PreparedTemplate> {
  const { data } = await getTemplateVersion(ctx, place, number)
  return prepareTemplate(ctx, place, data)
}
