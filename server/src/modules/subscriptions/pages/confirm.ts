/** The page on which users confirm a subscription (double opt-in). Reading it changes nothing. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import { type Ctx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { html } from '../../../lib/html.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { UserRow } from '../../users/index.ts'
import { lockAddressUsers } from '../address-users.ts'
import { findConfirmation } from '../confirmations/queries.ts'
import { isOfDeletedTime } from '../confirmations/retention.ts'
import { readConfirmation } from '../links.ts'
import { typesWithState } from '../queries.ts'
import type { TypeWithState } from '../schema.ts'
import { writeStates } from '../states.ts'
import { normalisedOf } from '../suppressions/addresses.ts'
import { liftOptOuts } from './opt-ins.ts'
import { evidenceOf, filled, invalid, type PageShell, removed, renderPage, textPage } from './page-shell.ts'
import { type PageUser, pageUserOf } from './page-user.ts'

const LINK_DAYS = 30

type Confirming = PageUser & { user: UserRow; type: TypeWithState; requestedAt: Date; isAbout: ((address: string) => boolean) | null }

/** The user and the type to confirm, or a page that says why there is nothing to confirm. */
async function confirmingOf(ctx: Ctx, call: PublicRequest): Promise<{ confirming: Confirming } | { reply: PublicReply }> {
  const link = readConfirmation(ctx, call.params.token ?? '')
  if (!link) return { reply: invalid(call) }
  const inProject = { ...ctx, projectId: link.projectId } as ProjectCtx
  const request = await findConfirmation(inProject, link.confirmation)
  const pageUser = await pageUserOf(ctx, call, link.projectId, request?.user_id ?? null)
  const { user, shell } = pageUser
  if (!request && (await isOfDeletedTime(pageUser.ctx, link.confirmation))) return { reply: textPage(shell, 410, shell.words.expired) }
  const type = user && (await typesWithState(pageUser.ctx, user.id)).find(({ id }) => id === request?.subscription_id)
  if (!request || !user || !type) return { reply: removed(shell) }
  return { confirming: { ...pageUser, user, type, requestedAt: request.requested_at, isAbout: link.isAbout } }
}

/** A link is also over once the user has another address, for which it confirms nothing. */
function isOver({ ctx, requestedAt, type, isAbout }: Confirming, user: UserRow): boolean {
  if (ctx.clock.now().getTime() > requestedAt.getTime() + LINK_DAYS * DAY_MS) return true
  return isAbout !== null && !isAbout(normalisedOf(ctx, type.channel, user) ?? '')
}

/** `GET /s/confirm/{token}` */
export async function showConfirmation(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const found = await confirmingOf(ctx, call)
  if ('reply' in found) return found.reply
  const { shell, type, user } = found.confirming
  if (type.state === 2) return confirmed(shell, type)
  if (isOver(found.confirming, user)) return textPage(shell, 410, shell.words.expired)
  const { title, heading, explain, button } = shell.words.confirm
  const body = html`${type.description !== null && html`<p class="quiet"><bdi>${type.description}</bdi></p>`}<p>${filled(shell, explain)}</p>
<form method="post"><button name="confirm" value="yes">${button}</button></form>`
  return renderPage(shell, 200, { title, heading: filled(shell, heading, type.name), body })
}

/** `POST /s/confirm/{token}` */
export async function confirm(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const found = await confirmingOf(ctx, call)
  if ('reply' in found) return found.reply
  const { confirming } = found
  const { shell, type, isAbout } = confirming
  if (type.state === 2) return confirmed(shell, type)
  return inTx(confirming.ctx, async (ctx) => {
    const users = await lockAddressUsers(ctx, confirming.user.id, new Set([type.channel]))
    if (!users) return removed(shell)
    const { user } = users
    if (isOver(confirming, user)) return textPage(shell, 410, shell.words.expired)
    const evidence = evidenceOf(call, 'confirmation', { shell })
    await writeStates(ctx, [{ user_id: user.id, subscription_id: type.id, state: 2 }], evidence)
    // A link without an address may have been sent to another one.
    const address = isAbout === null ? null : normalisedOf(ctx, type.channel, user)
    const known = address === null ? undefined : { channel: type.channel, address }
    await liftOptOuts(ctx, users, { types: [type], known }, evidence)
    return confirmed(shell, type)
  })
}

function confirmed(shell: PageShell, type: TypeWithState): PublicReply {
  const { title, done_heading, done } = shell.words.confirm
  return renderPage(shell, 200, { title, heading: done_heading, body: html`<p>${filled(shell, done, type.name)}</p>` })
}
