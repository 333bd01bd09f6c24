/**
 * Test sends (D-CAMP-5): sends a template to a few given recipients, as its messages would be sent. They are not counted and leave no messages in the
 * campaign; their links lead on and change nothing.
 */

import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type AddressKind, addressKindOf, addressOf, type Channel, channels, hasAddresses } from '../../lib/channels.ts'
import { isEmail } from '../../lib/email.ts'
import type { CampaignId, MessageId } from '../../lib/ids.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import type { Attachment } from '../../lib/mime/compose.ts'
import { isInternationalPhone } from '../../lib/phone.ts'
import { atLeast } from '../../lib/roles.ts'
import { distinct } from '../../lib/shapes.ts'
import {
  connectProvider,
  type ProviderConnection,
  type ProviderResponse,
  type PushTarget,
  type Rendered,
  unreachable,
} from '../channels/index.ts'
import { fromDomainOf } from '../domains/index.ts'
import { messageKey, newMessageId, renderTest, type TriggeringEvent } from '../messages/index.ts'
import { findProject } from '../projects/index.ts'
import { findSubscription, suppressedAmong } from '../subscriptions/index.ts'
import {
  asCallerSees,
  attachmentsOfTemplate,
  type SendableTemplate,
  sampleUser,
  sendableTemplatesOf,
  type TestInput,
  type TestReport,
  templateChooser,
} from '../templates/index.ts'
import { findUsers, pushDevicesOf, requireUser, resolveIds, type UserRow } from '../users/index.ts'
import type { CampaignRow } from './schema.ts'
import { getCampaign } from './service.ts'
import { addressNotAllowed } from './test-recipients.ts'

type Result = TestReport['results'][number]

/** A recipient with the user that the message is sent as, who may be a sample, or the reason why nothing can be sent. */
type Recipient = { to: string; user: UserRow; isReal: boolean } | { to: string; refused: string }

type Sending = {
  campaign: CampaignRow
  isTransactional: boolean
  connection: ProviderConnection
  /** The locale to use for all recipients. By default it is the locale of each user. */
  locale: string | undefined
  /** The user to render for. By default each recipient gets their own values. */
  as: UserRow | null
  suppressed: Map<string, unknown>
  /** The addresses that the tests may reach; null for any. */
  allowed: readonly string[] | null
  templateFor: (locale: string | null) => SendableTemplate
  /** What the template reads as `event`. */
  event: TriggeringEvent | null
  /** The files of a template, read once. */
  attachmentsOf: (template: SendableTemplate) => Promise<readonly Attachment[]>
}

const SUBJECT_PREFIX = '[Test] '

/** Sends the template to each recipient by the campaign's provider and reports the results. Throws 404. */
export async function sendTests(ctx: ProjectCtx, id: CampaignId, input: TestInput): Promise<TestReport> {
  const campaign = await getCampaign(ctx, id)
  const as = input.as === undefined ? null : await asCallerSees(ctx, await requireUser(ctx, input.as))
  const templateFor = await templatesFor(ctx, campaign, input.variant)
  templateFor(null)
  const recipients = await recipientsOf(ctx, campaign.channel, distinct(input.to))
  const isTransactional = (await findSubscription(ctx, campaign.subscription_id))?.is_transactional ?? false
  const suppressed = await suppressedAmong(
    ctx,
    campaign.channel,
    recipients.flatMap((recipient) => addressesOf(campaign.channel, recipient)),
    { isTransactional },
  )
  const connection = await connectProvider(ctx, campaign.channel, campaign.provider_id)
  const allowed = await allowedFor(ctx, connection)
  const locale = input.locale === undefined ? undefined : normaliseLocale(input.locale)
  const results: Result[] = []
  const now = ctx.clock.now().toISOString()
  const event = input.data === undefined ? null : { name: campaign.event_name ?? '', data: input.data, created_at: now }
  const attachmentsOf = attachmentReader(ctx)
  // One after the other: there are few recipients, and tests do not wait for the rate of the provider.
  for (const recipient of recipients)
    results.push(
      await sendOne(
        ctx,
        { campaign, isTransactional, connection, locale, as, suppressed, allowed, templateFor, event, attachmentsOf },
        recipient,
      ),
    )
  return { results }
}

/**
 * The addresses that a test may reach: any for a key that may send campaigns, and for a provider from which nothing leaves this server, such
 * as the sandbox; otherwise the test recipients of the project.
 */
async function allowedFor(ctx: ProjectCtx, { staysHere }: ProviderConnection): Promise<readonly string[] | null> {
  if (staysHere || (ctx.caller.kind === 'secret' && atLeast(ctx.caller.role, 'publisher'))) return null
  return (await findProject(ctx, ctx.projectId)).test_recipients
}

/** The chooser of ready templates. It throws 404 if the campaign has none. */
async function templatesFor(ctx: ProjectCtx, campaign: CampaignRow, variant: string | undefined): Promise<Sending['templateFor']> {
  const choose = await templateChooser(ctx, campaign, variant)
  const ready = await sendableTemplatesOf(ctx, [campaign.id])
  return (locale) => {
    const chosen = choose(locale)
    return ready.find((one) => one.locale === chosen.locale && one.variant === chosen.variant) as SendableTemplate
  }
}

function attachmentReader(ctx: ProjectCtx): Sending['attachmentsOf'] {
  const known = new Map<number, readonly Attachment[]>()
  return async ({ id, attachment_bytes }) => {
    const files = known.get(id) ?? (attachment_bytes > 0 ? await attachmentsOfTemplate(ctx, id) : [])
    known.set(id, files)
    return files
  }
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
  const id = await newMessageId(ctx)
  const made = await renderFor(ctx, sending, recipient, id)
  if ('refused' in made) return { to: recipient.to, outcome: 'refused', reason: made.refused }
  const { connection, allowed } = sending
  const barred = allowed === null ? undefined : addressNotAllowed(made.message, allowed)
  if (barred !== undefined) return { to: recipient.to, outcome: 'refused', reason: notAllowed(barred) }
  const key = messageKey(ctx, { project_id: ctx.projectId, id, created_at: ctx.clock.now() })
  const attachments = await sending.attachmentsOf(made.template)
  const { custom_domain_id } = sending.campaign
  const fromDomain = custom_domain_id === null ? undefined : await fromDomainOf(ctx, custom_domain_id)
  const { message, headers, devices } = made
  const { outcome } = await connection.send({
    ...message,
    id,
    key,
    headers,
    devices,
    attachments,
    ...(fromDomain !== undefined && { fromDomain }),
  })
  return { to: recipient.to, provider: connection.provider, ...resultOf(outcome) }
}

const notAllowed = (address: string) =>
  `The project does not allow tests to \`${address}\` with this key’s role. Add it to the \`test_recipients\` of the project, or use a key with the role \`publisher\`.`

type Made = { template: SendableTemplate; message: Rendered; headers: Record<string, string>; devices: PushTarget[] }

async function renderFor(
  ctx: ProjectCtx,
  { campaign, isTransactional, locale, as, suppressed, templateFor, event }: Sending,
  recipient: Recipient,
  id: MessageId,
): Promise<Made | { refused: string }> {
  if ('refused' in recipient) return recipient
  const { channel } = campaign
  const { user: to, isReal } = recipient
  if (suppressed.has(addressOf(channel, to) ?? '')) return { refused: 'The address is suppressed. Nothing is sent to it, including tests.' }
  if (unreachable(channel, to) !== null) return { refused: 'The user has no address or device for this channel.' }
  const user = as ?? to
  const template = templateFor(locale ?? user.locale)
  const result = await renderTest(ctx, { id, event, channel, campaign, isTransactional, template, user, to })
  if ('problem' in result) return { refused: result.problem }
  const devices = channels[channel].recipient === 'devices' && isReal ? await pushDevicesOf(ctx, [to.id]) : []
  return { template, message: withPrefix(result.rendered), headers: result.headers, devices }
}

const withPrefix = (message: Rendered): Rendered => {
  const { summary, content } = message
  if (typeof content.subject !== 'string') return message
  return { ...message, summary: SUBJECT_PREFIX + summary, content: { ...content, subject: SUBJECT_PREFIX + content.subject } }
}

function resultOf(outcome: ProviderResponse): Pick<Result, 'outcome' | 'reason' | 'content'> {
  if (outcome.is !== 'accepted') return { outcome: outcome.is, reason: outcome.reason }
  const kept = outcome.sandbox ?? outcome.inbox
  return { outcome: 'accepted', ...(kept && { content: kept.content }) }
}
