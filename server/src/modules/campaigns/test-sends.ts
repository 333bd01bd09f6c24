/** Test sends: sends a template to a few given recipients. They are not counted and leave no messages in the campaign. */

import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type AddressKind, addressKindOf, addressOf, type Channel, channels, hasAddresses } from '../../lib/channels.ts'
import { isEmail } from '../../lib/email.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { isInternationalPhone } from '../../lib/phone.ts'
import { distinct } from '../../lib/shapes.ts'
import {
  compose,
  connectProvider,
  type ProviderConnection,
  type ProviderResponse,
  type PushTarget,
  type Rendered,
  unreachable,
} from '../channels/index.ts'
import { newMessageId } from '../messages/index.ts'
import { suppressedAmong } from '../subscriptions/index.ts'
import { asCallerSees, sampleUser, scopeFor, type TestInput, type TestReport, templateChooser, tryRender } from '../templates/index.ts'
import { findUsers, pushDevicesOf, requireUser, resolveIds, type UserRow } from '../users/index.ts'
import type { CampaignRow } from './schema.ts'
import { getCampaign } from './service.ts'

type Result = TestReport['results'][number]

/** A recipient with the user that the message is sent as, who may be a sample, or the reason why nothing can be sent. */
type Recipient = { to: string; user: UserRow; isReal: boolean } | { to: string; refused: string }

type Sending = {
  campaign: CampaignRow
  connection: ProviderConnection
  /** The locale to use for all recipients. By default it is the locale of each user. */
  locale: string | undefined
  /** The user to render for. By default each recipient gets their own values. */
  as: UserRow | null
  suppressed: Map<string, unknown>
  templateFor: Awaited<ReturnType<typeof templateChooser>>
}

const SUBJECT_PREFIX = '[Test] '

/** Sends the template to each recipient by the campaign's provider and reports the results. Throws 404. */
export async function sendTests(ctx: ProjectCtx, id: CampaignId, input: TestInput): Promise<TestReport> {
  const campaign = await getCampaign(ctx, id)
  const as = input.as === undefined ? null : await asCallerSees(ctx, await requireUser(ctx, input.as))
  const templateFor = await templateChooser(ctx, campaign, input.variant)
  templateFor(null)
  const recipients = await recipientsOf(ctx, campaign.channel, distinct(input.to))
  const suppressed = await suppressedAmong(
    ctx,
    campaign.channel,
    recipients.flatMap((recipient) => addressesOf(campaign.channel, recipient)),
  )
  const connection = await connectProvider(ctx, campaign.channel, campaign.provider_id)
  const locale = input.locale === undefined ? undefined : normaliseLocale(input.locale)
  const results: Result[] = []
  // One after the other: there are few recipients, and a test must not exceed the provider's rate limit.
  for (const recipient of recipients)
    results.push(await sendOne(ctx, { campaign, connection, locale, as, suppressed, templateFor }, recipient))
  return { results }
}

async function recipientsOf(ctx: ProjectCtx, channel: Channel, names: string[]): Promise<Recipient[]> {
  const addresses = new Set(names.filter((name) => isAddress(channel, name)))
  const rows = await usersOf(
    ctx,
    names.filter((name) => !addresses.has(name)),
  )
  const sample = await sampleUser(ctx)
  return names.map((to) => {
    if (addresses.has(to)) return { to, user: { ...sample, email: to, phone: to }, isReal: false }
    const user = rows.get(to)
    return user
      ? { to, user, isReal: true }
      : { to, refused: `\`${to}\` is neither an address for this channel nor the \`external_id\` of a user.` }
  })
}

async function usersOf(ctx: ProjectCtx, names: string[]): Promise<Map<string, UserRow>> {
  const found = names.length === 0 ? [] : await resolveIds(ctx, names, [])
  const rows = new Map(
    (
      await findUsers(
        ctx,
        found.map(({ id }) => id),
      )
    ).map((row) => [row.id, row]),
  )
  const users = new Map<string, UserRow>()
  for (const { external_id, id } of found) {
    const row = rows.get(id)
    if (row && external_id !== null) users.set(external_id, await asCallerSees(ctx, row))
  }
  return users
}

const ADDRESS: Record<AddressKind, (text: string) => boolean> = { email: isEmail, phone: isInternationalPhone }

const isAddress = (channel: Channel, name: string): boolean => hasAddresses(channel) && ADDRESS[addressKindOf(channel)](name)

function addressesOf(channel: Channel, recipient: Recipient): string[] {
  const address = 'user' in recipient ? addressOf(channel, recipient.user) : null
  return address === null ? [] : [address]
}

async function sendOne(ctx: ProjectCtx, sending: Sending, recipient: Recipient): Promise<Result> {
  const rendered = await renderFor(ctx, sending, recipient)
  if ('refused' in rendered) return { to: recipient.to, outcome: 'refused', reason: rendered.refused }
  const { connection } = sending
  const id = await newMessageId(ctx)
  const { outcome } = await connection.send({ ...rendered.message, id, key: `test-${id}`, headers: {}, devices: rendered.devices })
  return { to: recipient.to, provider: connection.provider, ...resultOf(outcome) }
}

async function renderFor(
  ctx: ProjectCtx,
  { campaign, locale, as, suppressed, templateFor }: Sending,
  recipient: Recipient,
): Promise<{ message: Rendered; devices: PushTarget[] } | { refused: string }> {
  if ('refused' in recipient) return recipient
  const { channel } = campaign
  const { user, isReal } = recipient
  if (suppressed.has(addressOf(channel, user) ?? ''))
    return { refused: 'The address is suppressed. Nothing is sent to it, including tests.' }
  if (unreachable(channel, user) !== null) return { refused: 'The user has no address or device for this channel.' }
  const renderedFor = as ?? user
  const result = await tryRender(ctx, channel, templateFor(locale ?? renderedFor.locale), await scopeFor(ctx, campaign, renderedFor, {}))
  if ('problem' in result) return { refused: result.problem }
  const message = compose(channel, withPrefix(result.content), user)
  if ('problem' in message) return { refused: message.problem }
  return { message, devices: channels[channel].recipient === 'devices' && isReal ? await pushDevicesOf(ctx, [user.id]) : [] }
}

const withPrefix = (content: Record<string, unknown>): Record<string, unknown> =>
  typeof content.subject === 'string' ? { ...content, subject: SUBJECT_PREFIX + content.subject } : content

function resultOf(outcome: ProviderResponse): Pick<Result, 'outcome' | 'reason' | 'content'> {
  if (outcome.is !== 'accepted') return { outcome: outcome.is, reason: outcome.reason }
  const kept = outcome.sandbox ?? outcome.inbox
  return { outcome: 'accepted', ...(kept && { content: kept.content }) }
}
