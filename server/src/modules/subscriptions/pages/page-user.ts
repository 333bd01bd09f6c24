/** Who follows a link, and whose page they come to. */

import type { PageCall } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId, UserId } from '../../../lib/ids.ts'
import { findProject } from '../../projects/index.ts'
import { findSurvivors, findUsers, type UserRow } from '../../users/index.ts'
import { type LinkedTo, readLink } from '../links.ts'
import { getTheme } from '../theme/theme.ts'
import { type Site, siteOf } from './page-shell.ts'

export type Visitor = {
  ctx: ProjectCtx
  site: Site
  /** Whom the link means now; undefined when they are gone. */
  person: UserRow | undefined
}

/** The visitor of a page about this person; `userId` is null when nobody knows any more who was meant. */
export async function visitorOf(ctx: Ctx, call: PageCall, projectId: ProjectId, userId: UserId | null): Promise<Visitor> {
  const project = await findProject(ctx, projectId)
  const inProject = asSystem(ctx, projectId, project)
  const [survivor] = userId === null ? [] : await findSurvivors(ctx, projectId, [userId])
  const [person] = survivor ? await findUsers(inProject, [survivor.survivor_id]) : []
  const theme = await getTheme(inProject)
  return { ctx: inProject, site: siteOf(call, { name: project.name, locale: project.locale, theme }, person?.locale ?? null), person }
}

/** The visitor who came by a link of a message; null when nobody signed it. */
export async function followed(ctx: Ctx, call: PageCall): Promise<(Visitor & { link: LinkedTo }) | null> {
  const link = readLink(ctx, call.params.token ?? '')
  return link && { ...(await visitorOf(ctx, call, link.projectId, link.userId)), link }
}
