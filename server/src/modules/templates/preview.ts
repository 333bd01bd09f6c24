import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { requireUser, type UserRow } from '../users/index.ts'
import { findAttachment, listAttachments } from './attachments.queries.ts'
import type { PreviewAttachment } from './attachments.ts'
import { templatesOf } from './queries.ts'
import { checkAndCompile, lintAll, renderFailed, templateChooser, tryRender } from './ready.ts'
import { asCallerSees, lintContextOf, sampleUser, scopeFor } from './sample.ts'
import type { LintReport, Preview, PreviewInput, TemplateOwner } from './schema.ts'
import { variantName } from './variants.ts'

/** Renders a stored or a given template as a preview. Throws 400, 404, 422. */
export async function previewTemplate(ctx: ProjectCtx, campaign: TemplateOwner, input: PreviewInput): Promise<Preview> {
  const locale = input.locale === undefined ? undefined : normaliseLocale(input.locale)
  const user = await userFor(ctx, input, locale)
  const template = input.template
    ? {
        id: null,
        variant: input.variant ?? 'A',
        ...(await checkAndCompile(ctx, campaign.channel, locale ?? ctx.project.locale, input.template)),
      }
    : await storedTemplate(ctx, campaign, locale ?? user.locale, input.variant)
  const result = await tryRender(ctx, campaign.channel, template, await scopeFor(ctx, campaign, user, input.data ?? {}))
  const [findings = []] = await lintAll(ctx, campaign.channel, [template], await lintContextOf(ctx, campaign))
  return {
    locale: template.locale,
    variant: template.variant,
    ...('problem' in result ? { content: null, size_bytes: 0 } : { content: result.content, ...result.measures }),
    attachments: template.id === null ? [] : await previewAttachments(ctx, template.id),
    findings: 'problem' in result ? [renderFailed(result.problem), ...findings] : findings,
  }
}

/** The files of a template. Those that the HTML shows have their content. */
async function previewAttachments(ctx: ProjectCtx, templateId: number): Promise<PreviewAttachment[]> {
  const files: PreviewAttachment[] = []
  for (const { updated_at: _, ...file } of await listAttachments(ctx, templateId)) {
    const whole = file.content_id === null ? undefined : await findAttachment(ctx, templateId, file.name)
    files.push({ ...file, ...(whole && { content: whole.content }) })
  }
  return files
}

async function storedTemplate(ctx: ProjectCtx, campaign: TemplateOwner, locale: string | null, variant: string | undefined) {
  const template = (await templateChooser(ctx, campaign, variant))(locale)
  return { ...template, variant: variantName(template.variant) }
}

// Values in `data` replace those of the user. With `data` alone, no values of a sample are used.
async function userFor(ctx: ProjectCtx, { user, data }: PreviewInput, locale: string | undefined): Promise<UserRow> {
  if (user !== undefined) return asCallerSees(ctx, await requireUser(ctx, user))
  const sample = await sampleUser(ctx, locale)
  return data === undefined ? sample : { ...sample, data: {} }
}

/** The findings in the templates of a campaign. */
export async function lintTemplates(ctx: ProjectCtx, campaign: TemplateOwner): Promise<LintReport> {
  const about = await lintContextOf(ctx, campaign)
  const templates = await templatesOf(ctx, [campaign.id])
  const findings = await lintAll(ctx, campaign.channel, templates, about)
  return {
    results: templates.map(({ locale, variant }, index) => ({ locale, variant: variantName(variant), findings: findings[index] ?? [] })),
  }
}
