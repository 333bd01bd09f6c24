import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault } from '../../../lib/errors.ts'
import type { CampaignId, ListId, UserId } from '../../../lib/ids.ts'
import { normaliseLocale } from '../../../lib/locales.ts'
import { segmentPriceOf } from '../../channels/index.ts'
import { audienceAfter, audienceSize, countMemberships } from '../../lists/index.ts'
import { newMessageId } from '../../messages/index.ts'
import { findProject } from '../../projects/index.ts'
import { foldAddress } from '../../subscriptions/index.ts'
import {
  checkAndCompile,
  chooseTemplate,
  type SendableTemplate,
  sampleLinks,
  scopeOf,
  sendableContent,
  sendableTemplatesOf,
  variantNumber,
} from '../../templates/index.ts'
import { findUsers, newestWithPhone } from '../../users/index.ts'
import { type Member, membersOf } from '../audience/members.ts'
import { skipReason } from '../audience/plan.ts'
import type { CampaignRow } from '../schema.ts'
import { getCampaign } from '../service.ts'
import { measureText } from '../tasks.ts'
import type { TextSizes, TextSizesInput } from './schema.ts'
import { costOf, type Measured, recipientsOf, summaryOf } from './summary.ts'

const USERS_MAX = 1000
/** Of lists in which few have a phone number, no more is read. */
const CHUNKS_MAX = 5

/** Measures a text message for up to a thousand users who would get it. Throws 400, 404, 422. */
export async function textSizes(ctx: ProjectCtx, id: CampaignId, input: TextSizesInput): Promise<TextSizes> {
  const campaign = await getCampaign(ctx, id)
  if (campaign.channel !== 'text') throw fault('validation_failed', 'channel', 'Only text messages have segments.')
  const variant = variantNumber(input.variant)
  const given = input.template && (await compiled(ctx, campaign, input))
  const templates = given ? [given] : await sendableTemplatesOf(ctx, [id])
  const { users, recipients } = await sampleOf(ctx, campaign)
  const project = await findProject(ctx, ctx.projectId)
  // One that no message gets, as long as those of its messages will be.
  const messageId = await newMessageId(ctx)
  const items = users.flatMap((user) => {
    const template = given ?? chooseTemplate(templates, user.locale, ctx.project.locale, variant)
    const scope = { ...scopeOf(project, { event: null }, campaign, user), ...sampleLinks(ctx, campaign, user, messageId) }
    return template ? [{ user, template: templates.indexOf(template), scope }] : []
  })
  const outcomes = await ctx.threads.map(
    ctx,
    measureText,
    { templates },
    items.map(({ template, scope }) => ({ template, scope })),
  )
  const measured = items.flatMap(({ user }, index): Measured[] => {
    const outcome = outcomes[index]
    if (!outcome || !('value' in outcome) || outcome.value === null) return []
    return [{ ...outcome.value, external_id: user.external_id ?? user.anonymous_id }]
  })
  return {
    ...summaryOf(measured),
    failed: users.length - measured.length,
    recipients,
    cost: costOf(measured, await segmentPriceOf(ctx, campaign.provider_id), recipients),
  }
}

/** A template that is not saved. */
async function compiled(ctx: ProjectCtx, campaign: CampaignRow, { locale, template }: TextSizesInput): Promise<SendableTemplate> {
  const checked = await checkAndCompile(ctx, 'text', normaliseLocale(locale ?? ctx.project.locale), template)
  return sendableContent(campaign.id, { id: 0, created_at: ctx.clock.now(), ...checked })
}

/** Users who would get the message, the first of its lists or else the newest of the project; and about how many there are in the lists. */
async function sampleOf(ctx: ProjectCtx, campaign: CampaignRow) {
  const lists = campaign.list_ids as ListId[]
  const isFirst = firstOfAddress(ctx)
  const reached: UserId[] = []
  let memberships = 0
  let after = 0 as UserId
  let isWhole = false
  for (let chunk = 0; chunk < CHUNKS_MAX && reached.length < USERS_MAX && !isWhole; chunk++) {
    const ids = lists.length > 0 ? await audienceAfter(ctx, lists, after, USERS_MAX) : await newestWithPhone(ctx, USERS_MAX)
    const members = ids.length > 0 ? await membersOf(ctx, campaign, ids) : []
    const some = members.filter((member) => skipReason(campaign, member) === null && (lists.length === 0 || isFirst(member)))
    reached.push(...some.map(({ user }) => user.id))
    isWhole = ids.length < USERS_MAX || lists.length === 0
    if (!isWhole) memberships += await countMemberships(ctx, lists, ids)
    after = ids.at(-1) ?? after
  }
  return {
    users: reached.length > 0 ? await findUsers(ctx, reached.slice(0, USERS_MAX)) : [],
    recipients:
      lists.length > 0
        ? recipientsOf({ reached: reached.length, memberships, listed: isWhole ? 0 : await audienceSize(ctx, lists), isWhole })
        : null,
  }
}

/** Whether a user is the first of those with the same number: an address gets one copy (D-CAMP-4). */
function firstOfAddress(ctx: ProjectCtx): (member: Member) => boolean {
  const known = new Set<string>()
  return ({ user }) => {
    const address = foldAddress('text', user.phone ?? '', ctx.project)
    const isFirst = !known.has(address)
    known.add(address)
    return isFirst
  }
}
