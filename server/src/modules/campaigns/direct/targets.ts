/** Finds the campaigns that messages are sent by, and stores content that comes with requests. */
import { createHash } from 'node:crypto'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { ApiError, type Fault, faultAt, notOfProject } from '../../../lib/errors.ts'
import type { SubscriptionId } from '../../../lib/ids.ts'
import { normaliseLocale } from '../../../lib/locales.ts'
import { type Channel, distinct } from '../../../lib/shapes.ts'
import { findContents, insertContent } from '../../messages/index.ts'
import { findSubscription, holdSubscriptions, type SubscriptionRow } from '../../subscriptions/index.ts'
import { type Content, checkAndCompile } from '../../templates/index.ts'
import type { CampaignRow } from '../schema.ts'
import { defaultExpiry } from '../service.ts'
import { changeDirectDeadline, directCampaigns, insertDirectCampaigns, namedCampaigns } from './queries.ts'
import type { MessageInput } from './schema.ts'
import { headerFault, sizeFault } from './sizes.ts'

/** What a message is sent by: a campaign and, if the content came with the request, that. */
export type Target = { campaign: CampaignRow; contentId: number | null }

/** The target of each message, or why it has none. */
export async function targetsOf(ctx: ProjectCtx, inputs: MessageInput[]): Promise<(Target | { faults: Fault[] })[]> {
  const ids = distinct(inputs.flatMap(({ campaign_id }) => campaign_id ?? []))
  const slugs = distinct(inputs.flatMap(({ campaign }) => campaign ?? []))
  const named = ids.length + slugs.length === 0 ? [] : await namedCampaigns(ctx, ids, slugs)
  const types = await typesOf(ctx, distinct(inputs.flatMap(({ subscription_id }) => subscription_id ?? [])))
  const direct = types.size === 0 ? [] : await inTx(ctx, (ctx) => directOf(ctx, [...types.values()]))
  const contents = await storedContents(ctx, inputs, types)
  const found = inputs.map((input): Target | { faults: Fault[] } => {
    const { campaign, campaign_id, subscription_id } = input
    if (subscription_id !== undefined && !types.has(subscription_id))
      return { faults: [notOfProject('subscription_id', 'a subscription type')] }
    const content = contents.get(input)
    if (content && 'faults' in content) return content
    const found =
      subscription_id === undefined
        ? named.find(({ id, slug }) => (campaign_id === undefined ? slug === campaign : id === campaign_id))
        : direct.find((one) => one.subscription_id === subscription_id)
    if (!found) return { faults: [NO_CAMPAIGN] }
    const fault = againstSending(found, campaign_id === undefined ? 'campaign' : 'campaign_id') ?? againstParts(found, input)
    return fault ? { faults: [fault] } : { campaign: found, contentId: content?.id ?? null }
  })
  const limits: (Fault | null)[] = []
  for (const [at, target] of found.entries()) {
    const input = inputs[at] as MessageInput
    limits.push(
      'campaign' in target ? ((await sizeFault(ctx, target.campaign, input)) ?? (await headerFault(ctx, target.campaign, input))) : null,
    )
  }
  return found.map((target, at) => (limits[at] ? { faults: [limits[at]] } : target))
}

const NO_CAMPAIGN: Fault = { code: 'resource_missing', message: 'No campaign with that identifier exists in this project.' }

function againstSending({ id, type, state, is_direct }: CampaignRow, param: string): Fault | null {
  if (type === 'blast')
    return {
      code: 'validation_failed',
      param,
      message: 'A campaign of the type `blast` is sent to lists. Name a campaign of the type `trigger`.',
    }
  if (state === 'running') return null
  if (is_direct)
    return {
      code: 'validation_failed',
      param: 'subscription_id',
      message: `The campaign of messages with \`content\` of this subscription type, ${id}, is \`${state}\`. Archive it. The next message creates another one.`,
    }
  return { code: 'validation_failed', param, message: `The campaign is \`${state}\`. Set its \`state\` to \`running\` first.` }
}

/** Only emails have headers and files. */
function againstParts({ channel }: CampaignRow, { headers, attachments }: MessageInput): Fault | null {
  const [param] = Object.entries({ headers, attachments }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (param === undefined || channel === 'email') return null
  return { code: 'validation_failed', param, message: `Only emails have \`${param}\`. The channel of this message is \`${channel}\`.` }
}

async function typesOf(ctx: ProjectCtx, ids: SubscriptionId[]): Promise<Map<SubscriptionId, SubscriptionRow>> {
  const types = new Map<SubscriptionId, SubscriptionRow>()
  for (const id of ids) {
    const type = await findSubscription(ctx, id)
    if (type) types.set(id, type)
  }
  return types
}

const NAME_LENGTH_MAX = 230

async function directOf(ctx: InTx, types: SubscriptionRow[]): Promise<CampaignRow[]> {
  const ids = types.map(({ id }) => id)
  const found = await directCampaigns(ctx, ids)
  const missing = ids.filter((id) => !found.some(({ subscription_id }) => subscription_id === id))
  if (missing.length === 0) return found
  const made = (await holdSubscriptions(ctx, missing)).map(({ id, channel, name, is_transactional }) => ({
    subscription_id: id,
    channel,
    name: `Direct messages: ${[...name].slice(0, NAME_LENGTH_MAX).join('')}`,
    expires_after_hours: defaultExpiry(is_transactional),
  }))
  await insertDirectCampaigns(ctx, made)
  return directCampaigns(ctx, ids)
}

/**
 * Adapts the deadline of messages whose content comes with the request after their subscription type became transactional or is no more,
 * unless a publisher set another one.
 */
export const adaptDeadline = (ctx: InTx, { id, is_transactional }: Pick<SubscriptionRow, 'id' | 'is_transactional'>): Promise<number> =>
  changeDirectDeadline(ctx, id, { from: defaultExpiry(!is_transactional), to: defaultExpiry(is_transactional) })

type Given = { channel: Channel; locale: string; content: Content; hash: string }

/** The stored content of each message that comes with some, or why it cannot be sent. Equal content is compiled and stored once. */
async function storedContents(
  ctx: ProjectCtx,
  inputs: MessageInput[],
  types: ReadonlyMap<SubscriptionId, SubscriptionRow>,
): Promise<Map<MessageInput, { id: number } | { faults: Fault[] }>> {
  const given = new Map<MessageInput, Given>()
  for (const input of inputs) {
    const { content, subscription_id, locale = ctx.project.locale } = input
    const channel = subscription_id && types.get(subscription_id)?.channel
    if (content && channel) given.set(input, { channel, locale: normaliseLocale(locale), content, hash: hashOf(locale, content) })
  }
  const stored = new Map<string, { id: number } | { faults: Fault[] }>()
  for (const [channel, some] of Map.groupBy(given.values(), ({ channel }) => channel))
    for (const [hash, outcome] of await storeAll(ctx, channel, some)) stored.set(`${channel} ${hash}`, outcome)
  return new Map(
    [...given].flatMap(([input, { channel, hash }]) => {
      const outcome = stored.get(`${channel} ${hash}`)
      return outcome ? [[input, outcome] as const] : []
    }),
  )
}

const hashOf = (locale: string, content: Content) =>
  createHash('sha256')
    .update(`${locale}\n${canonicalJson(content)}`)
    .digest('base64url')

async function storeAll(ctx: ProjectCtx, channel: Channel, given: Given[]): Promise<Map<string, { id: number } | { faults: Fault[] }>> {
  const byHash = new Map(given.map((one) => [one.hash, one]))
  const outcomes = new Map<string, { id: number } | { faults: Fault[] }>()
  const known = new Set((await findContents(ctx, channel, [...byHash.keys()])).map(({ hash }) => hash))
  for (const { hash, locale, content } of byHash.values()) {
    if (known.has(hash)) continue
    const compiled = await compiledOrFaults(ctx, channel, locale, content)
    if ('faults' in compiled) outcomes.set(hash, compiled)
    else await insertContent(ctx, channel, { hash, ...compiled })
  }
  for (const { hash, id } of await findContents(ctx, channel, [...byHash.keys()])) outcomes.set(hash, { id })
  return outcomes
}

async function compiledOrFaults(ctx: ProjectCtx, channel: Channel, locale: string, content: Content) {
  try {
    return await checkAndCompile(ctx, channel, locale, content)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const faults =
      error.faults.length > 0 ? error.faults : [{ code: error.code, message: error.message, ...(error.param && { param: error.param }) }]
    return { faults: faults.map(inContent) }
  }
}

/** The fault with the place of the content in the request. */
function inContent({ param, message, code }: Fault): Fault {
  if (param === undefined) return { code, param: 'content', message }
  return faultAt({ code, param, message }, param === 'body' ? 'content' : `content.${param}`)
}
