/** The preference centre: everything that a project sends people, with a box for each. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import { CHANNELS, type Channel, channels } from '../../../lib/channels.ts'
import { type Html, html } from '../../../lib/html.ts'
import type { UserId } from '../../../lib/ids.ts'
import { findUsers, type UserRow } from '../../users/index.ts'
import type { Evidence } from '../consents/schema.ts'
import { standingsOf } from '../queries.ts'
import type { Standing } from '../schema.ts'
import { liftOptOuts, lockUser, writeStates } from '../states.ts'
import { addressesOf, channelsUnsubscribedFromAll, suppress } from '../suppressions/service.ts'
import { choicesOf, type Form, isAwaiting, isChoice, isWanted, readForm } from './choices.ts'
import { evidenceOf, filled, gone, invalid, type PageShell, shown } from './page-shell.ts'
import { followed } from './page-user.ts'

const NOTICES = ['saved', 'saved_confirm', 'saved_all'] as const

/** `GET /s/p/{token}` */
export async function showPreferences(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const visitor = await followed(ctx, call)
  if (!visitor) return invalid(call)
  const { site, user } = visitor
  if (!user) return gone(site)
  const standings = await standingsOf(visitor.ctx, user.id)
  const { title, explain, none } = site.words.preferences
  const choices = standings.filter(isChoice)
  const givenUp = await channelsUnsubscribedFromAll(visitor.ctx, addressesOf(user))
  const body = html`<p>${filled(site, choices.length > 0 ? explain : none)}</p>
${choices.length > 0 && chooser(site, choices, givenUp)}
${always(
  site,
  standings.filter(({ is_public, is_transactional }) => is_public && is_transactional),
)}
${nothing(site)}`
  const saved = NOTICES.find((name) => name === call.query.get('saved'))
  return shown(site, 200, { title, heading: title, body, ...(saved && { notice: site.words.preferences[saved] }) })
}

function chooser(site: PageShell, choices: Standing[], givenUp: Set<Channel>): Html {
  const { save } = site.words.preferences
  const groups = CHANNELS.map((channel) => ({ channel, types: choices.filter((type) => type.channel === channel) }))
  return html`<form method="post">
${groups
  .filter(({ types }) => types.length > 0)
  .map(
    ({ channel, types }) =>
      html`<fieldset><legend>${channels[channel].heading[site.language]}</legend>${types.map((type) => choice(site, type, isWanted(type, givenUp)))}</fieldset>`,
  )}
<button>${save}</button>
</form>`
}

function choice(site: PageShell, type: Standing, wanted: boolean): Html {
  const hints = [type.description, wanted && isAwaiting(type) && site.words.preferences.awaiting].filter(Boolean)
  return html`<label><input type="checkbox" name="on" value="${type.id}"${wanted && html` checked`}><span>${type.name}${hints.map(
    (hint) => html`<span class="quiet">${hint}</span>`,
  )}</span><input type="hidden" name="shown" value="${type.id}"></label>`
}

function always(site: PageShell, types: Standing[]): Html | false {
  if (types.length === 0) return false
  const { always_heading, always } = site.words.preferences
  return html`<section><h2>${always_heading}</h2><p>${always}</p><ul>${types.map(
    ({ name, description }) => html`<li>${name}${description !== null && html`<br><span class="quiet">${description}</span>`}</li>`,
  )}</ul></section>`
}

function nothing(site: PageShell): Html {
  const { all_heading, all, all_button } = site.words.preferences
  return html`<section><h2>${all_heading}</h2><p>${filled(site, all)}</p>
<form method="post"><button class="plain" name="all" value="yes">${all_button}</button></form></section>`
}

/** `POST /s/p/{token}`: saves, and leads back to the page, so that loading it again repeats nothing. */
export async function savePreferences(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const visitor = await followed(ctx, call)
  if (!visitor) return invalid(call)
  const { site, link } = visitor
  const form = readForm(call.body)
  const evidence = evidenceOf(call, 'preference_page', { site, messageId: link.messageId })
  const saved = await inTx(visitor.ctx, async (ctx) => {
    const id = await lockUser(ctx, link.userId)
    const [user] = id === undefined ? [] : await findUsers(ctx, [id])
    if (!user) return null
    return form.all ? stopEverything(ctx, user, evidence) : saveChoices(ctx, user, form, evidence)
  })
  if (saved === null) return gone(site)
  return { status: 303, headers: { location: `?saved=${saved}`, 'referrer-policy': 'no-referrer' } }
}

async function saveChoices(ctx: InTx, user: UserRow, form: Form, evidence: Evidence): Promise<(typeof NOTICES)[number]> {
  const { changes, channels, confirms } = choicesOf(
    await standingsOf(ctx, user.id),
    await channelsUnsubscribedFromAll(ctx, addressesOf(user)),
    form,
  )
  await writeStates(ctx, of(user.id, changes), evidence, { keepsConfirmed: true })
  await liftOptOuts(ctx, user, channels)
  return confirms ? 'saved_confirm' : 'saved'
}

async function stopEverything(ctx: InTx, user: UserRow, evidence: Evidence): Promise<(typeof NOTICES)[number]> {
  const proof = { ...evidence.proof, everything: true }
  const changes = (await standingsOf(ctx, user.id)).map(({ id }) => ({ subscription_id: id, state: 0 as const }))
  await writeStates(ctx, of(user.id, changes), { ...evidence, proof })
  await suppress(
    ctx,
    addressesOf(user).map((address) => ({ ...address, reason: 'unsubscribed_all', source: { by: evidence.source, ...proof } })),
  )
  return 'saved_all'
}

const of = <C>(user_id: UserId, changes: C[]) => changes.map((change) => ({ user_id, ...change }))
