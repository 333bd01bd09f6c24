import type { Static } from 'typebox'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { findProject } from '../projects/index.ts'
import { shellIn } from './pages/page-shell.ts'
import { previewPreferences } from './pages/preferences.ts'
import type { PageThemePreviewInput } from './theme/schema.ts'
import { getTheme, withDefaults } from './theme/theme.ts'

/** Draws the preference page with a theme that need not be saved. */
export async function previewTheme(ctx: ProjectCtx, { theme, locale }: Static<typeof PageThemePreviewInput>): Promise<{ html: string }> {
  const project = await findProject(ctx, ctx.projectId)
  const owner = { ...project, theme: theme ? withDefaults(theme) : await getTheme(ctx) }
  const { body } = await previewPreferences(ctx, shellIn([locale, project.locale], owner))
  return { html: String(body) }
}
