import { sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type PageTheme, PageThemeRow } from './schema.ts'

export const findTheme = (ctx: ProjectCtx) =>
  ctx.db.first(
    PageThemeRow,
    sql`select brand_name, logo_url, accent_color, footer_text from page_themes where project_id = ${ctx.projectId}`,
  )

export const saveTheme = (ctx: ProjectCtx, { brand_name, logo_url, accent_color, footer_text }: PageTheme) =>
  ctx.db.run(
    sql`insert into page_themes (project_id, brand_name, logo_url, accent_color, footer_text, updated_at)
        values (${ctx.projectId}, ${brand_name}, ${logo_url}, ${accent_color}, ${footer_text}, ${ctx.clock.now()})
        on conflict (project_id) do update
        set brand_name = excluded.brand_name, logo_url = excluded.logo_url, accent_color = excluded.accent_color,
            footer_text = excluded.footer_text, updated_at = excluded.updated_at`,
  )
