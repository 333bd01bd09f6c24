import { requirePublisher } from '../../infra/http/require-publisher.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault, missing } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import {
  checkAndCompile,
  deleteTemplate,
  findingsOf,
  keepVersion,
  lintContextOf,
  type SavedTemplate,
  saveTemplate,
  type Template,
  type TemplatePlace,
  type TemplateRow,
  templatesOf,
  variantName,
} from '../templates/index.ts'
import { getCampaign, lockEditable, variantsToWrite } from './service.ts'
import { isLive } from './states.ts'

/** The templates of one campaign, oldest first. Throws 404. */
export async function listTemplates(ctx: ProjectCtx, id: CampaignId): Promise<Template[]> {
  const campaign = await getCampaign(ctx, id)
  return (await templatesOf(ctx, [campaign.id])).map(present)
}

/** A template. Throws 404. */
export async function getTemplate(ctx: ProjectCtx, { campaignId, locale, variant }: TemplatePlace): Promise<Template> {
  const wanted = locale.toLowerCase()
  const rows = (await templatesOf(ctx, [campaignId])).filter((row) => row.locale.toLowerCase() === wanted && row.variant === variant)
  const row = rows.find((row) => row.locale === locale) ?? rows[0]
  if (!row) throw missing('template')
  return present(row)
}

export type PreparedTemplate = Awaited<ReturnType<typeof checkAndCompile>> & Pick<SavedTemplate, 'findings'>

/**
 * Compiles and checks a template that is to be saved. That is slow, so it comes before the transaction; the channel of a campaign never
 * changes. Throws 400 and 422 if the channel cannot send the content, 403, 404.
 */
export async function prepareTemplate(
  ctx: ProjectCtx,
  { campaignId, locale }: Pick<TemplatePlace, 'campaignId' | 'locale'>,
  given: unknown,
): Promise<PreparedTemplate> {
  const campaign = await getCampaign(ctx, campaignId)
  if (campaign.state !== 'draft') requirePublisher(ctx)
  const written = await checkAndCompile(ctx, campaign.channel, locale, given)
  return { ...written, findings: await findingsOf(ctx, campaign.channel, written, await lintContextOf(ctx, campaign)) }
}

/** Creates or replaces a template, with new content or with that of a version that is restored. Throws 403, 404. */
export function putTemplate(
  ctx: ProjectCtx,
  place: TemplatePlace,
  { data, compiled, findings }: PreparedTemplate,
  isRestored = false,
): Promise<SavedTemplate> {
  return inTx(ctx, async (ctx) => {
    await lockEditable(ctx, place.campaignId)
    const saved = await saveTemplate(ctx, place, data, compiled)
    await keepVersion(ctx, saved.id, data, isRestored)
    return { ...present(saved), findings }
  })
}

/** Removes a template. The last template of a variant cannot be removed from an active campaign. Throws 403, 404, 422. */
export function removeTemplate(ctx: ProjectCtx, place: TemplatePlace): Promise<void> {
  return inTx(ctx, async (ctx) => {
    const campaign = await lockEditable(ctx, place.campaignId)
    if ((await deleteTemplate(ctx, place)) === 0) throw missing('template')
    if (isLive(campaign.state) && (await variantsToWrite(ctx, campaign.id, campaign)).includes(place.variant)) {
      const what =
        campaign.variants.length > 0 ? `the variant \`${variantName(place.variant)}\` of an active campaign` : 'an active campaign'
      throw fault('validation_failed', 'locale', `This is the last template of ${what}. Add another template first, or abort the campaign.`)
    }
  })
}

const present = ({ compiled: _, attachment_bytes: __, variant, ...row }: TemplateRow): Template => ({
  ...row,
  variant: variantName(variant),
})
