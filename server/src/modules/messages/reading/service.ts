import { mapPage, type PageOf, type PageRequest } from '../../../infra/http/paging.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { hasAddresses } from '../../../lib/channels.ts'
import type { CampaignId, JourneyId, KeyId, MessageId, UserId } from '../../../lib/ids.ts'
import { parseTime } from '../../../lib/times.ts'
import { findInboxContent } from '../../inbox/index.ts'
import { attemptsOf } from '../../mta/index.ts'
import { variantName } from '../../templates/index.ts'
import { findIdsOf, findLiveUsers, resolveIds, type UserRow } from '../../users/index.ts'
import { missingMessage } from '../retention.ts'
import { findSandboxMessage } from '../sandbox/queries.ts'
import { ATTEMPTED_STATES } from '../schema.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { renderAgain } from '../view/render-again.ts'
import * as queries from './queries.ts'
import type { MessageQuery, MessageRow, MessageSummary, MessageWhole, Moment } from './schema.ts'

/** The key whose messages the caller may read; null for all of them. Keys of mail programs read those that they sent. */
const onlyOfKey = ({ caller }: ProjectCtx): KeyId | null => (caller.kind === 'secret' && caller.role === 'smtpproxy' ? caller.keyId : null)

const idOf = <I extends number>(text: string | undefined) => (text === undefined ? undefined : (Number(text) as I))
const timeOf = (text: string | undefined) => (text === undefined ? undefined : (parseTime(text) ?? undefined))

/** A page of messages, newest first. */
export async function listMessages(ctx: ProjectCtx, page: PageRequest, query: MessageQuery): Promise<PageOf<MessageSummary>> {
  const found = await queries.listMessages(ctx, page, {
    ...query,
    userIds: query.user === undefined ? undefined : await idsNamed(ctx, query.user),
    campaignId: idOf<CampaignId>(query.campaign_id),
    journeyId: idOf<JourneyId>(query.journey_id),
    state: query.state,
    reason: query.reason,
    channel: query.channel,
    provider: query.provider,
    domain: query.domain?.toLowerCase(),
    site: query.site,
    since: timeOf(query.since),
    until: timeOf(query.until),
    sentBy: onlyOfKey(ctx),
  })
  const users = await findLiveUsers(
    ctx,
    found.results.map(({ user_id }) => user_id),
  )
  return mapPage(found, (row) => present(row, users))
}

/** The ids under which messages of a user are stored; none if no user has the name. */
async function idsNamed(ctx: ProjectCtx, name: string): Promise<UserId[]> {
  const [found] = await resolveIds(ctx, [name], [])
  const [anonymous] = found ? [] : await resolveIds(ctx, [], [name])
  const user = found ?? anonymous
  return user ? findIdsOf(ctx, user.id) : []
}

const present = (
  { user_id, journey_id, variant, resent_from, is_erased: _, is_requested: __, acted_at: ___, ...row }: MessageRow,
  users: ReadonlyMap<UserId, UserRow>,
): MessageSummary => ({
  ...row,
  // As the erasure leaves it, if that has not come to this message yet.
  ...(!users.has(user_id) && { recipient: null, detail: null }),
  ...(journey_id !== null && { journey_id }),
  ...(variant !== null && { variant: variantName(variant) }),
  ...(resent_from !== null && { resent_from }),
  user: named(user_id, users.get(user_id)),
})

const named = (id: UserId, user: UserRow | undefined): MessageSummary['user'] =>
  user ? { id: user.id, external_id: user.external_id ?? user.anonymous_id } : { id, external_id: null }

/** A message with its content, as far as that is kept, and its timeline. Throws 404. */
export async function getMessage(ctx: ProjectCtx, findSendingCampaigns: FindSendingCampaigns, id: MessageId): Promise<MessageWhole> {
  const row = await queries.findMessage(ctx, id, onlyOfKey(ctx))
  if (!row) throw await missingMessage(ctx, id)
  const users = await findLiveUsers(ctx, [row.user_id])
  const isErased = row.is_erased || !users.has(row.user_id)
  const left = isErased ? [] : await queries.leftStates(ctx, id)
  const content = isErased ? null : await contentOf(ctx, findSendingCampaigns, row)
  const deliveries = row.provider === 'mta' ? { deliveries: await deliveriesOf(ctx, id, isErased) } : {}
  const shown = present(row, users)
  return { ...shown, ...deliveries, content, timeline: timelineOf({ ...row, detail: shown.detail }, left) }
}

/** The recipients of an email in the mail queue, with every attempt. */
async function deliveriesOf(ctx: ProjectCtx, id: MessageId, isErased: boolean): Promise<MessageWhole['deliveries'] & object> {
  const rows = await attemptsOf(ctx, id)
  return rows.map(({ address, site, state, due_at, history }) => ({
    recipient: isErased ? '' : address,
    site,
    state,
    next_attempt_at: state === 'queued' ? due_at : null,
    attempts: isErased ? [] : history,
  }))
}

async function contentOf(ctx: ProjectCtx, findSendingCampaigns: FindSendingCampaigns, row: MessageRow) {
  const { id, channel, state, provider, recipient } = row
  const stored = (await findSandboxMessage(ctx, id)) ?? (channel === 'in_app' ? await findInboxContent(ctx, id) : undefined)
  if (stored) return stored.content
  if (provider === null || !ATTEMPTED_STATES.includes(state)) return null
  const again = await renderAgain(ctx, findSendingCampaigns, id)
  if (!again) return null
  // The address of the user can have changed since.
  return hasAddresses(channel) ? { ...again.content, to: recipient ?? again.recipient } : again.content
}

/** What happened to a message, in order: made, the states it left, the state it is in, opened and clicked. */
function timelineOf(row: MessageRow, left: (Omit<Moment, 'what'> & { state: Moment['what'] })[]): Moment[] {
  const { state, reason, detail, created_at, acted_at, settled_at, opened_at, clicked_at } = row
  const now = { what: state, reason, detail, at: acted_at ?? settled_at ?? created_at }
  const moments: Moment[] = [
    { what: 'queued', reason: null, detail: null, at: created_at },
    ...left.map(({ state, ...moment }) => ({ ...moment, what: state })),
    ...(state === 'queued' ? [] : [now]),
    ...(opened_at === null ? [] : [{ what: 'opened' as const, reason: null, detail: null, at: opened_at }]),
    ...(clicked_at === null ? [] : [{ what: 'clicked' as const, reason: null, detail: null, at: clicked_at }]),
  ]
  return moments.sort((a, b) => a.at.getTime() - b.at.getTime())
}
