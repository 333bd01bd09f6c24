/**
 * The way of a batch: claim, learn what must be known, decide, render, hand over, settle. Whoever dies on the way leaves
 * a lease that ends; nothing a dead sender did counts, because only the holder of a lease can settle.
 */
import { asSystem, type Ctx, inTx, type ProjectCtx } from '../../infra/ctx.ts'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { DEFAULT_PROVIDER, handOver, REPEATABLE_PROVIDERS, type Rendered } from '../channels/index.ts'
import { findProject } from '../projects/index.ts'
import { emit, type Happened } from '../signals/index.ts'
import { type SubscriptionState, subscriptionStates } from '../subscriptions/index.ts'
import { findSurvivors, findUsers, type LoggedChange, logChanges, type UserRow } from '../users/index.ts'
import { type Circumstances, type Ending, ending, endingOf, mayWe, type SendingCampaign } from './decide.ts'
import { inTurns } from './in-turns.ts'
import { newsOf } from './news.ts'
import * as queries from './queries.ts'
import { type RenderContent, render, type SendingProject } from './render.ts'
import type { ClaimedMessage } from './schema.ts'

type Template = { campaign_id: CampaignId; locale: string; data: Record<string, unknown> }

/** What messages are made of, kept by modules that stand above this one. */
export type Sources = {
  /** Those that are there; archived ones are not. */
  campaignsOf(ctx: ProjectCtx, ids: CampaignId[]): Promise<SendingCampaign[]>
  templatesOf(ctx: ProjectCtx, ids: CampaignId[]): Promise<Template[]>
  /** The template for a person's locale. */
  chooseTemplate(templates: readonly Template[], userLocale: string | null, projectLocale: string): Template | undefined
  renderContent: RenderContent
}

const BATCH_MESSAGES = 200
const PROJECTS_AT_ONCE = 4
const HANDOVERS_AT_ONCE = 20
const LEASE_MS = 300_000
const RELEASED_AT_ONCE = 1000

/** Sends one batch of due messages, an equal share of it for each project that has some. Answers how many it took. */
export async function sendDue(ctx: Ctx, sources: Sources): Promise<number> {
  const projects = (await queries.projectsDue(ctx, BATCH_MESSAGES)).map(({ project_id }) => project_id)
  if (projects.length === 0) return 0
  const claimed = await claim(ctx, projects)
  await inTurns([...Map.groupBy(claimed, ({ project_id }) => project_id)], PROJECTS_AT_ONCE, ([id, messages]) =>
    sendFor(ctx, sources, id, messages),
  )
  return claimed.length
}

/** Takes a batch of due messages of these projects. */
export function claim(ctx: Ctx, projects: ProjectId[]): Promise<ClaimedMessage[]> {
  const leaseUntil = new Date(ctx.clock.now().getTime() + LEASE_MS)
  return queries.claimMessages(ctx, projects, Math.ceil(BATCH_MESSAGES / projects.length), leaseUntil, DEFAULT_PROVIDER)
}

/** Takes messages back from senders that went away. Answers how many. */
export const releaseLeases = (ctx: Ctx): Promise<number> => queries.releaseLeases(ctx, REPEATABLE_PROVIDERS, RELEASED_AT_ONCE)

async function sendFor(outer: Ctx, sources: Sources, projectId: ProjectId, messages: ClaimedMessage[]): Promise<void> {
  const project = await findProject(outer, projectId)
  const ctx = asSystem(outer, projectId, project)
  const circumstances = await learn(ctx, sources, messages)
  const sent = await inTurns(messages, HANDOVERS_AT_ONCE, (message) => send(ctx, sources, project, message, circumstances(message)))
  await settle(ctx, sent)
}

/** Everything the decisions about these messages depend on, in one statement of each kind. */
async function learn(
  ctx: ProjectCtx,
  sources: Sources,
  messages: ClaimedMessage[],
): Promise<(message: ClaimedMessage) => Circumstances<Template>> {
  const campaignIds = [...new Set(messages.map(({ campaign_id }) => campaign_id))]
  const campaigns = new Map((await sources.campaignsOf(ctx, campaignIds)).map((campaign) => [campaign.id, campaign]))
  const templates = Map.groupBy(await sources.templatesOf(ctx, campaignIds), ({ campaign_id }) => campaign_id)
  const people = await peopleOf(ctx, [...new Set(messages.map(({ user_id }) => user_id))])
  const states = await statesOf(ctx, messages, campaigns, people)
  return ({ channel, attempts, campaign_id, user_id }) => {
    const campaign = campaigns.get(campaign_id)
    const person = people.get(user_id)
    const subscription = states.get(`${person?.id}:${campaign?.subscription_id}`)
    const template = sources.chooseTemplate(templates.get(campaign_id) ?? [], person?.locale ?? null, ctx.project.locale)
    return { channel, attempts, campaign, person, subscription, template }
  }
}

/** The people of these ids; who was merged since is the survivor. */
async function peopleOf(ctx: ProjectCtx, ids: UserId[]): Promise<Map<UserId, UserRow>> {
  const survivors = await findSurvivors(ctx, ctx.projectId, ids)
  const rows = new Map((await findUsers(ctx, [...new Set(survivors.map(({ survivor_id }) => survivor_id))])).map((row) => [row.id, row]))
  return new Map(
    survivors.flatMap(({ id, survivor_id }): [UserId, UserRow][] => {
      const row = rows.get(survivor_id)
      return row ? [[id, row]] : []
    }),
  )
}

async function statesOf(
  ctx: ProjectCtx,
  messages: ClaimedMessage[],
  campaigns: Map<CampaignId, SendingCampaign>,
  people: Map<UserId, UserRow>,
): Promise<Map<string, SubscriptionState>> {
  const pairs = messages.flatMap(({ campaign_id, user_id }) => {
    const [campaign, person] = [campaigns.get(campaign_id), people.get(user_id)]
    return campaign && person ? [{ user_id: person.id, subscription_id: campaign.subscription_id }] : []
  })
  const rows = pairs.length > 0 ? await subscriptionStates(ctx, pairs) : []
  return new Map(rows.map(({ user_id, subscription_id, state }) => [`${user_id}:${subscription_id}`, state]))
}

/** A message that was decided about, and perhaps handed over, but not settled. */
export type Sent = { message: ClaimedMessage; person: UserRow | undefined; ending: Ending; capture: Rendered | undefined; news: Happened[] }

async function send(
  ctx: ProjectCtx,
  sources: Sources,
  project: SendingProject,
  message: ClaimedMessage,
  circumstances: Circumstances<Template>,
): Promise<Sent> {
  const { person } = circumstances
  const undelivered = (ending: Ending): Sent => ({
    message,
    person,
    ending,
    capture: undefined,
    news: newsOf(message, person, ending, null, ctx.clock.now()),
  })
  const verdict = mayWe(circumstances)
  if ('state' in verdict) return undelivered(verdict)
  const rendering = performance.now()
  const rendered = render(sources.renderContent, project, message, verdict)
  ctx.metrics.messageRendered(message.channel, performance.now() - rendering)
  if ('problem' in rendered) return undelivered(ending('failed', 'render_failed', rendered.problem))
  const startedAt = ctx.clock.now()
  const { outcome, elapsedMs } = await handOver(ctx, DEFAULT_PROVIDER, rendered)
  const now = ctx.clock.now()
  const end = endingOf(outcome, message.attempts, now)
  const capture = outcome.is === 'accepted' ? outcome.capture : undefined
  return { message, person, ending: end, capture, news: newsOf(message, person, end, { rendered, startedAt, elapsedMs }, now) }
}

/** Writes down what became of messages, and tells: all in one transaction, and only for those that are still ours. */
export const settle = (ctx: ProjectCtx, sent: Sent[]): Promise<void> =>
  inTx(ctx, async (ctx) => {
    const settled = await queries.settleMessages(ctx, sent.map(toSettled))
    const ours = new Set<MessageId>(settled.map(({ id }) => id))
    const done = sent.filter(({ message }) => ours.has(message.id))
    const captures = done.flatMap(toCapture)
    if (captures.length > 0) await queries.insertCaptures(ctx, captures)
    await emit(
      ctx,
      done.flatMap(({ news }) => news),
    )
    await logChanges(
      ctx,
      done.flatMap((sent) => eventsOf(sent, ctx.clock.now())),
    )
  })

/** What became of a message is an event of its person. It triggers nothing: else a message might cause itself. */
const eventsOf = ({ message: { id, campaign_id, channel }, person, ending }: Sent, now: Date): LoggedChange[] =>
  person
    ? (DEEDS[ending.state] ?? []).map((deed) => ({
        user_id: person.id,
        what: [],
        event: { name: `${channel}_${deed}`, data: { campaign_id, message_id: id }, created_at: now.toISOString(), silent: true },
      }))
    : []

const DEEDS: Partial<Record<Ending['state'], string[]>> = { sent: ['sent'], delivered: ['sent', 'delivered'], failed: ['failed'] }

const toSettled = ({ message: { id, lease_token }, ending: { state, reason, detail, dueAt } }: Sent): queries.SettledMessage => ({
  id,
  lease_token,
  state,
  reason,
  detail,
  due_at: dueAt,
})

const toCapture = ({ message: { id, campaign_id }, person, capture }: Sent): queries.Capture[] =>
  person && capture ? [{ ...capture, id, campaign_id, user_id: person.id }] : []
