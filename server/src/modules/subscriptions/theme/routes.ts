import { route } from '../../../infra/http/route.ts'
import { PageTheme, PageThemeInput } from './schema.ts'
import { getTheme, replaceTheme } from './theme.ts'

export const themeRoutes = [
  route({
    method: 'GET',
    path: '/api/client/page-theme',
    summary: 'Read how the unsubscribe and preference pages look.',
    access: { secret: 'support' },
    reply: PageTheme,
    run: (ctx) => getTheme(ctx),
  }),
  route({
    method: 'PUT',
    path: '/api/client/page-theme',
    summary: 'Replace how the unsubscribe and preference pages look; what is not given is unset.',
    access: { secret: 'admin' },
    body: PageThemeInput,
    reply: PageTheme,
    run: (ctx, { body }) => replaceTheme(ctx, body),
  }),
]
