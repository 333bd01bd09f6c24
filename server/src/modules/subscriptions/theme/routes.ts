import { audits } from '../../../infra/http/audited.ts'
import { route } from '../../../infra/http/route.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { previewTheme } from '../theme-preview.ts'
import { PageTheme, PageThemeInput, PageThemePreview, PageThemePreviewInput } from './schema.ts'
import { getTheme, replaceTheme } from './theme.ts'

const themeAudit = audits('page_theme', { keyOf: () => 'page_theme', idOf: () => null, read: (ctx: ProjectCtx) => getTheme(ctx) })

export const themeRoutes = [
  route({
    method: 'GET',
    path: '/api/client/page-theme',
    summary: 'Read the page theme.',
    description: 'Members that are not set are null.',
    access: { secret: 'support' },
    reply: PageTheme,
    run: (ctx) => getTheme(ctx),
  }),
  route({
    method: 'PUT',
    path: '/api/client/page-theme',
    summary: 'Replace the page theme.',
    description: 'Members that are left out are removed.',
    access: { secret: 'admin' },
    audit: themeAudit('updated'),
    body: PageThemeInput,
    reply: PageTheme,
    run: (ctx, { body }) => replaceTheme(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/api/client/page-theme/preview',
    summary: 'Preview the preference page with a theme.',
    description:
      'The preview shows the page for a user who has not made any choices, with the project’s subscription types. Without `theme`, the project’s theme is used.',
    access: { secret: 'support' },
    audit: { none: 'nothing is saved' },
    body: PageThemePreviewInput,
    reply: PageThemePreview,
    run: (ctx, { body }) => previewTheme(ctx, body),
  }),
]
