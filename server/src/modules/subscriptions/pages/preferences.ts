/** The preference centre: the public subscription types of a project whose messages reach the user, with a box for each. */

import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import { type Ctx, type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ADDRESSED, CHANNELS, type Channel, channels, hasAddresses } from '../../../lib/channels.ts'
import { type Html, html } from '../../../lib/html.ts'
import { type AddressUsers, type KnownAddress, leaveTypes, lockAddressUsers } from '../address-users.ts'
import type { Evidence } from '../consents/schema.ts'
import { type LinkedTo, readPreview } from '../links.ts'
import { typesWithState } from '../queries.ts'
import type { TypeWithState } from '../schema.ts'
import { writeStates } from '../states.ts'
import { channelsUnsubscribedFromAll } from '../suppressions/opt-outs.ts'
import { addressesOf, suppress } from '../suppressions/service.ts'
import { canReceive, choicesOf, type Form, isAwaiting, isChoice, isWanted, readForm } from './choices.ts'
import { liftOptOuts, type OptIn, unchosenBy } from './opt-ins.ts'
import { evidenceOf, filled, invalid, type PageShell, removed, renderPage } from './page-shell.ts'
import { addressOfLink, type FindRecipient, type PageUser, pageUserOfLink, pageUserOfPreview } from './page-user.ts'

const NOTICES = ['saved', 'saved_confirm', 'saved_all', 'saved_stop'] as const

/** `GET /s/p/{token}` */
export async function showPreferences(ctx: Ctx, call: PublicRequest): Promise<PublicReply> {
  const pageUser: (PageUser & { link?: LinkedTo }) | null = (await pageUserOfLink(ctx, call)) ?? (await pageUserOfPreview(ctx, call))
  if (!pageUser) return invalid(call)
  const { shell, user } = pageUser
  const isTest = pageUser.link === undefined || pageUser.link.userId === null
  if (!user && !isTest) return removed(shell)
  const types = (await typesWithState(pageUser.ctx, user?.id ?? null)).filter(({ channel }) => !user || canReceive(channel, user))
  const unsubscribedChannels = await channelsUnsubscribedFromAll(pageUser.ctx, user ? addressesOf(user) : [])
  const saved = NOTICES.find((name) => name === call.query.get('saved'))
  const notice = isTest ? shell.words.test : saved && shell.words.preferences[saved]
  return preferencesPage(shell, { types, unsubscribedChannels, ...(notice !== undefined && { notice }) })
}

/** The page as a user without choices of their own sees it. */
export const previewPreferences = async (ctx: ProjectCtx, shell: PageShell): Promise<PublicReply> =>
  preferencesPage(shell, { types: await typesWithState(ctx, null), unsubscribedChannels: new Set() })

type Shown = { types: TypeWithState[]; unsubscribedChannels: Set<Channel>; notice?: string }

function preferencesPage(shell: PageShell, { types, unsubscribedChannels, notice }: Shown): PublicReply {
  const { title, explain, none } = shell.words.preferences
  const choices = types.filter(isChoice)
  const body = html`<p>${filled(shell, choices.length > 0 ? explain : none)}</p>
${choices.length > 0 && chooser(shell, choices, unsubscribedChannels)}
${alwaysSent(
  shell,
  types.filter(({ is_public, is_transactional }) => is_public && is_transactional),
)}
${unsubscribeFromAll(shell)}
${stopEverything(shell)}`
  return renderPage(shell, 200, { title, heading: title, body, ...(notice !== undefined && { notice }) })
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

/** Stopping transactional messages too is a choice of its own: users who want no more newsletters still want their receipts. */
function stopEverything(shell: PageShell): Html {
  const { stop_heading, stop, stop_button } = shell.words.preferences
  return html`<section><h2>${stop_heading}</h2><p>${filled(shell, stop)}</p>
<form method="post"><button class="plain" name="stop" value="yes">${stop_button}</button></form></section>`
}

/** `POST /s/p/{token}`: saves and redirects to the page, so that reloading it does not save again. */
export async function savePreferences(ctx: Ctx, call: PublicRequest, findRecipient: FindRecipient): Promise<PublicReply> {
  if (readPreview(ctx, call.params.token ?? '')) return redirectTo('test')
  const pageUser = await pageUserOfLink(ctx, call)
  if (!pageUser) return invalid(call)
  const { shell, link } = pageUser
  const { userId, messageId } = link
  if (userId === null) return redirectTo('test')
  const form = readForm(call.body)
  const evidence = evidenceOf(call, 'preference_page', { shell, messageId })
  const known = await addressOfLink(pageUser.ctx, link, findRecipient)
  const saved = await inTx(pageUser.ctx, async (ctx) => {
    const users = await lockAddressUsers(ctx, userId, new Set(ADDRESSED), known)
    if (!users) return null
    if (form.all || form.stop) return saveEverything(ctx, users, form.stop ? 'stop' : 'all', known, evidence)
    return saveChoices(ctx, users, form, { known, findRecipient }, evidence)
  })
  return saved === null ? removed(shell) : redirectTo(saved)
}

const redirectTo = (saved: string): PublicReply => ({
  status: 303,
  headers: { location: `?saved=${saved}`, 'referrer-policy': 'no-referrer' },
})

/** What a user unticks is left by every user with the address; everything else is the user's own. */
async function saveChoices(
  ctx: InTx,
  users: AddressUsers,
  form: Form,
  sentTo: Omit<OptIn, 'types'>,
  evidence: Evidence,
): Promise<(typeof NOTICES)[number]> {
  const { user } = users
  const types = await typesWithState(ctx, user.id)
  const givenUp = await channelsUnsubscribedFromAll(ctx, addressesOf(user))
  const { changes, left, optedIn, confirms } = choicesOf(types, givenUp, form)
  await leaveTypes(ctx, users, left, evidence)
  const channelOf = new Map(types.map(({ id, channel }) => [id, channel]))
  const isUnchosen = ({ subscription_id, state }: (typeof changes)[number]) =>
    state === 0 && givenUp.has(channelOf.get(subscription_id) as Channel)
  const mine = (some: typeof changes) => some.map((change) => ({ user_id: user.id, ...change }))
  await writeStates(ctx, mine(changes.filter(isUnchosen)), unchosenBy(evidence))
  await writeStates(ctx, mine(changes.filter((change) => !isUnchosen(change))), evidence, { keepsConfirmed: true })
  await liftOptOuts(ctx, users, { types: optedIn, ...sentTo }, evidence)
  return confirms ? 'saved_confirm' : 'saved'
}

/** Unsubscribes from every type, from transactional ones only with `stop`, and suppresses the addresses for these messages. */
async function saveEverything(
  ctx: InTx,
  users: AddressUsers,
  scope: 'all' | 'stop',
  known: KnownAddress | undefined,
  evidence: Evidence,
): Promise<(typeof NOTICES)[number]> {
  const { user } = users
  const stopsTransactional = scope === 'stop'
  const proof = { ...evidence.proof, everything: true }
  const types = (await typesWithState(ctx, user.id)).filter(({ is_transactional }) => stopsTransactional || !is_transactional)
  await leaveTypes(ctx, users, types, { ...evidence, proof })
  const recipients = known && hasAddresses(known.channel) ? [{ channel: known.channel, address: known.address, is_recipient: true }] : []
  await suppress(
    ctx,
    [...recipients, ...addressesOf(user)].map(({ channel, address, ...about }) => ({
      channel,
      address,
      reason: 'unsubscribed_all',
      stopsTransactional,
      source: { by: evidence.source, ...proof, ...about },
    })),
  )
  return `saved_${scope}`
}
