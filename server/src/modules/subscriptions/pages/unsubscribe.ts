/** The unsubscribe page of one message, with its button (RFC 8058). Reading it changes nothing. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { html } from '../../../lib/html.ts'
import type { LinkedTo } from '../links.ts'
import { typesWithState } from '../queries.ts'
import type { TypeWithState } from '../schema.ts'
import { unsubscribeBy } from '../unsubscribe.ts'
import { evidenceOf, filled, invalid, type PageShell, removed, renderPage } from './page-shell.ts'
import { addressOfLink, type FindRecipient, type PageUser, pageUserOfLink } from './page-user.ts'

/** `GET /s/u/{token}` */
export async function showUnsubscribe(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const pageUser = await pageUserOfLink(ctx, call)
  if (!pageUser) return invalid(call)
  const { shell, link } = pageUser
  const type = await typeOf(pageUser)
  if (!type) return removed(shell)
  return type.state === 0 && link.userId !== null ? donePage(shell, type, call) : askPage(shell, type, call, link)
}

/** The type of a link with the state of its user; undefined if the user is erased. */
const typeOf = async ({ ctx, user, link }: PageUser & { link: LinkedTo }): Promise<TypeWithState | undefined> =>
  user || link.userId === null ? (await typesWithState(ctx, user?.id ?? null)).find(({ id }) => id === link.subscriptionId) : undefined

/** Does a multipart form have the value of RFC 8058? A part has headers, an empty line and the value. */
function hasOneClickPart(text: string): boolean {
  let isNamed = false
  let isValue = false
  for (const line of text.split(/\r?\n/)) {
    if (isValue && /^One-Click$/i.test(line)) return true
    isValue = isNamed && line === ''
    isNamed = line !== '' && (isNamed || /name="?List-Unsubscribe/i.test(line))
  }
  return false
}

/** Mail programs post this automatically, as a form in either encoding. */
function isOneClick({ headers, body }: Pick<PublicRequest, 'headers' | 'body'>): boolean {
  const text = body.toString('latin1')
  if (/^multipart\//i.test(headers['content-type'] ?? '')) return hasOneClickPart(text)
  return new URLSearchParams(text.trim()).get('List-Unsubscribe') === 'One-Click'
}

/** `POST /s/u/{token}`: unsubscribes every user with the address. Repeating it changes nothing. */
export async function unsubscribe(ctx: Ctx, call: PublicRequest, findRecipient: FindRecipient): Promise<PublicReply> {
  const pageUser = await pageUserOfLink(ctx, call)
  if (!pageUser) return invalid(call)
  const { shell, link } = pageUser
  const isClick = isOneClick(call)
  if (link.userId === null) return isClick ? plain(200, TEST) : showUnsubscribe(ctx, call)
  const evidence = evidenceOf(call, isClick ? 'one_click' : 'unsubscribe_page', { messageId: link.messageId, ...(!isClick && { shell }) })
  const known = await addressOfLink(pageUser.ctx, link, findRecipient)
  const { userId, subscriptionId } = link
  const became = await unsubscribeBy(pageUser.ctx, { userId, subscriptionId, address: known?.address, ...evidence })
  // Of a transactional type nothing changes, so no mail program may show that it did.
  const status = became === 'transactional' ? TRANSACTIONAL_STATUS : 200
  if (isClick) return plain(status, became === 'transactional' ? TRANSACTIONAL : 'Unsubscribed.\n')
  const type = await typeOf(pageUser)
  return type ? { ...donePage(shell, type, call), status } : removed(shell)
}

const plain = (status: number, body: string): PublicReply => ({ status, type: 'text/plain; charset=utf-8', body })

const TEST = 'This is a test message. Nothing was changed.\n'
const TRANSACTIONAL_STATUS = 422
const TRANSACTIONAL = 'Messages of this type are transactional, so one click does not stop them. Nothing was changed.\n'

const choose = (shell: PageShell, { params }: PublicRequest) =>
  html`<p><a href="../p/${params.token}">${filled(shell, shell.words.preferences.link)}</a></p>`

function askPage(shell: PageShell, type: TypeWithState, call: PublicRequest, { userId }: LinkedTo): PublicReply {
  const { title, heading, explain, button } = shell.words.unsubscribe
  if (type.is_transactional) return transactionalPage(shell, type, call)
  const notice = userId === null ? { notice: shell.words.test } : {}
  const body = html`${about(type)}<p>${filled(shell, explain)}</p>
<form method="post"><button name="unsubscribe" value="yes">${button}</button></form>
<section>${choose(shell, call)}</section>`
  return renderPage(shell, 200, { title, heading: filled(shell, heading, type.name), body, ...notice })
}

const about = ({ description }: TypeWithState) => description !== null && html`<p class="quiet"><bdi>${description}</bdi></p>`

function donePage(shell: PageShell, type: TypeWithState, call: PublicRequest): PublicReply {
  const { title, done_heading, done } = shell.words.unsubscribe
  if (type.is_transactional) return transactionalPage(shell, type, call)
  const body = html`<p>${filled(shell, done, type.name)}</p><section>${choose(shell, call)}</section>`
  return renderPage(shell, 200, { title, heading: done_heading, body })
}

// Transactional messages are sent anyway, so the page does not promise to stop them.
function transactionalPage(shell: PageShell, type: TypeWithState, call: PublicRequest): PublicReply {
  const { title, transactional_heading, transactional } = shell.words.unsubscribe
  const body = html`${about(type)}<p>${filled(shell, transactional, type.name)}</p>${choose(shell, call)}`
  return renderPage(shell, 200, { title, heading: transactional_heading, body })
}
