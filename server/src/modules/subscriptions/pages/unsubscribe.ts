/** The page of one message: what unsubscribing means, and the button (RFC 8058). Looking at it changes nothing. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { html } from '../../../lib/html.ts'
import { standingsOf } from '../queries.ts'
import type { Standing } from '../schema.ts'
import { unsubscribeBy } from '../states.ts'
import { evidenceOf, filled, gone, invalid, type PageShell, shown } from './page-shell.ts'
import { followed } from './page-user.ts'

/** `GET /s/u/{token}` */
export async function showUnsubscribe(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const visitor = await followed(ctx, call)
  if (!visitor) return invalid(call)
  const { site, user, link } = visitor
  const type = user && (await standingsOf(visitor.ctx, user.id)).find(({ id }) => id === link.subscriptionId)
  if (!type) return gone(site)
  return type.state === 0 ? done(site, type, call) : asked(site, type, call)
}

const ONE_CLICK_PART = /name="?List-Unsubscribe"?[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\r?$/im

/** Mail programs post this by themselves, as a form of either kind. */
function isOneClick({ headers, body }: Pick<PublicRequest, 'headers' | 'body'>): boolean {
  const text = body.toString('latin1')
  if (/^multipart\//i.test(headers['content-type'] ?? '')) return ONE_CLICK_PART.test(text)
  return new URLSearchParams(text.trim()).get('List-Unsubscribe') === 'One-Click'
}

/** `POST /s/u/{token}`: whoever posts here wants to unsubscribe, and may do so as often as they like. */
export async function unsubscribe(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const visitor = await followed(ctx, call)
  if (!visitor) return invalid(call)
  const { site, user, link } = visitor
  const isClick = isOneClick(call)
  const evidence = evidenceOf(call, isClick ? 'one_click' : 'unsubscribe_page', { messageId: link.messageId, ...(!isClick && { site }) })
  await unsubscribeBy(visitor.ctx, { userId: link.userId, subscriptionId: link.subscriptionId, ...evidence })
  if (isClick) return { status: 200, type: 'text/plain; charset=utf-8', body: 'Unsubscribed.\n' }
  const type = user && (await standingsOf(visitor.ctx, user.id)).find(({ id }) => id === link.subscriptionId)
  return type ? done(site, type, call) : gone(site)
}

const choose = (site: PageShell, { params }: PublicRequest) =>
  html`<p><a href="../p/${params.token}">${filled(site, site.words.preferences.link)}</a></p>`

function asked(site: PageShell, type: Standing, call: PublicRequest): PublicReply {
  const { title, heading, explain, button } = site.words.unsubscribe
  if (type.is_transactional) return transactional(site, type, call)
  const body = html`${about(type)}<p>${filled(site, explain)}</p>
<form method="post"><button name="unsubscribe" value="yes">${button}</button></form>
<section>${choose(site, call)}</section>`
  return shown(site, 200, { title, heading: filled(site, heading, type.name), body })
}

const about = ({ description }: Standing) => description !== null && html`<p class="quiet">${description}</p>`

function done(site: PageShell, type: Standing, call: PublicRequest): PublicReply {
  const { title, done_heading, done } = site.words.unsubscribe
  if (type.is_transactional) return transactional(site, type, call)
  const body = html`<p>${filled(site, done, type.name)}</p><section>${choose(site, call)}</section>`
  return shown(site, 200, { title, heading: done_heading, body })
}

// To promise that nothing more comes would not be true.
function transactional(site: PageShell, type: Standing, call: PublicRequest): PublicReply {
  const { title, transactional_heading, transactional } = site.words.unsubscribe
  const body = html`${about(type)}<p>${filled(site, transactional, type.name)}</p>${choose(site, call)}`
  return shown(site, 200, { title, heading: transactional_heading, body })
}
