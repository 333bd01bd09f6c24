/** Finds the user and the project of a hosted page. */

import type { PublicRequest } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId, UserId } from '../../../lib/ids.ts'
import { findProject } from '../../projects/index.ts'
import { findMergedInto, findUsers, type UserRow } from '../../users/index.ts'
import { type LinkedTo, readLink } from '../links.ts'
import { getTheme } from '../theme/theme.ts'
import { type PageShell, shellOf } from './page-shell.ts'

export type PageUser = {
  ctx: ProjectCtx
  shell: PageShell
  /** The user of the link, or the remaining user of a merge; undefined if erased. */
  user: UserRow | undefined
}

/** The page user with a user id, which is null if it is no longer known. */
export async function pageUserOf(ctx: Ctx, call: PublicRequest, projectId: ProjectId, userId: UserId | null): Promise<PageUser> {
  const project = await findProject(ctx, projectId)
  const inProject = asSystem(ctx, projectId, project)
  const [mergedInto] = userId === null ? [] : await findMergedInto(ctx, projectId, [userId])
  const [user] = mergedInto ? await findUsers(inProject, [mergedInto.merged_into]) : []
  const theme = await getTheme(inProject)
  return { ctx: inProject, shell: shellOf(call, { name: project.name, locale: project.locale, theme }, user?.locale ?? null), user }
}

/** The page user of a link in a message; null if the signature is wrong. */
export async function pageUserOfLink(ctx: Ctx, call: PublicRequest): Promise<(PageUser & { link: LinkedTo }) | null> {
  const link = readLink(ctx, call.params.token ?? '')
  return link && { ...(await pageUserOf(ctx, call, link.projectId, link.userId)), link }
}
