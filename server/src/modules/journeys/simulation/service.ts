/** Answers what would happen to one user in a journey. */

import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf } from '../../../lib/channels.ts'
import { fault, missing, refuse } from '../../../lib/errors.ts'
import type { CampaignId, JourneyId, ListId } from '../../../lib/ids.ts'
import { own } from '../../../lib/own.ts'
import { DAY_MS, HOUR_MS, parseTime, SECOND_MS } from '../../../lib/times.ts'
import { isSendable, reasonAgainst, renderSimulated } from '../../campaigns/index.ts'
import { pastEventsOf } from '../../events/index.ts'
import { suppressedAmong } from '../../subscriptions/index.ts'
import { hiddenKeysOf, requireUser, type UserRow } from '../../users/index.ts'
import type { Graph } from '../engine/graph.ts'
import type { Graphs } from '../engine/run.ts'
import { factAgeMaxMsOf } from '../fact-age.ts'
import { withoutAttributes } from '../live/seen.ts'
import { findJourney } from '../queries.ts'
import { renderTexts } from '../tasks.ts'
import { MADE_UP, type Needed, neededBy, simulatedUsers } from './facts.ts'
import type { Given, MessagePlan, SimulatedMessage, Text } from './given.ts'
import { graphFor, linkedGraphs } from './graphs.ts'
import { itemsOf, madeUpUser, userAfter } from './inputs.ts'
import type { SimulationInput, SimulationResult } from './schema.ts'
import { type Simulated, sentenceOf, simulateUser } from './simulate.ts'
import type { KnownEvent, SimulatedUser } from './user.ts'

const VISITS_MAX = 500
const YEARS_MS = 5 * 366 * DAY_MS
const TIME_MAX_MS = 2 * SECOND_MS
const RENDERED_MAX = 50

/** Simulates a user. Throws 404, and 400 or 422 for a graph that cannot run. */
export async function simulate(ctx: ProjectCtx, id: JourneyId, input: SimulationInput): Promise<SimulationResult> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  const { at, until } = periodOf(input, ctx.clock.now())
  const graph = await graphFor(ctx, id, input)
  if (input.entrance !== undefined && !graph.entrances.some(({ step }) => step === input.entrance))
    throw fault('validation_failed', 'entrance', `The journey has no entrance \`${input.entrance}\`.`)
  const needed = await neededBy(ctx, graph)
  const row = await userOf(ctx, input, at)
  const events = row.id === MADE_UP ? [] : (await pastEventsOf(ctx, [row.id], needed.eventNames, at)).map(knownEvent)
  const [user] = await simulatedUsers(ctx, needed, [row], () => events)
  if (!user) throw missing('user')
  const items = itemsOf(graph, id, row, input, at)
  const suppressed = await suppressedFor(ctx, needed, row, input)
  const given = givenFor(ctx, needed, input, suppressed)
  const graphs = graphsOf(graph, await linkedGraphs(ctx, graph))
  const pause = pauseAfter(ctx, TIME_MAX_MS)
  const result = await simulateUser({
    ...{ graphs, journeyId: id, user, given, items, until, pause },
    watches: graph.watches,
    factAgeMaxMs: factAgeMaxMsOf(ctx),
    visitsMax: VISITS_MAX,
  })
  return present(ctx, row, needed, result)
}

function periodOf({ at: given, until: end }: SimulationInput, now: Date): { at: Date; until: Date } {
  const at = given === undefined ? now : (parseTime(given) as Date)
  const latest = new Date(at.getTime() + YEARS_MS)
  const until = end === undefined ? latest : (parseTime(end) as Date)
  if (until < at) throw fault('validation_failed', 'until', '`until` must not be before `at`.')
  if (until > latest) throw fault('validation_failed', 'until', '`until` must be at most five years after `at`.')
  return { at, until }
}

async function userOf(ctx: ProjectCtx, { user }: SimulationInput, at: Date): Promise<UserRow> {
  if ((user.external_id === undefined) === (user.profile === undefined))
    refuse([
      {
        code: 'validation_failed',
        param: 'user',
        message: 'Give `external_id` for a user of the project, or `profile` for a made-up user.',
      },
    ])
  return user.external_id === undefined ? madeUpUser(ctx, user.profile ?? {}, at) : requireUser(ctx, user.external_id)
}

/** An event of a user as rules count it. */
const knownEvent = ({ name, source, data, created_at }: Awaited<ReturnType<typeof pastEventsOf>>[number]): KnownEvent => ({
  name,
  source,
  data,
  createdAtMs: created_at.getTime(),
})

/** The graph to simulate, followed by those that its links lead to. */
export const graphsOf = (graph: Graph, linked: Graph[]): Graphs => ({
  live: [graph, ...linked],
  isHeld: () => false,
  version: () => undefined,
  planFor: () => 'stay',
})

/** A function that lets other work run now and then, and returns true once the time is up. */
export function pauseAfter({ clock }: Pick<ProjectCtx, 'clock'>, timeMs: number): () => Promise<boolean> {
  const endMs = clock.now().getTime() + timeMs
  let count = 0
  return async () => {
    count++
    if (count % ITEMS_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    return clock.now().getTime() > endMs
  }
}

const ITEMS_AT_ONCE = 20

/** Renders strings of steps in the worker threads. */
export const renderIn =
  (ctx: ProjectCtx): Given['render'] =>
  async (items) => {
    const outcomes = await ctx.threads.map(ctx, renderTexts, null, items)
    return outcomes.map((outcome): Text[] => ('value' in outcome ? outcome.value : []))
  }

/** The addresses of the user, also those that inputs set, that get no messages: by channel and address. */
async function suppressedFor(ctx: ProjectCtx, { campaigns }: Needed, row: UserRow, input: SimulationInput): Promise<Set<string>> {
  const users = (input.inputs ?? []).flatMap(({ profile }) => (profile ? [userAfter(ctx, row, profile)] : []))
  const found = new Set<string>()
  for (const { campaign, type } of campaigns.values()) {
    const addresses = [row, ...users].flatMap((user) => addressOf(campaign.channel, user) ?? [])
    const isTransactional = type?.is_transactional ?? false
    for (const address of (await suppressedAmong(ctx, campaign.channel, addresses, { isTransactional })).keys())
      found.add(`${campaign.id} ${address}`)
  }
  return found
}

/**
 * Why a user would get no message of a campaign, or null if they would get one, with the campaign; undefined for a campaign that is not
 * running.
 */
export function reasonFor(
  { campaigns }: Needed,
  id: CampaignId,
  { user, subscriptions, lists }: SimulatedUser,
  suppressed: Pick<ReadonlySet<string>, 'has'>,
) {
  const found = campaigns.get(id)
  if (!found || !isSendable(found)) return undefined
  const { campaign } = found
  const state = subscriptions.get(campaign.subscription_id)?.state ?? 0
  const address = addressOf(campaign.channel, user)
  const isExcluded = campaign.exclusion_list_ids.some((list) => lists.has(list as ListId))
  return { reason: reasonAgainst(found, user, state, suppressed.has(`${id} ${address}`), isExcluded), campaign }
}

/** The settings of the project that a simulation uses, with its lists and subscription types. */
export const givenOf = ({ project, projectId }: ProjectCtx, { lists, subscriptionIds }: Needed) => ({
  zone: project.timezone,
  locale: project.locale,
  projectId,
  lists,
  subscriptionIds: new Set(subscriptionIds),
})

function givenFor(ctx: ProjectCtx, needed: Needed, { answers = {}, outcomes = {} }: SimulationInput, suppressed: Set<string>): Given {
  return {
    ...givenOf(ctx, needed),
    evaluates: true,
    planMessage({ step, at }, id, user): MessagePlan | null {
      const found = reasonFor(needed, id, user, suppressed)
      if (!found) return null
      const { reason, campaign } = found
      const state = own(outcomes, step.key) ?? (reason === null ? 'sent' : 'skipped')
      const deadline = new Date(at.getTime() + campaign.expires_after_hours * HOUR_MS)
      return { reason, deadline, outcome: [{ state, reason: state === 'skipped' ? reason : null, at }] }
    },
    answerOf: ({ step, at }) => ({ ...answerOf(own(answers, step.key)), at }),
    reserve: ({ at }) => at,
    render: renderIn(ctx),
  }
}

const SUCCESS_END = 300
const REDIRECT_END = 400

/** The result of a webhook call with this response, after its retries. */
export function answerOf(given: { status: number; body?: unknown } | undefined) {
  const { status, body = {} } = given ?? { status: 200 }
  const problem = status < SUCCESS_END ? null : status < REDIRECT_END ? 'redirect' : 'status'
  return { answer: { status, body }, problem }
}

async function present(ctx: ProjectCtx, row: UserRow, needed: Needed, result: Simulated): Promise<SimulationResult> {
  const { entrances, visits, messages, refusals, stopped } = result
  const hidden = new Set(await hiddenKeysOf(ctx))
  const last = entrances.at(-1)
  const shown = entrances.flatMap((entrance, index) =>
    (visits.get(entrance.id) ?? []).map(({ seen, arrived_at, left_at, ...visit }) => {
      const about = { ...visit, arrived_at, left_at, seen: withoutAttributes(seen, hidden) }
      return {
        entrance: index + 1,
        ...about,
        arrived_at: new Date(arrived_at),
        left_at: left_at === null ? null : new Date(left_at),
        sentence: sentenceOf(entrance, about),
      }
    }),
  )
  return {
    visits: shown.sort((a, b) => a.arrived_at.getTime() - b.arrived_at.getTime()).slice(0, VISITS_MAX),
    messages: await presentMessages(ctx, row, needed, messages),
    refused: refusals,
    outcome: last?.outcome ?? null,
    next_due: last?.dueAt ?? null,
    ...(stopped !== null && { stopped }),
  }
}

async function presentMessages(ctx: ProjectCtx, row: UserRow, { campaigns }: Needed, messages: SimulatedMessage[]) {
  const rendered = messages.slice(0, RENDERED_MAX).flatMap(({ campaignId, scope: { user, event } }) => {
    const found = campaigns.get(campaignId)
    return found ? [{ campaign: found.campaign, user: { ...row, ...user }, event }] : []
  })
  const contents = await renderSimulated(ctx, rendered)
  let next = 0
  return messages.map(({ step, visit, at, campaignId, reason }, index) => {
    const content = index < RENDERED_MAX && campaigns.has(campaignId) ? contents[next++] : undefined
    return {
      ...{ step, visit, campaign_id: campaignId, at, eligible: reason === null, reason },
      ...(content && 'content' in content && { rendered: content.content }),
      ...(content && 'problem' in content && { problem: content.problem }),
    }
  })
}
