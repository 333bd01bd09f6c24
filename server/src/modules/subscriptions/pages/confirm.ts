/** Where people confirm that they subscribed (double opt-in). Looking at it changes nothing. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import { type Ctx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { html } from '../../../lib/html.ts'
import { findConfirmation } from '../confirmations/queries.ts'
import { readConfirmation } from '../links.ts'
import { standingsOf } from '../queries.ts'
import type { Standing } from '../schema.ts'
import { liftOptOuts, lockUser, writeStates } from '../states.ts'
import { evidenceOf, filled, gone, invalid, type PageShell, said, shown } from './page-shell.ts'
import { type PageUser, pageUserOf } from './page-user.ts'

const LINK_DAYS = 30
const DAY_MS = 86_400_000

type Asked = PageUser & { user: NonNullable<PageUser['user']>; type: Standing; requestedAt: Date }

/** Who is asked what; or the page that says why nobody is. */
async function askedBy(ctx: Ctx, call: PublicRequest): Promise<{ asked: Asked } | { reply: PublicReply }> {
  const link = readConfirmation(ctx, call.params.token ?? '')
  if (!link) return { reply: invalid(call) }
  const inProject = { ...ctx, projectId: link.projectId } as ProjectCtx
  const request = await findConfirmation(inProject, link.confirmation)
  const visitor = await pageUserOf(ctx, call, link.projectId, request?.user_id ?? null)
  const { user } = visitor
  const type = user && (await standingsOf(visitor.ctx, user.id)).find(({ id }) => id === request?.subscription_id)
  if (!request || !user || !type) return { reply: gone(visitor.site) }
  return { asked: { ...visitor, user, type, requestedAt: request.requested_at } }
}

const isOver = ({ ctx, requestedAt }: Asked) => ctx.clock.now().getTime() > requestedAt.getTime() + LINK_DAYS * DAY_MS

/** `GET /s/confirm/{token}` */
export async function showConfirmation(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const found = await askedBy(ctx, call)
  if ('reply' in found) return found.reply
  const { site, type } = found.asked
  if (type.state === 2) return confirmed(site, type)
  if (isOver(found.asked)) return said(site, 410, site.words.expired)
  const { title, heading, explain, button } = site.words.confirm
  const body = html`${type.description !== null && html`<p class="quiet">${type.description}</p>`}<p>${filled(site, explain)}</p>
<form method="post"><button name="confirm" value="yes">${button}</button></form>`
  return shown(site, 200, { title, heading: filled(site, heading, type.name), body })
}

/** `POST /s/confirm/{token}` */
export async function confirm(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const found = await askedBy(ctx, call)
  if ('reply' in found) return found.reply
  const { site, type, user } = found.asked
  if (type.state === 2) return confirmed(site, type)
  if (isOver(found.asked)) return said(site, 410, site.words.expired)
  const isThere = await inTx(found.asked.ctx, async (ctx) => {
    const user_id = await lockUser(ctx, user.id)
    if (user_id === undefined) return false
    const evidence = evidenceOf(call, 'confirmation', { site })
    await writeStates(ctx, [{ user_id, subscription_id: type.id, state: 2 }], evidence)
    await liftOptOuts(ctx, user, new Set([type.channel]))
    return true
  })
  return isThere ? confirmed(site, type) : gone(site)
}

function confirmed(site: PageShell, type: Standing): PublicReply {
  const { title, done_heading, done } = site.words.confirm
  return shown(site, 200, { title, heading: done_heading, body: html`<p>${filled(site, done, type.name)}</p>` })
}
