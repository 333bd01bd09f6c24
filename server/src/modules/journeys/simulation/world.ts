/** A world in memory, of one user: facts that were read before, and effects that change nothing but this memory. */

import type { CampaignId, JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { CompiledRule } from '../../rules/index.ts'
import type { Asked, Question } from '../engine/advance.ts'
import type { Entrance } from '../engine/entrance.ts'
import { DEPTH_MAX } from '../engine/entry.ts'
import type { Fact, Occasion } from '../engine/facts.ts'
import type { CompiledStep } from '../engine/graph.ts'
import type { Ask, World } from '../engine/run.ts'
import { resultOf } from '../live/seen.ts'
import type { EffectResult, RuleResult } from '../steps/step.ts'
import type { Given, SimulatedMessage, Text } from './given.ts'
import { factsFor, journeyUserOf, listEvent, type SimulatedItem, type SimulatedUser, setAttributes, setMembership } from './user.ts'

const NO_RULE: RuleResult = { holds: false, nextChangeAt: null, seen: {} }
const APPLIED: EffectResult = { is: 'applied' }
const UNCHANGED: EffectResult = { is: 'applied', note: 'unchanged' }

/** What the effects of a round change. */
type Changed = { what: string[]; facts: Fact[] }

export class MemoryWorld implements World {
  readonly user: SimulatedUser
  readonly given: Given
  readonly messages: SimulatedMessage[] = []
  /** Outcomes and answers that are to come. */
  readonly coming: SimulatedItem[] = []
  now = new Date(0)
  readonly #texts = new Map<string, Text>()
  readonly loaded: World['loaded']

  constructor(user: SimulatedUser, given: Given) {
    this.user = user
    this.given = given
    this.loaded = {
      zone: given.zone,
      user: (id) => (id === this.user.user.id ? this.user.user : undefined),
      rule: (_, step, param) => this.#ruleOf(step, param),
      isIn: (_, list) => (given.lists.some(({ id }) => id === list) ? this.user.lists.has(list) : undefined),
      rendered: (entrance, step, param) => this.#textOf(entrance, step, param),
      journeyUser: (_, journeyId) => journeyUserOf(this.user, journeyId),
      hasEnded: (_, id) => this.user.journeys.values().some(({ ended }) => ended.has(id)),
      hasKey: (_, journeyId, hash) => journeyUserOf(this.user, journeyId).keys.has(hash),
      enteredToday: (_, journeyId) => this.#enteredToday(journeyId),
    }
  }

  get userId(): UserId {
    return this.user.user.id
  }

  #enteredToday(journeyId: JourneyId): number {
    const since = this.now.getTime() - DAY_MS
    return journeyUserOf(this.user, journeyId).enteredAt.filter((at) => at.getTime() > since).length
  }

  #ruleOf(step: CompiledStep, param: string): RuleResult {
    const rule = step.rules.find((one) => one.param === param)?.rule
    return rule ? resultOf(rule, this.#facts(rule), this.now.getTime()) : NO_RULE
  }

  #facts(rule: CompiledRule) {
    return factsFor(this.user, rule, this.now.getTime())
  }

  async load({ questions }: Ask): Promise<void> {
    const wanted = questions.flatMap(({ entrance, step }: Question) => {
      const dynamic = step.liquid.filter(({ template }) => hasLiquid(template))
      return entrance && dynamic.length > 0 ? [{ entrance, step, dynamic }] : []
    })
    if (wanted.length === 0) return
    const items = wanted.map(({ entrance, dynamic }) => ({
      templates: dynamic.map(({ template }) => template),
      scope: this.#scopeOf(entrance),
    }))
    const texts = await this.given.render(items)
    for (const [at, { entrance, step, dynamic }] of wanted.entries())
      for (const [index, { param }] of dynamic.entries())
        this.#texts.set(textKey(entrance, step, param), texts[at]?.[index] ?? { problem: 'Rendering takes too long.' })
  }

  #scopeOf({ event, journeyId, key, answers }: Entrance): Record<string, unknown> {
    const { user } = this.user
    const { projectId, locale, zone } = this.given
    return {
      user: { ...user, created_at: user.created_at.toISOString() },
      event: event ?? {},
      journey: { id: journeyId, key, ...answers },
      project: { id: projectId, locale, timezone: zone },
    }
  }

  #textOf(entrance: Entrance, step: CompiledStep, param: string): Text {
    const known = this.#texts.get(textKey(entrance, step, param))
    if (known) return known
    const template = step.liquid.find((one) => one.param === param)?.template
    return template === undefined ? { problem: 'There is no text.' } : { text: template }
  }

  /** Applies what happens to the user. Returns it as facts. */
  accept({ at, isNew, attributes = {}, subscriptions = [], events = [], lists = [], isTime }: SimulatedItem): Fact[] {
    this.now = at
    const what = setAttributes(this.user, attributes).map((name) => `attribute:${name}`)
    for (const { id, state } of subscriptions) {
      this.user.subscriptions.set(id, { state, isDefault: false })
      what.push(`subscription:${id}`)
    }
    for (const event of events) this.#know(event)
    const moved = lists.filter(({ listId, entered }) => setMembership(this.user, listId, entered))
    for (const { listId, entered } of moved) this.user.events.push(listEvent(listId, entered, at))
    const named = [...what, ...events.map(({ name }) => `event:${name}`), ...moved.map(({ listId }) => `list:${listId}`)]
    const isAny = isNew === true || isTime === true
    const followed = this.given.evaluates ? this.#follow(named, `simulated:${at.getTime()}`, isAny) : []
    const moves = [...moved, ...followed]
    const changed = [...what, ...moves.map(({ listId }) => `list:${listId}`)]
    const isChanged = changed.length > 0 || isNew === true
    return [...events, ...moves, ...(isChanged ? [{ is: 'changed' as const, what: changed, isNew: isNew === true }] : [])]
  }

  #know({ name, data, createdAt, isSystem }: Extract<Fact, { is: 'event' }>): void {
    this.user.events.push({ name, data, source: isSystem ? 'system' : 'api', createdAtMs: createdAt.getTime() })
  }

  /** Evaluates the dynamic lists that depend on what changed. */
  #follow(what: string[], key: string, isAny = false): Extract<Fact, { is: 'membership' }>[] {
    const changed = new Set(what)
    return this.given.lists.flatMap(({ id, rule }) => {
      if (!rule || !(isAny || [...rule.dependencies].some((one) => changed.has(one)))) return []
      const entered = rule.holds(this.#facts(rule), this.now.getTime())
      if (!setMembership(this.user, id, entered)) return []
      changed.add(`list:${id}`)
      this.user.events.push(listEvent(id, entered, this.now))
      return [{ is: 'membership' as const, listId: id, entered, key, isInherited: false }]
    })
  }

  /** When the next membership can change because time passes; infinity if none can. */
  nextListChangeMs(): number {
    if (!this.given.evaluates) return Number.POSITIVE_INFINITY
    const changes = this.given.lists.flatMap(({ rule }) => rule?.nextChangeAt(this.#facts(rule), this.now.getTime()) ?? [])
    return Math.min(...changes)
  }

  async apply(asked: Asked[]): Promise<{ results: Map<Asked, EffectResult>; followed: Occasion[] }> {
    const results = new Map<Asked, EffectResult>()
    const changed: Changed = { what: [], facts: [] }
    for (const one of asked) results.set(one, this.#applyOne(one, changed))
    return { results, followed: this.#followed(asked, changed) }
  }

  #applyOne(one: Asked, changed: Changed): EffectResult {
    const { effect } = one
    switch (effect.is) {
      case 'message':
        return this.#plan(one, effect.campaignId)
      case 'update':
        return this.#update(one, effect.attributes, changed)
      case 'event':
        return this.#emit(one, effect.name, effect.data, changed)
      case 'list':
        return this.#moveTo(one, effect.listId, effect.change === 'add', changed)
      case 'subscription':
        return this.#subscribe(effect.subscriptionId, effect.state, changed)
      case 'reserve':
        return this.#reserve(one, effect)
      case 'call':
        return this.#call(one, effect.url)
      case 'enter':
        return { is: 'refused', reason: 'not_applied' }
      default:
        return effect satisfies never
    }
  }

  #plan(one: Asked, campaignId: CampaignId): EffectResult {
    const { entrance, visit, step, at } = one
    const plan = this.given.planMessage(one, campaignId, this.user)
    const event = { ...(entrance.event ?? {}), journey: { ...entrance.answers, id: entrance.journeyId, key: entrance.key } }
    const scope = { user: this.user.user, event }
    const reason = plan === null ? 'campaign_stopped' : plan.reason
    this.messages.push({ entrance: entrance.id, step: step.key, visit, at, campaignId, reason, scope })
    if (plan === null) return { is: 'refused', reason: 'campaign_stopped' }
    for (const { state, reason, at } of plan.outcome) this.#come(one, at, { do: 'outcome', visit, state, reason })
    return { is: 'queued', deadline: plan.deadline }
  }

  #come({ entrance: { journeyId, userId, id } }: Asked, at: Date, item: object): void {
    const about = { journey_id: journeyId, user_id: userId, entrance_id: id }
    this.coming.push({ at, items: [{ ...about, ...item } as never] })
  }

  #call(one: Asked, url: string): EffectResult {
    if (!URL.canParse(url)) return { is: 'refused', reason: 'invalid_url' }
    const { answer, problem, at } = this.given.answerOf(one)
    this.#come(one, at, { do: 'answer', visit: one.visit, ...answer, problem })
    return APPLIED
  }

  #reserve(one: Asked, effect: Extract<Asked['effect'], { is: 'reserve' }>): EffectResult {
    const at = this.given.reserve(one, effect)
    const isTooLate = effect.maxWaitMs !== null && at.getTime() - one.at.getTime() > effect.maxWaitMs
    return isTooLate ? { is: 'over_limit' } : { is: 'reserved', at }
  }

  #update({ at }: Asked, attributes: Record<string, unknown>, changed: Changed): EffectResult {
    const named = setAttributes(this.user, Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`data.${key}`, value])))
    if (named.length === 0) return UNCHANGED
    changed.what.push(...named.map((name) => `attribute:${name}`))
    changed.facts.push(this.#fact('user_updated', { changed: named }, at, 'update', true, false))
    return APPLIED
  }

  #fact(name: string, data: Record<string, unknown>, createdAt: Date, key: string, isSystem: boolean, starts: boolean): Fact {
    const none = { ofJourney: null, ofEntrance: null, isImport: false, isInherited: false }
    const fact = { is: 'event' as const, key, name, data, createdAt, isSystem, starts, ...none }
    this.#know(fact)
    return fact
  }

  #emit({ entrance, visit, at }: Asked, name: string, data: Record<string, unknown>, changed: Changed): EffectResult {
    const isTooDeep = entrance.depth + 1 > DEPTH_MAX
    const fact = this.#fact(name, data, at, `journey:${entrance.id}:${visit}`, false, true)
    if (isTooDeep) return { is: 'applied', note: 'loop_depth' }
    changed.facts.push(fact)
    return APPLIED
  }

  #moveTo({ entrance, visit, at }: Asked, listId: ListId, entered: boolean, changed: Changed): EffectResult {
    if (!this.given.lists.some(({ id, rule }) => id === listId && rule === null)) return { is: 'refused', reason: 'list_gone' }
    if (!setMembership(this.user, listId, entered)) return UNCHANGED
    this.user.events.push(listEvent(listId, entered, at))
    changed.what.push(`list:${listId}`)
    changed.facts.push({ is: 'membership', listId, entered, key: `journey:${entrance.id}:${visit}`, isInherited: false })
    return APPLIED
  }

  #subscribe(id: number, state: 0 | 1, changed: Changed): EffectResult {
    if (!this.given.subscriptionIds.has(id)) return { is: 'refused', reason: 'subscription_gone' }
    const before = this.user.subscriptions.get(id) ?? { state: 0, isDefault: true }
    if (before.state === 0 && !before.isDefault && state === 1) return { is: 'applied', note: 'consent_kept' }
    if (before.state === state || (before.state === 2 && state === 1)) return UNCHANGED
    this.user.subscriptions.set(id, { state, isDefault: false })
    changed.what.push(`subscription:${id}`)
    return APPLIED
  }

  /** What follows from the effects of a round, at once. */
  #followed(asked: Asked[], { what, facts }: Changed): Occasion[] {
    const [first] = asked
    if (!first || what.length + facts.length === 0) return []
    const { at, entrance, visit } = first
    const names = facts.flatMap((fact) => (fact.is === 'event' ? [`event:${fact.name}`] : []))
    const moves = this.#follow([...what, ...names], `journey:${entrance.id}:${visit}`)
    const depth = Math.max(...asked.map((one) => one.entrance.depth)) + 1
    const all = [...what, ...moves.map(({ listId }) => `list:${listId}`)]
    const found: Fact[] = [...facts, ...moves, { is: 'changed', what: all, isNew: false }]
    return [{ userId: this.userId, at, depth, facts: found, timers: [], items: [] }]
  }
}

const textKey = ({ id, visit }: Entrance, { key }: CompiledStep, param: string) => `${id} ${visit} ${key} ${param}`
