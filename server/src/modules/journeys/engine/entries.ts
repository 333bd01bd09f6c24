/** Who enters because of what happened. Pure. */
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import { goalUntil } from '../goals.ts'
import type { JourneyItem } from '../queue-items.ts'
import { entryKeyIn } from '../steps/settings.ts'
import type { EffectResult, EntryEvent } from '../steps/step.ts'
import type { Question, Task } from './advance.ts'
import { add } from './counts.ts'
import { type Entrance, enter } from './entrance.ts'
import { decideEntry, ENTRIES_PER_DAY, type EntranceStep, type Entry, type EntryFact, type EntryState, entrancesFor } from './entry.ts'
import type { Fact, Occasion } from './facts.ts'
import type { CompiledStep, Graph } from './graph.ts'
import { causes, entranceId, keyHash } from './ids.ts'
import { activeOf, type Candidate, deltaOf, exit, LATE_MS, type Run } from './run.ts'

/** A fact that a user may enter a journey by. */
export type Attempt = { userId: UserId; at: Date; graph: Graph; fact: EntryFact; event: EntryEvent | null }

/** The attempts to enter that an occasion leads to: those of its facts, in the order of journeys, and then those of its items. */
export function attemptsOf(run: Run, occasion: Occasion): Attempt[] {
  const { userId, at, facts, depth } = occasion
  const byFacts = run.graphs.live.flatMap((graph) =>
    facts.flatMap((fact): Attempt[] => {
      const entry = entryFactOf(fact, depth, at)
      if (entry === null || entrancesFor(graph.entrances, graph.journeyId, entry).length === 0) return []
      return [{ userId, at, graph, fact: entry, event: eventOf(fact, at) }]
    }),
  )
  return [...byFacts, ...occasion.items.flatMap((item) => attemptOf(run, item, userId, at))]
}

function entryFactOf(fact: Fact, depth: number, at: Date): EntryFact | null {
  if (fact.is === 'changed') return null
  if (fact.is === 'membership') {
    if (fact.isInherited) return null
    const { listId, entered, key } = fact
    return { is: 'membership', listId, entered, cause: causes.list(listId, key), at, depth, data: {} }
  }
  if (!fact.starts) return null
  const { key, name, data, createdAt, isSystem, ofJourney, isImport, isInherited } = fact
  return { is: 'event', name, isSystem, ofJourney, isImport, isInherited, cause: causes.event(key), at: createdAt, depth, data }
}

function eventOf(fact: Fact, at: Date): EntryEvent | null {
  if (fact.is === 'event') return { name: fact.name, data: fact.data, created_at: fact.createdAt.toISOString() }
  if (fact.is === 'changed') return null
  return { name: fact.entered ? 'list_entered' : 'list_left', data: { list_id: fact.listId }, created_at: at.toISOString() }
}

/** An item `enter` comes from a request, or from a sweep over the users of a list. */
function attemptOf(run: Run, item: JourneyItem, userId: UserId, at: Date): Attempt[] {
  const graph = item.do === 'enter' ? run.graphs.live.find(({ journeyId }) => journeyId === item.journey_id) : undefined
  if (item.do !== 'enter' || !graph) return []
  const { cause, data = {}, depth = 0, entrance = null, key = null } = item
  const shared = { cause, data, depth, at }
  const isSweep = !cause.startsWith('api:') && entrance !== null
  const unlessEnteredSince = item.unless_entered_since === undefined ? null : new Date(item.unless_entered_since)
  const fact: EntryFact = isSweep
    ? { is: 'sweep', step: entrance, unlessEnteredSince, ...shared }
    : { is: 'api', step: entrance, key, ...shared }
  return [{ userId, at, graph, fact, event: { name: '', data, created_at: at.toISOString() } }]
}

const maxPerDay = ({ settings }: Graph): number => settings.max_entries_per_day ?? ENTRIES_PER_DAY

/** What has to be loaded to decide about attempts to enter. */
export function neededBy(attempts: Attempt[]) {
  const questions: Question[] = []
  const lists: { userId: UserId; list: NonNullable<Graph['settings']['exclusion_list_ids']>[number] }[] = []
  const candidates: Candidate[] = []
  for (const { userId, at, graph, fact } of attempts) {
    for (const entrance of entrancesFor(graph.entrances, graph.journeyId, fact)) {
      questions.push({ userId, entrance: null, step: graph.steps.get(entrance.step) as CompiledStep, at })
      const { journeyId } = graph
      const isRepeatable = fact.is === 'sweep' || fact.is === 'api'
      candidates.push({
        userId,
        journeyId,
        keyHash: keyHashOf(entrance, fact),
        entranceId: isRepeatable ? entranceId(journeyId, fact.cause, userId) : null,
        entriesPerDayMax: maxPerDay(graph),
      })
    }
    for (const list of graph.settings.exclusion_list_ids ?? []) lists.push({ userId, list })
  }
  return { questions, lists, candidates }
}

function keyHashOf({ settings: { entry_key, multiple } }: EntranceStep, fact: EntryFact): number | null {
  if (multiple) return null
  const key = (fact.is === 'api' ? fact.key : null) ?? (entry_key === undefined ? undefined : entryKeyIn(entry_key, fact.data))
  return key === undefined ? null : keyHash(key)
}

/** Decides about an attempt to enter. Returns the result, and the first decision of the new entrance if there is one. */
export function attempt(run: Run, { userId, at, graph, fact, event }: Attempt): { tasks: Task[]; result: EffectResult } {
  const nothing = (reason: string) => ({ tasks: [], result: { is: 'refused' as const, reason } })
  // A cause begins one entrance, whatever happened to it.
  const id = entranceId(graph.journeyId, fact.cause, userId)
  if (run.entrances.get(userId)?.some((entrance) => entrance.id === id) || run.world.loaded.hasEnded(userId, id)) return nothing('repeated')
  const state = stateOf(run, graph, userId, at)
  if (hasEnteredSince(fact, state)) return nothing('repeated')
  const entry = decideEntry(graph.entrances, fact, state)
  if (!entry) return nothing('no_entrance')
  const inside = 'slot' in entry ? activeOf(run, userId).find((one) => isIn(one, graph.journeyId, entry.slot)) : undefined
  switch (entry.is) {
    case 'refused':
      refuse(run, graph, userId, entry.reason, at)
      return nothing(entry.reason)
    case 'update':
      if (inside) {
        inside.event = event
        inside.isChanged = true
      }
      return { tasks: [], result: { is: 'applied', note: 'updated' } }
    case 'restart':
      if (inside) exit(run, inside, 'restarted', at)
      return { tasks: begin(run, graph, userId, entry, event, at), result: { is: 'applied' } }
    case 'enter':
      return { tasks: begin(run, graph, userId, entry, event, at), result: { is: 'applied' } }
    default:
      return entry satisfies never
  }
}

/** An entrance is as old as the item that caused it, and that may have waited. */
const hasEnteredSince = (fact: EntryFact, { lastEnteredAt }: EntryState): boolean =>
  fact.is === 'sweep' &&
  fact.unlessEnteredSince !== null &&
  lastEnteredAt !== null &&
  lastEnteredAt.getTime() >= fact.unlessEnteredSince.getTime() - LATE_MS

const isIn = (entrance: Entrance, journeyId: JourneyId, slot: string): boolean => entrance.journeyId === journeyId && entrance.slot === slot

function refuse(run: Run, { journeyId, settings }: Graph, userId: UserId, reason: string, at: Date): void {
  const refused = { journey_id: journeyId, what: 'refused', reason } as const
  add(run.refusals, refused)
  if (reason !== 'held_out') {
    add(run.counts, refused)
    return
  }
  const known = run.world.loaded.journeyUser(userId, journeyId).heldOutAt ?? deltaOf(run, userId, journeyId).held_out_at
  if (known !== null) return
  add(run.counts, { journey_id: journeyId, what: 'held_out' })
  const delta = deltaOf(run, userId, journeyId)
  delta.held_out_at = at
  delta.goal_until = goalUntil(settings, at)
}

type NewEntry = Extract<Entry, { is: 'enter' | 'restart' }>

function begin(run: Run, graph: Graph, userId: UserId, entry: NewEntry, event: EntryEvent | null, at: Date): Task[] {
  const entrance = enter(graph, userId, entry, event, at)
  const { journeyId, version, settings } = graph
  const all = run.entrances.get(userId)
  if (all) all.push(entrance)
  else run.entrances.set(userId, [entrance])
  const counted = { journey_id: journeyId, version, step_id: entrance.step.id }
  add(run.counts, { ...counted, what: 'entered' })
  add(run.counts, { ...counted, what: 'arrived', kind: entrance.step.type })
  const delta = deltaOf(run, userId, journeyId)
  delta.entered++
  delta.active++
  delta.last_entered_at = at
  delta.goal_until = goalUntil(settings, at)
  if (entry.key !== null && !entry.entrance.settings.multiple) {
    const key_hash = keyHash(entry.key)
    run.keys.set(`${userId} ${journeyId} ${key_hash}`, { user_id: userId, journey_id: journeyId, key_hash })
  }
  return [{ entrance, inputs: [{ is: 'arrived' }], at }]
}

function stateOf(run: Run, graph: Graph, userId: UserId, at: Date): EntryState {
  const { journeyId, settings } = graph
  const { loaded } = run.world
  const delta = deltaOf(run, userId, journeyId)
  const known = loaded.journeyUser(userId, journeyId)
  return {
    journeyId,
    userId,
    isLive: run.graphs.live.includes(graph),
    now: at,
    factAgeMaxMs: run.factAgeMaxMs,
    holdoutPercent: settings.holdout_percent ?? 0,
    exclusionListIds: settings.exclusion_list_ids ?? [],
    entriesPerDayMax: maxPerDay(graph),
    ruleHolds: ({ step }) => loaded.rule({ userId }, graph.steps.get(step) as CompiledStep, 'rule').holds,
    isIn: (list) => loaded.isIn(userId, list) === true,
    isInside: (slot) => activeOf(run, userId).some((entrance) => isIn(entrance, journeyId, slot)),
    hasEntered: (key) => {
      if (key === null) return known.entered + delta.entered > 0
      const hash = keyHash(key)
      return run.keys.has(`${userId} ${journeyId} ${hash}`) || loaded.hasKey(userId, journeyId, hash)
    },
    lastEnteredAt: delta.last_entered_at ?? known.lastEnteredAt,
    enteredToday: loaded.enteredToday(userId, journeyId) + delta.entered,
  }
}
