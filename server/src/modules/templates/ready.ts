/** A template made ready to be filled in and judged, whether it is stored or being written. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, refuse } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { LiquidError, type Scope } from '../../lib/liquid.ts'
import type { Channel } from '../../lib/shapes.ts'
import { chooseTemplate } from './choose.ts'
import { checkContent, compileContent, contentOf, renderContent, requiredOf } from './content.ts'
import type { Compiled } from './kinds/template.ts'
import { findingsIn } from './lints/find.ts'
import type { LintContext } from './lints/lint.ts'
import { templatesOf } from './queries.ts'
import type { Content, Finding, SendableTemplate, TemplateOwner, TemplateRow } from './schema.ts'
import { variantNumber } from './variants.ts'

type WrittenTemplate = Pick<TemplateRow, 'locale' | 'variant' | 'data' | 'compiled'>

/** Checks and compiles what somebody wrote. Throws 400 and 422 for what the channel cannot send. */
export async function checkAndCompile(channel: Channel, given: unknown): Promise<{ data: Content; compiled: Compiled }> {
  const { faults, content } = checkContent(channel, given)
  refuse(faults)
  const made = await compileContent(channel, content)
  if ('compiled' in made) return { data: content, compiled: made.compiled }
  refuse(made.faults)
  throw new Error('A template was refused without a reason.')
}

/** Says which template a person of a locale would get. Throws 404 when the campaign has none. */
export async function templateChooser(
  ctx: ProjectCtx,
  { id }: TemplateOwner,
  variant: string | undefined,
): Promise<(locale: string | null) => WrittenTemplate> {
  const templates = await templatesOf(ctx, [id])
  return (locale) => {
    const template = chooseTemplate(templates, locale, ctx.project.locale, variantNumber(variant))
    if (template) return template
    throw new ApiError('resource_missing', 'The campaign has no template yet. Put one at `/campaigns/{id}/templates/{locale}` first.')
  }
}

/** The templates of campaigns as they are sent. */
export const sendableTemplatesOf = async (ctx: ProjectCtx, campaignIds: CampaignId[]): Promise<SendableTemplate[]> =>
  (await templatesOf(ctx, campaignIds)).map((row) => ({
    id: row.id,
    campaign_id: row.campaign_id,
    locale: row.locale,
    variant: row.variant,
    updated_at: row.updated_at,
    content: contentOf(row),
    required: requiredOf(row),
  }))

/** What is worth knowing about it. */
export const findingsOf = (channel: Channel, template: Pick<WrittenTemplate, 'data' | 'compiled'>, about: LintContext): Finding[] =>
  findingsIn({ channel, written: template.data, rendered: contentOf(template), about })

/** The content filled in, or why it comes to nothing. */
export function tryRender(
  channel: Channel,
  template: Pick<WrittenTemplate, 'data' | 'compiled'>,
  scope: Scope,
): { content: Content } | { problem: string; line: number } {
  try {
    return { content: renderContent(channel, contentOf(template), scope, requiredOf(template)) }
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    return { problem: `Rendering fails on line ${error.line}: ${error.message}.`, line: error.line }
  }
}
