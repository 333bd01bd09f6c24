/** The data for linting, previews and test sends: the project, the attributes of its users, and a sample user. */

import { cached } from '../../infra/runtime/cache.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { pathOf } from '../../lib/attribute-paths.ts'
import type { MessageId, UserId } from '../../lib/ids.ts'
import type { Scope } from '../../lib/liquid/liquid.ts'
import { findProject } from '../projects/index.ts'
import { findSubscription, linksOf } from '../subscriptions/index.ts'
import { attributesInUse, dataKeys, type UserRow, usersForCaller } from '../users/index.ts'
import type { LintContext } from './lints/lint.ts'
import type { TemplateOwner } from './schema.ts'
import { scopeOf } from './scope.ts'

const CACHED_PROJECTS_MAX = 1000
const CACHED_MS = 10_000

/** A sample value for every attribute that this caller may read; null if it has no simple one. */
type Attributes = Map<string, unknown>

const attributes = cached<string, Attributes>(CACHED_PROJECTS_MAX, CACHED_MS, async (ctx) => {
  const { results } = await attributesInUse(ctx as ProjectCtx)
  return new Map(
    results.flatMap(({ key, types, samples }) => {
      const isSimple = !types.includes('object') && !types.includes('array')
      const [name] = pathOf(key) ?? []
      return name === undefined ? [] : [[name, isSimple ? (samples[0] ?? null) : null] as const]
    }),
  )
})

/** What callers may read depends on their role. */
const readerOf = ({ projectId, caller }: ProjectCtx): string => `${projectId}:${caller.kind === 'secret' ? caller.role : ''}`

const attributesOf = (ctx: ProjectCtx): Promise<Attributes> => attributes.get(ctx, readerOf(ctx))

/** With more keys than are counted, none can be called unknown. */
const known = cached<string, Pick<LintContext, 'attributes' | 'areAllUsersCounted'>>(CACHED_PROJECTS_MAX, CACHED_MS, async (ctx) => {
  const { keys, areAll } = (await dataKeys(ctx as ProjectCtx)) ?? { keys: [], areAll: true }
  return { attributes: new Set(keys), areAllUsersCounted: areAll }
})

/** What the lints need to know about a campaign. */
export async function lintContextOf(ctx: ProjectCtx, campaign: TemplateOwner): Promise<LintContext> {
  const subscription = await findSubscription(ctx, campaign.subscription_id)
  return {
    isTransactional: subscription?.is_transactional ?? false,
    isTrigger: campaign.type === 'trigger',
    ...(await known.get(ctx, readerOf(ctx))),
    sample: await scopeFor(ctx, campaign, await sampleUser(ctx), {}),
  }
}

const PLACEHOLDERS = {
  unsubscribe_url: 'https://example.com/unsubscribe',
  preferences_url: 'https://example.com/preferences',
  view_url: 'https://example.com/view',
}
/** As many digits as the ids of messages have on large servers. */
const MESSAGE_ID = 1e9 as MessageId

/** Placeholders for the links of a message. In a text message they are as long as its links, because their characters are charged too. */
export function sampleLinks(
  ctx: ProjectCtx,
  { channel, subscription_id }: Pick<TemplateOwner, 'channel' | 'subscription_id'>,
  user: UserRow,
  messageId = MESSAGE_ID,
): typeof PLACEHOLDERS {
  if (channel !== 'text') return PLACEHOLDERS
  const { projectId } = ctx
  const real = linksOf(ctx, { projectId, userId: user.id, subscriptionId: subscription_id, messageId }).unsubscribe_url
  const asLong = (url: string) => `${url}/`.padEnd(real.length, 'x')
  const { unsubscribe_url, preferences_url, view_url } = PLACEHOLDERS
  return { unsubscribe_url: asLong(unsubscribe_url), preferences_url: asLong(preferences_url), view_url: asLong(view_url) }
}

/** The template scope for a user. Values in `data` replace the others. */
export async function scopeFor(ctx: ProjectCtx, campaign: TemplateOwner, user: UserRow, data: Scope): Promise<Scope> {
  const project = await findProject(ctx, ctx.projectId)
  return { ...scopeOf(project, { event: null }, campaign, user), ...sampleLinks(ctx, campaign, user), ...data }
}

/** A user without attributes that this caller may not read. */
export async function asCallerSees(ctx: ProjectCtx, row: UserRow): Promise<UserRow> {
  const [user] = await usersForCaller(ctx, [row])
  return { ...row, data: user?.data ?? {} }
}

/** A made-up user with sample values for the attributes of this project. */
export async function sampleUser(ctx: ProjectCtx, locale = ctx.project.locale): Promise<UserRow> {
  const now = ctx.clock.now()
  return {
    id: 1 as UserId,
    project_id: ctx.projectId,
    external_id: 'sample',
    anonymous_id: null,
    email: 'sample@example.com',
    phone: '+61491570156',
    timezone: ctx.project.timezone,
    locale,
    data: Object.fromEntries([...(await attributesOf(ctx))].filter(([, value]) => value !== null)),
    has_push_device: true,
    created_at: now,
    updated_at: now,
  }
}
