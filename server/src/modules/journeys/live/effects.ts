/** Applies the effects of a round, one statement for each kind, and evaluates the memberships that depend on them. */
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../../lib/ids.ts'
import { journeyIntents } from '../../campaigns/index.ts'
import { type NewEvent, newSystemEvent, type StoredEvent, storeEvents } from '../../events/index.ts'
import { changeMembers, evaluateMemberships, type MembershipChange, membershipEventsOf } from '../../lists/index.ts'
import { writeByJourney } from '../../subscriptions/index.ts'
import { systemEventsOf, type UserChange, upsertUsers } from '../../users/index.ts'
import type { Asked } from '../engine/advance.ts'
import { DEPTH_MAX } from '../engine/entry.ts'
import type { Occasion } from '../engine/facts.ts'
import type { Effect, EffectResult } from '../steps/step.ts'
import { eventFact, membershipFact } from './occasions.ts'
import * as queries from './queries.ts'
import { causeOf } from './save.ts'
import type { LiveWorld } from './world.ts'

type Of<K extends Effect['is']> = Asked & { effect: Extract<Effect, { is: K }> }

const APPLIED: EffectResult = { is: 'applied' }

/** What a round changes about users, for the memberships and the users that follow. */
type Changed = { changes: UserChange[]; events: NewEvent[]; moves: MembershipChange[] }

type Results = Map<Asked, EffectResult>

export async function applyEffects(world: LiveWorld, asked: Asked[]): Promise<{ results: Results; followed: Occasion[] }> {
  const of = <K extends Effect['is']>(is: K) => asked.filter((one): one is Of<K> => one.effect.is === is)
  const results: Results = new Map()
  const changed: Changed = { changes: [], events: [], moves: [] }
  await planMessages(world, of('message'), results)
  await reservePlaces(world, of('reserve'), results)
  await planCalls(world, of('call'), results)
  await updateUsers(world, of('update'), results, changed)
  await changeLists(world, of('list'), results, changed)
  await changeSubscriptions(world, of('subscription'), results, changed)
  emitEvents(of('event'), results, changed)
  return { results, followed: await follow(world, asked, changed) }
}

async function planMessages(world: LiveWorld, asked: Of<'message'>[], results: Results): Promise<void> {
  if (asked.length === 0) return
  const wanted = asked.map(({ entrance, effect, visit, step, at }) => ({
    user_id: entrance.userId,
    campaign_id: effect.campaignId,
    cause: causeOf(entrance.id, visit),
    event: {
      ...(entrance.event ?? { name: '', data: {}, created_at: at.toISOString() }),
      journey: { ...entrance.answers, id: entrance.journeyId, key: entrance.key },
    },
    journey: { journey_id: entrance.journeyId, entrance_id: entrance.id, visit, step_id: step.id, step: step.key },
  }))
  const intents = await journeyIntents(world.ctx, wanted)
  for (const [at, one] of asked.entries()) {
    const intent = intents[at] ?? null
    results.set(one, intent === null ? { is: 'refused', reason: 'campaign_stopped' } : { is: 'queued', deadline: intent.expires_at })
    if (intent !== null) world.intended.push({ asked: one, intent })
  }
}

/** Reserves in a transaction of its own, so that no lock on a rate is held until the batch is over. */
async function reservePlaces({ ctx, outside }: LiveWorld, asked: Of<'reserve'>[], results: Results): Promise<void> {
  if (asked.length === 0) return
  const groups = [...Map.groupBy(asked, reservationOf).values()]
  const wanted = groups.map((group) => {
    const [{ entrance, step, effect }] = group as [Of<'reserve'>]
    return { ...effect, journey_id: entrance.journeyId, step_id: step.id, users: group.length }
  })
  const nowMs = ctx.clock.now().getTime()
  const reserved = await inTx({ ...ctx, db: outside }, (own) => queries.reserve(own, wanted))
  for (const [number, group] of groups.entries()) {
    // Those who find no place leave it to the next ones.
    const { firstAt, places } = reserved[number] as (typeof reserved)[number]
    for (const [index, one] of group.entries()) {
      const at = Math.max(nowMs, Math.ceil(firstAt.getTime() + (index * one.effect.intervalMs) / one.effect.limit))
      results.set(one, index < places ? { is: 'reserved', at: new Date(at) } : { is: 'over_limit' })
    }
  }
}

/** Users of several versions may come to a step together, with other settings of the same rate. */
const reservationOf = ({ entrance, step, effect: { limit, intervalMs, maxWaitMs } }: Of<'reserve'>): string =>
  [entrance.journeyId, step.id, limit, intervalMs, maxWaitMs].join(' ')

async function planCalls({ ctx }: LiveWorld, asked: Of<'call'>[], results: Results): Promise<void> {
  if (asked.length === 0) return
  const calls = asked.flatMap((one): queries.NewCall[] => {
    const { entrance, visit, effect } = one
    const { is: _, ...request } = effect
    if (!URL.canParse(effect.url)) {
      results.set(one, { is: 'refused', reason: 'invalid_url' })
      return []
    }
    results.set(one, APPLIED)
    return [
      {
        user_id: entrance.userId,
        entrance_id: entrance.id,
        visit,
        journey_id: entrance.journeyId,
        host: new URL(effect.url).host,
        request,
      },
    ]
  })
  if (calls.length === 0) return
  await queries.insertCalls(ctx, calls)
  ctx.wake({ name: 'journeys.call' })
}

async function updateUsers({ ctx }: LiveWorld, asked: Of<'update'>[], results: Results, changed: Changed): Promise<void> {
  if (asked.length === 0) return
  const updates = asked.map(({ entrance, effect, at }) => ({ profile: { data: effect.attributes }, at, user_id: entrance.userId }))
  const { outcomes, changes } = await upsertUsers(ctx, updates)
  const differs = new Set(changes.changes.map(({ user_id }) => user_id))
  for (const [at, one] of asked.entries()) {
    const outcome = outcomes[at]
    if (outcome && 'faults' in outcome)
      results.set(one, { is: 'refused', reason: 'invalid', detail: outcome.faults.map(({ message }) => message).join(' ') })
    else results.set(one, differs.has(one.entrance.userId) ? APPLIED : { is: 'applied', note: 'unchanged' })
  }
  changed.changes.push(...changes.changes)
  const origins = new Map(asked.map(({ entrance: { userId, journeyId, id } }) => [userId, { journey_id: journeyId, entrance_id: id }]))
  for (const event of systemEventsOf(ctx, changes.changes).map(newSystemEvent)) {
    const journey = origins.get(event.userId)
    changed.events.push({ ...event, ...(journey && { journey }) })
  }
}

async function changeLists({ ctx, partition }: LiveWorld, asked: Of<'list'>[], results: Results, changed: Changed): Promise<void> {
  for (const [, group] of Map.groupBy(asked, ({ effect }) => `${effect.listId} ${effect.change}`)) {
    const [{ effect }] = group as [Of<'list'>]
    const ids = group.map(({ entrance }) => entrance.userId)
    const moved = await changeMembers(ctx, effect.listId, ids, effect.change === 'add', partition)
    const movedIds = moved && new Set(moved)
    for (const one of group) results.set(one, listResult(movedIds, one))
    if (moved === null) continue
    for (const userId of moved) {
      changed.moves.push({ userId, listId: effect.listId, entered: effect.change === 'add' })
      changed.changes.push({ user_id: userId, what: [`list:${effect.listId}`] })
    }
  }
}

/** `moved` are the users whose membership changed; null when the list does not exist. */
function listResult(moved: ReadonlySet<UserId> | null, { entrance }: Of<'list'>): EffectResult {
  if (moved === null) return { is: 'refused', reason: 'list_gone' }
  return moved.has(entrance.userId) ? APPLIED : { is: 'applied', note: 'unchanged' }
}

async function changeSubscriptions({ ctx }: LiveWorld, asked: Of<'subscription'>[], results: Results, changed: Changed): Promise<void> {
  if (asked.length === 0) return
  const wanted = asked.map(({ entrance, effect }) => ({
    user_id: entrance.userId,
    subscription_id: effect.subscriptionId as SubscriptionId,
    state: effect.state,
    proof: { journey_id: entrance.journeyId, entrance_id: entrance.id },
  }))
  const outcomes = await writeByJourney(ctx, wanted)
  for (const [at, one] of asked.entries()) {
    const outcome = outcomes[at] ?? 'subscription_gone'
    if (outcome === 'written') {
      results.set(one, APPLIED)
      changed.changes.push({ user_id: one.entrance.userId, what: [`subscription:${one.effect.subscriptionId}`] })
    } else if (outcome === 'subscription_gone') results.set(one, { is: 'refused', reason: outcome })
    else results.set(one, { is: 'applied', note: outcome })
  }
}

function emitEvents(asked: Of<'event'>[], results: Results, changed: Changed): void {
  for (const one of asked) {
    const { entrance, visit, effect, at } = one
    const key = `journey:${entrance.id}:${visit}`
    const isTooDeep = entrance.depth + 1 > DEPTH_MAX
    changed.events.push({
      userId: entrance.userId,
      event: { key, name: effect.name, data: effect.data, createdAt: at, receivedAt: at, eventId: null },
      source: 'api',
      journey: { journey_id: entrance.journeyId, entrance_id: entrance.id },
      ...(isTooDeep && { starts: 'nothing' as const }),
    })
    results.set(one, isTooDeep ? { is: 'applied', note: 'loop_depth' } : APPLIED)
  }
}

/** Stores the events of a round, evaluates the memberships that depend on it, and returns what users are to be decided about. */
async function follow(world: LiveWorld, asked: Asked[], { changes, events, moves }: Changed): Promise<Occasion[]> {
  if (changes.length + events.length + moves.length === 0) return []
  const { ctx, partition, facts } = world
  const stored = await storeEvents(ctx, events, partition)
  const moved = [...moves, ...(await evaluateMemberships(ctx, stored, { changes, merges: [] }, partition))]
  const aboutLists = await storeEvents(ctx, membershipEventsOf(ctx, moved), partition)
  world.stored.push(...stored, ...aboutLists)
  facts.forget(asked.map(({ entrance }) => entrance.userId))
  const eventsOf = Map.groupBy(stored.filter(isWide), ({ userId }) => userId)
  const movesOf = Map.groupBy(moved, ({ userId }) => userId)
  const changesOf = Map.groupBy(changes, ({ user_id }) => user_id)
  return [...Map.groupBy(asked, ({ entrance }) => entrance.userId)].map(([userId, own]): Occasion => {
    const depth = Math.max(...own.map(({ entrance }) => entrance.depth)) + 1
    const [{ at, entrance, visit }] = own as [Asked]
    const lists = movesOf.get(userId) ?? []
    const what = (changesOf.get(userId) ?? []).flatMap((change) => change.what)
    const found = [
      ...(eventsOf.get(userId) ?? []).map(eventFact),
      ...lists.map((move) => membershipFact(move, `journey:${entrance.id}:${visit}`)),
      { is: 'changed' as const, what: [...what, ...lists.map(({ listId }) => `list:${listId}`)], isNew: false },
    ]
    return { userId, at, depth, facts: found, timers: [], items: [] }
  })
}

/** An event that is too deep changes nothing. */
const isWide = ({ source, starts }: StoredEvent): boolean => !(source === 'api' && starts === 'nothing')
