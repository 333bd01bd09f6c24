/** Finds the user and the project of a hosted page. */

import type { PublicRequest } from '../../../infra/http/public-page.ts'
import { asSystem, type Ctx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { hasAddresses } from '../../../lib/channels.ts'
import type { MessageId, ProjectId, UserId } from '../../../lib/ids.ts'
import { findProject } from '../../projects/index.ts'
import { findMergedInto, findUsers, type UserRow } from '../../users/index.ts'
import type { KnownAddress } from '../address-users.ts'
import { type LinkedTo, readLink, readPreview } from '../links.ts'
import { findSubscription } from '../queries.ts'
import { getTheme } from '../theme/theme.ts'
import { type PageShell, shellOf } from './page-shell.ts'

export type PageUser = {
  ctx: ProjectCtx
  shell: PageShell
  /** The user of the link, or the remaining user of a merge; undefined if erased, or if the link is one of a test send. */
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

/** The address that a message went to; null if it is no longer known. */
export type FindRecipient = (ctx: ProjectCtx, messageId: MessageId) => Promise<string | null>

/** The address that the message of a link went to, if the type of the link is of a channel with addresses. */
export async function addressOfLink(ctx: ProjectCtx, link: LinkedTo, findRecipient: FindRecipient): Promise<KnownAddress | undefined> {
  const type = link.messageId === null ? undefined : await findSubscription(ctx, link.subscriptionId)
  if (!type || link.messageId === null || !hasAddresses(type.channel)) return undefined
  const address = await findRecipient(ctx, link.messageId)
  return address === null ? undefined : { channel: type.channel, address }
}

/** The page user of a link in a message; null if the signature is wrong. */
export async function pageUserOfLink(ctx: Ctx, call: PublicRequest): Promise<(PageUser & { link: LinkedTo }) | null> {
  const link = readLink(ctx, call.params.token ?? '')
  return link && { ...(await pageUserOf(ctx, call, link.projectId, link.userId)), link }
}

/** The page user of a link that only shows the preference page; null if the signature is wrong. */
export async function pageUserOfPreview(ctx: Ctx, call: PublicRequest): Promise<PageUser | null> {
  const preview = readPreview(ctx, call.params.token ?? '')
  return preview && pageUserOf(ctx, call, preview.projectId, preview.userId)
}
