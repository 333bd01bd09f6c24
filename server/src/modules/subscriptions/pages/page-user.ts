/** Who follows a link, and whose page they come to. */

import type { PublicRequest } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId, UserId } from '../../../lib/ids.ts'
import { findProject } from '../../projects/index.ts'
import { findMergedInto, findUsers, type UserRow } from '../../users/index.ts'
import { type LinkedTo, readLink } from '../links.ts'
import { getTheme } from '../theme/theme.ts'
import { type PageShell, siteOf } from './page-shell.ts'

export type PageUser = {
  ctx: ProjectCtx
  site: PageShell
  /** Whom the link means now; undefined when they are gone. */
  user: UserRow | undefined
}

/** The visitor of a page about this person; `userId` is null when nobody knows any more who was meant. */
export async function pageUserOf(ctx: Ctx, call: PublicRequest, projectId: ProjectId, userId: UserId | null): Promise<PageUser> {
  const project = await findProject(ctx, projectId)
  const inProject = asSystem(ctx, projectId, project)
  const [mergedInto] = userId === null ? [] : await findMergedInto(ctx, projectId, [userId])
  const [user] = mergedInto ? await findUsers(inProject, [mergedInto.merged_into]) : []
  const theme = await getTheme(inProject)
  return { ctx: inProject, site: siteOf(call, { name: project.name, locale: project.locale, theme }, user?.locale ?? null), user }
}

/** The visitor who came by a link of a message; null when nobody signed it. */
export async function followed(ctx: Ctx, call: PublicRequest): Promise<(PageUser & { link: LinkedTo }) | null> {
  const link = readLink(ctx, call.params.token ?? '')
  return link && { ...(await pageUserOf(ctx, call, link.projectId, link.userId)), link }
}
