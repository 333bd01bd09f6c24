/** The preference centre: the public subscription types of a project whose messages reach the user, with a box for each. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import { CHANNELS, type Channel, channels } from '../../../lib/channels.ts'
import { type Html, html } from '../../../lib/html.ts'
import type { UserId } from '../../../lib/ids.ts'
import { findUsers, type UserRow } from '../../users/index.ts'
import type { Evidence } from '../consents/schema.ts'
import { typesWithState } from '../queries.ts'
import type { TypeWithState } from '../schema.ts'
import { liftOptOuts, lockUser, writeStates } from '../states.ts'
import { addressesOf, channelsUnsubscribedFromAll, suppress } from '../suppressions/service.ts'
import { canReceive, choicesOf, type Form, isAwaiting, isChoice, isWanted, readForm } from './choices.ts'
import { evidenceOf, filled, invalid, type PageShell, removed, renderPage } from './page-shell.ts'
import { pageUserOfLink } from './page-user.ts'

const NOTICES = ['saved', 'saved_confirm', 'saved_all'] as const

/** `GET /s/p/{token}` */
export async function showPreferences(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const pageUser = await pageUserOfLink(ctx, call)
  if (!pageUser) return invalid(call)
  const { shell, user } = pageUser
  if (!user) return removed(shell)
  const types = (await typesWithState(pageUser.ctx, user.id)).filter(({ channel }) => canReceive(channel, user))
  const { title, explain, none } = shell.words.preferences
  const choices = types.filter(isChoice)
  const unsubscribedChannels = await channelsUnsubscribedFromAll(pageUser.ctx, addressesOf(user))
  const body = html`<p>${filled(shell, choices.length > 0 ? explain : none)}</p>
${choices.length > 0 && chooser(shell, choices, unsubscribedChannels)}
${alwaysSent(
  shell,
  types.filter(({ is_public, is_transactional }) => is_public && is_transactional),
)}
${unsubscribeFromAll(shell)}`
  const saved = NOTICES.find((name) => name === call.query.get('saved'))
  return renderPage(shell, 200, { title, heading: title, body, ...(saved && { notice: shell.words.preferences[saved] }) })
}

function chooser(shell: PageShell, choices: TypeWithState[], unsubscribedChannels: Set<Channel>): Html {
  const { save } = shell.words.preferences
  const groups = CHANNELS.map((channel) => ({ channel, types: choices.filter((type) => type.channel === channel) }))
  return html`<form method="post">
${groups
  .filter(({ types }) => types.length > 0)
  .map(
    ({ channel, types }) =>
      html`<fieldset><legend>${channels[channel].heading?.[shell.language]}</legend>${types.map((type) => choice(shell, type, isWanted(type, unsubscribedChannels)))}</fieldset>`,
  )}
<button>${save}</button>
</form>`
}

function choice(shell: PageShell, type: TypeWithState, wanted: boolean): Html {
  const hints = [type.description, wanted && isAwaiting(type) && shell.words.preferences.awaiting].filter(Boolean)
  return html`<label><input type="checkbox" name="on" value="${type.id}"${wanted && html` checked`}><span><bdi>${type.name}</bdi>${hints.map(
    (hint) => html`<span class="quiet"><bdi>${hint}</bdi></span>`,
  )}</span><input type="hidden" name="shown" value="${type.id}"></label>`
}

function alwaysSent(shell: PageShell, types: TypeWithState[]): Html | false {
  if (types.length === 0) return false
  const { always_heading, always } = shell.words.preferences
  return html`<section><h2>${always_heading}</h2><p>${always}</p><ul>${types.map(
    ({ name, description }) =>
      html`<li><bdi>${name}</bdi>${description !== null && html`<br><bdi class="quiet">${description}</bdi>`}</li>`,
  )}</ul></section>`
}

function unsubscribeFromAll(shell: PageShell): Html {
  const { all_heading, all, all_button } = shell.words.preferences
  return html`<section><h2>${all_heading}</h2><p>${filled(shell, all)}</p>
<form method="post"><button class="plain" name="all" value="yes">${all_button}</button></form></section>`
}

/** `POST /s/p/{token}`: saves and redirects to the page, so that reloading it does not save again. */
export async function savePreferences(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const pageUser = await pageUserOfLink(ctx, call)
  if (!pageUser) return invalid(call)
  const { shell, link } = pageUser
  const form = readForm(call.body)
  const evidence = evidenceOf(call, 'preference_page', { shell, messageId: link.messageId })
  const saved = await inTx(pageUser.ctx, async (ctx) => {
    const id = await lockUser(ctx, link.userId)
    const [user] = id === undefined ? [] : await findUsers(ctx, [id])
    if (!user) return null
    return form.all ? saveUnsubscribeFromAll(ctx, user, evidence) : saveChoices(ctx, user, form, evidence)
  })
  if (saved === null) return removed(shell)
  return { status: 303, headers: { location: `?saved=${saved}`, 'referrer-policy': 'no-referrer' } }
}

async function saveChoices(ctx: InTx, user: UserRow, form: Form, evidence: Evidence): Promise<(typeof NOTICES)[number]> {
  const { changes, channels, confirms } = choicesOf(
    await typesWithState(ctx, user.id),
    await channelsUnsubscribedFromAll(ctx, addressesOf(user)),
    form,
  )
  await writeStates(ctx, of(user.id, changes), evidence, { keepsConfirmed: true })
  await liftOptOuts(ctx, user, channels)
  return confirms ? 'saved_confirm' : 'saved'
}

async function saveUnsubscribeFromAll(ctx: InTx, user: UserRow, evidence: Evidence): Promise<(typeof NOTICES)[number]> {
  const proof = { ...evidence.proof, everything: true }
  const changes = (await typesWithState(ctx, user.id)).map(({ id }) => ({ subscription_id: id, state: 0 as const }))
  await writeStates(ctx, of(user.id, changes), { ...evidence, proof })
  await suppress(
    ctx,
    addressesOf(user).map((address) => ({ ...address, reason: 'unsubscribed_all', source: { by: evidence.source, ...proof } })),
  )
  return 'saved_all'
}

const of = <C>(user_id: UserId, changes: C[]) => changes.map((change) => ({ user_id, ...change }))
