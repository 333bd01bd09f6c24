import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import * as queries from './queries.ts'
import type { PageTheme, PageThemeInput } from './schema.ts'

const PLAIN: PageTheme = { brand_name: null, logo_url: null, accent_color: null, footer_text: null }

/** How the pages of the project look. */
export const getTheme = async (ctx: ProjectCtx): Promise<PageTheme> => (await queries.findTheme(ctx)) ?? PLAIN

/** Replaces it; what is not given is unset, and so is empty text. */
export async function replaceTheme(ctx: ProjectCtx, input: PageThemeInput): Promise<PageTheme> {
  const theme = { ...PLAIN, ...input, footer_text: input.footer_text || null }
  await queries.saveTheme(ctx, theme)
  return theme
}
