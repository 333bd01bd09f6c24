import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import * as queries from './queries.ts'
import type { PageTheme, PageThemeInput } from './schema.ts'

const PLAIN: PageTheme = { brand_name: null, logo_url: null, accent_color: null, footer_text: null }

/** The page theme of the project. */
export const getTheme = async (ctx: ProjectCtx): Promise<PageTheme> => (await queries.findTheme(ctx)) ?? PLAIN

/** The theme of an input: omitted members and empty texts are null. */
export const withDefaults = (input: PageThemeInput): PageTheme => ({ ...PLAIN, ...input, footer_text: input.footer_text || null })

/** Replaces the page theme. Members that are left out and empty texts are removed. */
export async function replaceTheme(ctx: ProjectCtx, input: PageThemeInput): Promise<PageTheme> {
  const theme = withDefaults(input)
  await queries.saveTheme(ctx, theme)
  return theme
}
