import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { requireUser, type UserRow } from '../users/index.ts'
import { measure } from './content.ts'
import { templatesOf } from './queries.ts'
import { checkAndCompile, findingsOf, templateChooser, tryRender } from './ready.ts'
import { asCallerSees, lintContextOf, sampleUser, scopeFor } from './sample.ts'
import type { Finding, LintReport, Preview, PreviewInput, TemplateOwner } from './schema.ts'
import { variantName } from './variants.ts'

/** Renders a stored or a given template as a preview. Throws 400, 404, 422. */
export async function previewTemplate(ctx: ProjectCtx, campaign: TemplateOwner, input: PreviewInput): Promise<Preview> {
  const locale = input.locale === undefined ? undefined : normaliseLocale(input.locale)
  const user = await userFor(ctx, input, locale)
  const template = input.template
    ? { locale: locale ?? ctx.project.locale, variant: input.variant ?? 'A', ...(await checkAndCompile(campaign.channel, input.template)) }
    : await storedTemplate(ctx, campaign, locale ?? user.locale, input.variant)
  const result = tryRender(campaign.channel, template, await scopeFor(ctx, campaign, user, input.data ?? {}))
  const findings = findingsOf(campaign.channel, template, await lintContextOf(ctx, campaign))
  const content = 'content' in result ? result.content : null
  return {
    locale: template.locale,
    variant: template.variant,
    content,
    ...(content === null ? { size_bytes: 0 } : measure(campaign.channel, content)),
    findings: 'problem' in result ? [renderFailed(result.problem), ...findings] : findings,
  }
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

const renderFailed = (message: string): Finding => ({ kind: 'render_failed', severity: 'error', param: 'template', message })

/** The findings in the templates of a campaign. */
export async function lintTemplates(ctx: ProjectCtx, campaign: TemplateOwner): Promise<LintReport> {
  const about = await lintContextOf(ctx, campaign)
  const templates = await templatesOf(ctx, [campaign.id])
  return {
    results: templates.map((template) => ({
      locale: template.locale,
      variant: variantName(template.variant),
      findings: findingsOf(campaign.channel, template, about),
    })),
  }
}
