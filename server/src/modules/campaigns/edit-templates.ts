import { inTx, type ProjectCtx } from '../../infra/ctx.ts'
import { fault, missing, refuse } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import * as queries from './queries.ts'
import type { TemplateRow } from './schema.ts'
import { getCampaign, holdCampaign } from './service.ts'
import { isLive } from './states.ts'
import { checkContent } from './templates/content.ts'

/** The templates of one campaign, oldest first. Throws 404. */
export async function listTemplates(ctx: ProjectCtx, id: CampaignId): Promise<TemplateRow[]> {
  const campaign = await getCampaign(ctx, id)
  return queries.templatesOf(ctx, [campaign.id])
}

/** Creates or replaces the template of a locale. Throws 400 and 422 for what the channel cannot send, 403, 404. */
export function putTemplate(ctx: ProjectCtx, id: CampaignId, locale: string, given: unknown): Promise<TemplateRow> {
  return inTx(ctx, async (ctx) => {
    const { channel } = await holdCampaign(ctx, id)
    const { faults, content } = checkContent(channel, given)
    refuse(faults)
    const saved = await queries.saveTemplate(ctx, id, locale, content)
    if (!saved) throw new Error('The template was not saved.')
    return saved
  })
}

/** Removes a template; the last one stays while the campaign is under way. Throws 403, 404, 422. */
export function removeTemplate(ctx: ProjectCtx, id: CampaignId, locale: string): Promise<void> {
  return inTx(ctx, async (ctx) => {
    const { state } = await holdCampaign(ctx, id)
    if ((await queries.deleteTemplate(ctx, id, locale)) === 0) throw missing('template')
    if (isLive(state) && (await queries.countTemplates(ctx, id)) === 0) {
      throw fault(
        'validation_failed',
        'locale',
        'This is the last template of a campaign that is under way. Put another one first, or abort the campaign.',
      )
    }
  })
}
