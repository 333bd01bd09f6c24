/** Prepares stored and unsaved templates for rendering and linting. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { ApiError, refuse } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import type { Scope } from '../../lib/liquid/liquid.ts'
import type { Channel } from '../../lib/shapes.ts'
import { chooseTemplate } from './choose.ts'
import { contentOf, requiredOf } from './content.ts'
import type { Compiled } from './kinds/template.ts'
import type { LintContext } from './lints/lint.ts'
import { templatesOf } from './queries.ts'
import type { Content, Finding, SendableTemplate, TemplateOwner, TemplateRow } from './schema.ts'
import { checkTemplate, compileStored, lintTemplate, type Tried, tryTemplate, type Written } from './tasks.ts'
import { variantNumber } from './variants.ts'

type WrittenTemplate = Pick<TemplateRow, 'id' | 'locale' | 'variant' | 'data' | 'compiled'>

/** Checks the content of a template, and compiles it for its locale. Throws 400 and 422 if the channel cannot send it. */
export async function checkAndCompile(
  ctx: ProjectCtx,
  channel: Channel,
  locale: string,
  given: unknown,
): Promise<{ locale: string; data: Content; compiled: Compiled }> {
  const outcome = await ctx.threads.run(ctx, checkTemplate, { channel, locale, given })
  if ('exceeded' in outcome) throw tooCostly(outcome.exceeded)
  if ('data' in outcome.value) return { locale, ...outcome.value }
  refuse(outcome.value.faults)
  throw new Error('A template was refused without a reason.')
}

const tooCostly = (exceeded: string) =>
  new ApiError('validation_failed', `The template cannot be used, because ${exceeded}. Shorten or simplify it.`)

/** Returns a function that chooses the template for a locale. The function throws 404 if the campaign has no template. */
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
export async function sendableTemplatesOf(ctx: ProjectCtx, campaignIds: CampaignId[]): Promise<SendableTemplate[]> {
  const rows = await templatesOf(ctx, campaignIds)
  const old = rows.filter(({ compiled }) => compiled === null)
  const outcomes = await ctx.threads.map(ctx, compileStored, null, old)
  const compiled = new Map(old.map(({ id }, index) => [id, outcomes[index]]))
  return rows.map((row) => {
    const outcome = compiled.get(row.id)
    return {
      id: row.id,
      campaign_id: row.campaign_id,
      locale: row.locale,
      variant: row.variant,
      updated_at: row.updated_at,
      content: outcome && 'value' in outcome ? outcome.value : contentOf({ ...row, compiled: row.compiled ?? {} }),
      required: requiredOf(row),
      attachment_bytes: row.attachment_bytes,
    }
  })
}

/** Content of one message that is not from a template, ready to be sent. Its id is not that of any template. */
export const sendableContent = (
  campaignId: CampaignId,
  { id, created_at, ...written }: { id: number; locale: string; data: Content; compiled: Compiled; created_at: Date },
): SendableTemplate => ({
  id: -id,
  campaign_id: campaignId,
  locale: written.locale,
  variant: 0,
  updated_at: created_at,
  content: contentOf(written),
  required: requiredOf(written),
  attachment_bytes: 0,
})

/** The findings in a template that is about to be saved. Throws 422. */
export async function findingsOf(ctx: ProjectCtx, channel: Channel, template: Written, about: LintContext): Promise<Finding[]> {
  const [outcome] = await ctx.threads.map(ctx, lintTemplate, { channel, about }, [template])
  if (outcome && 'value' in outcome) return outcome.value
  throw tooCostly(outcome && 'exceeded' in outcome ? outcome.exceeded : '')
}

/** The findings in templates, one list for each. */
export async function lintAll(ctx: ProjectCtx, channel: Channel, templates: Written[], about: LintContext): Promise<Finding[][]> {
  const outcomes = await ctx.threads.map(ctx, lintTemplate, { channel, about }, templates)
  return outcomes.map((outcome) => ('value' in outcome ? outcome.value : [renderFailed(notChecked(outcome))]))
}

const notChecked = (outcome: { exceeded: string } | { skipped: true }) =>
  'exceeded' in outcome ? `The template cannot be checked, because ${outcome.exceeded}.` : 'Other templates took too long to check.'

/** The finding that a user would get no message. */
export const renderFailed = (message: string): Finding => ({ kind: 'render_failed', severity: 'error', param: 'template', message })

/** The rendered content, or why rendering failed. */
export async function tryRender(ctx: ProjectCtx, channel: Channel, template: Written, scope: Scope): Promise<Tried> {
  const outcome = await ctx.threads.run(ctx, tryTemplate, { channel, template, scope })
  return 'value' in outcome ? outcome.value : { problem: `Rendering fails, because ${outcome.exceeded}.` }
}
