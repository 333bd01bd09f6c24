/** Checks a blast for its whole audience before it is sent: who would get it, who would not, and for which users its templates fail. */

import { type Ctx, inTx, type ProjectCtx, quickly } from '../../../infra/runtime/ctx.ts'
import type { Outcome } from '../../../infra/threads/pool.ts'
import { addressOf } from '../../../lib/channels.ts'
import { mapWithConcurrency } from '../../../lib/concurrency.ts'
import { fault, missing } from '../../../lib/errors.ts'
import type { CampaignId, ListId, PreflightId, UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { audienceAfter, audienceSize } from '../../lists/index.ts'
import { addressHash, type Planned } from '../../messages/index.ts'
import { eachAlone, failedIn, findProject, onItsOwn } from '../../projects/index.ts'
import { chooseTemplate, sampleLinks, scopeOf, sendableTemplatesOf, variantName } from '../../templates/index.ts'
import { findUsers, type UserRow } from '../../users/index.ts'
import { type Member, membersOf } from '../audience/members.ts'
import { skipReason, variantFor } from '../audience/plan.ts'
import { PREFLIGHT } from '../job-names.ts'
import { findCampaign } from '../queries.ts'
import type { CampaignRow } from '../schema.ts'
import { getCampaign, lockCampaign } from '../service.ts'
import { preflightUser } from '../tasks.ts'
import { type PreflightTry, withFound } from './counts.ts'
import type { PreflightResult } from './preflight-message.ts'
import * as queries from './queries.ts'
import type { Preflight, PreflightRow } from './schema.ts'
import { withSenderProblems } from './senders.ts'

const CHUNK_USERS = 200
const PREFLIGHTS_AT_ONCE = 10
const PREFLIGHTS_KEPT = 5

/** Starts a preflight, or returns the running one. Throws 404, 422. */
export async function startPreflight(ctx: ProjectCtx, id: CampaignId): Promise<Preflight> {
  const row = await inTx(ctx, async (ctx) => {
    const { type, list_ids } = await lockCampaign(ctx, id)
    if (type === 'trigger') throw fault('validation_failed', 'type', 'Only campaigns of the type `blast` have an audience.')
    if (list_ids.length === 0) throw fault('validation_failed', 'list_ids', 'Add at least one list to `list_ids` first.')
    const running = await queries.runningPreflight(ctx, id)
    if (running) return running
    const made = await queries.insertPreflight(ctx, id, await audienceSize(ctx, list_ids as ListId[]))
    await queries.removeOld(ctx, id, PREFLIGHTS_KEPT)
    return made
  })
  ctx.wake(PREFLIGHT)
  return present(ctx, row)
}

/** The progress and the findings of a preflight. Throws 404. */
export async function getPreflight(ctx: ProjectCtx, id: CampaignId, preflightId: PreflightId): Promise<Preflight> {
  await getCampaign(ctx, id)
  const row = await queries.findPreflight(ctx, id, preflightId)
  if (!row) throw missing('preflight')
  return present(ctx, row)
}

async function present(ctx: ProjectCtx, { done_to: _, problems, ...row }: PreflightRow): Promise<Preflight> {
  const ids = [...new Set(problems.flatMap(({ user_ids }) => user_ids))]
  const users = new Map((ids.length > 0 ? await findUsers(ctx, ids) : []).map((user) => [user.id, user]))
  const presentUser = (id: UserId) => {
    const user = users.get(id)
    return user ? [{ id, external_id: user.external_id ?? user.anonymous_id ?? '' }] : []
  }
  return {
    ...row,
    problems: problems.map(({ user_ids, variant, ...problem }) => ({
      ...problem,
      variant: variantName(variant),
      users: user_ids.flatMap(presentUser),
    })),
  }
}

/** Checks one chunk of a running preflight of each project. Returns the number of users checked plus the number of preflights finished. */
export async function preflightNext(ctx: Ctx, chunkUsers: number = CHUNK_USERS): Promise<number> {
  const running = await queries.findRunning(quickly(ctx), failedIn(ctx, PREFLIGHT), PREFLIGHTS_AT_ONCE)
  const done = await mapWithConcurrency(running, PREFLIGHTS_AT_ONCE, (row) =>
    eachAlone(ctx, PREFLIGHT, [onItsOwn(row)], (ctx, { id }) => preflightChunk(ctx, id, chunkUsers)),
  )
  return done.reduce((sum, one) => sum + one, 0)
}

/** Rendering needs no transaction. What it led to is saved unless another process was faster. */
async function preflightChunk(ctx: ProjectCtx, id: PreflightId, chunkUsers: number): Promise<number> {
  const row = await queries.findRunningPreflight(ctx, id)
  const campaign = row && (await findCampaign(ctx, row.campaign_id))
  if (!campaign) return 0
  const ids = await audienceAfter(ctx, campaign.list_ids as ListId[], row.done_to, chunkUsers)
  const members = ids.length > 0 ? await membersOf(ctx, campaign, ids) : []
  const { reasons, hashes } = await decideSkips(ctx, campaign, id, members)
  const tried = await preflightMembers(ctx, campaign, members, reasons)
  const found = withFound(row, await withSenderProblems(ctx, campaign, tried))
  const isFinished = ids.length < chunkUsers
  const people_done = row.people_done + ids.length
  return inTx(ctx, async (ctx) => {
    const locked = await queries.lockPreflight(ctx, id)
    if (locked?.people_done !== row.people_done) return 0
    if (isFinished) await queries.forgetAddresses(ctx, id)
    else if (hashes.length > 0) await queries.addAddresses(ctx, id, hashes)
    await queries.savePreflight(ctx, {
      id,
      ...found,
      state: isFinished ? 'finished' : 'running',
      people_done,
      people_total: isFinished ? people_done : row.people_total,
      done_to: ids.at(-1) ?? row.done_to,
      finished_at: isFinished ? ctx.clock.now() : null,
    })
    return ids.length + (isFinished ? 1 : 0)
  })
}

type Reasons = ReadonlyMap<UserId, Planned['reason']>

/** Why each member would be skipped, as loading would decide it, and the addresses that the members stand for. */
async function decideSkips(
  ctx: ProjectCtx,
  campaign: CampaignRow,
  id: PreflightId,
  members: Member[],
): Promise<{ reasons: Reasons; hashes: string[] }> {
  const { channel } = campaign
  const decided = members.map((member) => {
    const reason = skipReason(campaign, member)
    const address = reason === null ? addressOf(channel, member.user) : null
    return { userId: member.user.id, reason, hash: address === null ? null : addressHash(ctx, campaign.id, channel, address) }
  })
  const hashes = distinct(decided.flatMap(({ hash }) => hash ?? []))
  const known = hashes.length > 0 ? await queries.knownAddresses(ctx, id, hashes) : []
  const taken = new Set(known.map(({ address_hash }) => address_hash))
  const reasons = new Map<UserId, Planned['reason']>()
  for (const { userId, reason, hash } of decided) {
    reasons.set(userId, hash !== null && taken.has(hash) ? 'duplicate_address' : reason)
    if (hash !== null) taken.add(hash)
  }
  return { reasons, hashes }
}

async function preflightMembers(ctx: ProjectCtx, campaign: CampaignRow, members: Member[], reasons: Reasons): Promise<PreflightTry[]> {
  if (members.length === 0) return []
  const project = await findProject(ctx, ctx.projectId)
  const templates = await sendableTemplatesOf(ctx, [campaign.id])
  const reached = members.filter(({ user }) => reasons.get(user.id) === null).map(({ user }) => user.id)
  const rows = new Map((reached.length > 0 ? await findUsers(ctx, reached) : []).map((row): [UserId, UserRow] => [row.id, row]))
  const tried = members.map((member) => {
    const variant = variantFor(campaign, member.user) ?? 0
    const reason = reasons.get(member.user.id) ?? null
    const user = reason === null ? rows.get(member.user.id) : undefined
    const template = user && chooseTemplate(templates, user.locale, ctx.project.locale, variant)
    return { userId: member.user.id, locale: template?.locale ?? null, variant, reason: reason ?? 'user_gone', user, template }
  })
  const rendered = tried.flatMap(({ user, template }) =>
    user
      ? [
          {
            user,
            template: template ? templates.indexOf(template) : -1,
            scope: { ...scopeOf(project, { event: null }, campaign, user), ...sampleLinks(ctx, campaign, user) },
          },
        ]
      : [],
  )
  const outcomes = await ctx.threads.map(ctx, preflightUser, { channel: campaign.channel, templates }, rendered)
  let next = 0
  return tried.map(({ userId, locale, variant, reason, user }): PreflightTry => {
    const result = user ? resultOf(outcomes[next++]) : { outcome: { state: 'skipped' as const, reason }, problems: [] }
    return { userId, locale, variant, ...result }
  })
}

function resultOf(outcome: Outcome<PreflightResult> | undefined): PreflightResult {
  if (outcome && 'value' in outcome) return outcome.value
  const why = outcome && 'exceeded' in outcome ? outcome.exceeded : 'that of several other users took too long'
  return {
    outcome: { state: 'failed', reason: 'render_failed' },
    problems: [{ kind: 'render_failed', message: `Rendering was stopped, because ${why}.` }],
  }
}
