/** Prepares stored and unsaved templates for rendering and linting. */
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

/** Checks and compiles the content of a template. Throws 400 and 422 if the channel cannot send it. */
export async function checkAndCompile(channel: Channel, given: unknown): Promise<{ data: Content; compiled: Compiled }> {
  const { faults, content } = checkContent(channel, given)
  refuse(faults)
  const result = await compileContent(channel, content)
  if ('compiled' in result) return { data: content, compiled: result.compiled }
  refuse(result.faults)
  throw new Error('A template was refused without a reason.')
}

/** Returns a function that chooses the template for a locale. That throws 404 if the campaign has no template. */
export async function templateChooser(
  ctx: ProjectCtx,
  { id }: TemplateOwner,
  variant: string | undefined,
): Promise<(locale: string | null) => WrittenTemplate> {
  const templates = await templatesOf(ctx, [id])
  return (locale) => {
    const template = chooseTemplate(templates, locale, ctx.project.locale, variantNumber(variant))
    if (template) return template
    throw new ApiError('resource_missing', 'The campaign has no template yet. Add one with `PUT /campaigns/{id}/templates/{locale}`.')
  }
}

/** The templates of campaigns, ready to be sent. */
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

/** The findings in a template. */
export const findingsOf = (channel: Channel, template: Pick<WrittenTemplate, 'data' | 'compiled'>, about: LintContext): Finding[] =>
  findingsIn({ channel, written: template.data, rendered: contentOf(template), about })

/** The rendered content, or why rendering failed. */
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
