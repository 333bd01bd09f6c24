/** Loads what decisions about users depend on, with few statements for a round, and keeps it until an effect changes it. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { loadFactsFor } from '../../lists/index.ts'
import { endedAmong, entriesBetween, journeyUsersOf } from '../../positions/index.ts'
import type { CompiledRule, UserFacts } from '../../rules/index.ts'
import { findUsers } from '../../users/index.ts'
import type { Loaded, Question } from '../engine/advance.ts'
import type { Entrance } from '../engine/entrance.ts'
import { AHEAD_MS, ENTRIES_PERIOD_MS } from '../engine/entry.ts'
import type { CompiledStep } from '../engine/graph.ts'
import type { Ask, Candidate, JourneyUser, World } from '../engine/run.ts'
import type { RuleResult } from '../steps/step.ts'
import { renderTexts } from '../tasks.ts'
import * as queries from './queries.ts'
import { resultOf } from './seen.ts'

type User = UserFacts['user'] & { id: UserId }
type Text = { text: string } | { problem: string }

const NOBODY: JourneyUser = { entered: 0, lastEnteredAt: null, heldOutAt: null, arm: null, goals: {} }
const NO_RULE: RuleResult = { holds: false, nextChangeAt: null, seen: {} }

export class Facts {
  readonly #ctx: InTx
  readonly #users = new Map<UserId, User | null>()
  readonly #rules = new Map<CompiledRule, Map<UserId, RuleResult>>()
  readonly #lists = new Map<UserId, Map<ListId, boolean | undefined>>()
  readonly #texts = new Map<UserId, Map<string, Text>>()
  readonly #ended = new Set<string>()
  readonly #journeyUsers = new Map<string, JourneyUser>()
  readonly #today = new Map<string, number>()
  /** How often users were candidates of journeys: so many entrances may have begun that are not stored yet. */
  readonly #tries = new Map<string, number>()
  readonly #keys = new Set<string>()
  readonly #askedKeys = new Set<string>()

  constructor(ctx: InTx) {
    this.#ctx = ctx
    this.loaded.zone = ctx.project.timezone
  }

  /** What decisions read of it. */
  readonly loaded: Loaded & World['loaded'] = {
    zone: '',
    user: (id) => this.#users.get(id) ?? undefined,
    rule: ({ userId }, step, param) => this.#ruleOf(userId, step, param),
    isIn: (userId, list) => this.#lists.get(userId)?.get(list),
    rendered: (entrance, step, param) => this.#textOf(entrance, step, param),
    journeyUser: (userId, journeyId) => this.#journeyUsers.get(`${userId} ${journeyId}`) ?? NOBODY,
    hasEnded: (userId, id) => this.#ended.has(`${userId} ${id}`),
    hasKey: (userId, journeyId, hash) => this.#keys.has(`${userId} ${journeyId} ${hash}`),
    enteredToday: (userId, journeyId) => this.#today.get(`${userId} ${journeyId}`) ?? 0,
  }

  async load({ questions, lists, candidates }: Ask): Promise<void> {
    await this.#loadUsers(questions)
    await this.#loadRules(questions, lists)
    await this.#renderTexts(questions)
    await this.#loadCandidates(candidates)
  }

  /** Forgets users whose data changed. */
  forget(ids: Iterable<UserId>): void {
    for (const id of ids) {
      this.#users.delete(id)
      for (const results of this.#rules.values()) results.delete(id)
      this.#lists.delete(id)
      this.#texts.delete(id)
    }
  }

  async #loadUsers(questions: Question[]): Promise<void> {
    const unknown = [...new Set(questions.map(({ userId }) => userId))].filter((id) => !this.#users.has(id))
    if (unknown.length === 0) return
    for (const id of unknown) this.#users.set(id, null)
    for (const row of await findUsers(this.#ctx, unknown)) this.#users.set(row.id, row)
  }

  async #loadRules(questions: Question[], lists: { userId: UserId; list: ListId }[]): Promise<void> {
    const wanted = new Map<CompiledRule, Map<UserId, Date>>()
    const named = new Map<ListId, Set<UserId>>()
    const ids = new Set<UserId>()
    for (const { userId, step, at } of questions) {
      for (const { rule } of step.rules) {
        if (this.#rules.get(rule)?.has(userId)) continue
        wanted.set(rule, (wanted.get(rule) ?? new Map()).set(userId, at))
        ids.add(userId)
      }
    }
    const inSteps = questions.flatMap(({ userId, step }) => step.lists.map((list) => ({ userId, list })))
    for (const { userId, list } of [...lists, ...inSteps]) {
      if (this.#lists.get(userId)?.has(list)) continue
      named.set(list, (named.get(list) ?? new Set()).add(userId))
      ids.add(userId)
    }
    if (ids.size === 0) return
    const known = new Map([...ids].flatMap((id) => (this.#users.get(id) ? [[id, this.#users.get(id) as User] as const] : [])))
    const facts = await loadFactsFor(this.#ctx, { rules: [...wanted.keys()], lists: [...named.keys()], ids: [...ids], known })
    for (const [rule, users] of wanted) {
      const results = this.#rules.get(rule) ?? new Map<UserId, RuleResult>()
      this.#rules.set(rule, results)
      for (const [id, at] of users) {
        const found = facts.facts(rule, id)
        results.set(id, found ? resultOf(rule, found, at.getTime()) : NO_RULE)
      }
    }
    for (const [list, users] of named)
      for (const id of users) this.#lists.set(id, (this.#lists.get(id) ?? new Map()).set(list, facts.isIn(id, list)))
  }

  #ruleOf(userId: UserId, step: CompiledStep, param: string): RuleResult {
    const rule = step.rules.find((one) => one.param === param)?.rule
    return (rule && this.#rules.get(rule)?.get(userId)) ?? NO_RULE
  }

  async #renderTexts(questions: Question[]): Promise<void> {
    const wanted = questions.flatMap(({ entrance, step }) => {
      const dynamic = step.liquid.filter(({ template }) => hasLiquid(template))
      return entrance && dynamic.length > 0 && !this.#texts.get(entrance.userId)?.has(textKey(entrance, step, dynamic[0]?.param as string))
        ? [{ entrance, step, dynamic }]
        : []
    })
    if (wanted.length === 0) return
    const items = wanted.map(({ entrance, dynamic }) => ({
      templates: dynamic.map(({ template }) => template),
      scope: this.#scopeOf(entrance),
    }))
    const outcomes = await this.#ctx.threads.map(this.#ctx, renderTexts, null, items)
    for (const [at, { entrance, step, dynamic }] of wanted.entries()) {
      const outcome = outcomes[at]
      for (const [index, { param }] of dynamic.entries()) {
        const text = outcome && 'value' in outcome ? outcome.value[index] : undefined
        const own = this.#texts.get(entrance.userId) ?? new Map<string, Text>()
        this.#texts.set(entrance.userId, own.set(textKey(entrance, step, param), text ?? { problem: 'Rendering takes too long.' }))
      }
    }
  }

  #scopeOf(entrance: Entrance): Record<string, unknown> {
    const user = this.#users.get(entrance.userId)
    const { timezone, locale } = this.#ctx.project
    return {
      user: user ? { ...user, created_at: user.created_at.toISOString() } : {},
      event: entrance.event ?? {},
      journey: { id: entrance.journeyId, key: entrance.key, ...answersOf(entrance) },
      project: { id: this.#ctx.projectId, locale, timezone },
    }
  }

  #textOf(entrance: Entrance, step: CompiledStep, param: string): Text {
    const known = this.#texts.get(entrance.userId)?.get(textKey(entrance, step, param))
    if (known) return known
    const template = step.liquid.find((one) => one.param === param)?.template
    return template === undefined ? { problem: 'There is no text.' } : { text: template }
  }

  async #loadCandidates(candidates: Candidate[]): Promise<void> {
    const fresh = candidates.filter(({ userId, journeyId }) => !this.#journeyUsers.has(`${userId} ${journeyId}`))
    if (fresh.length > 0) await this.#loadJourneyUsers(fresh)
    await this.#loadToday(candidates)
    await this.#loadEnded(candidates)
    const keys = candidates.flatMap(({ userId, journeyId, keyHash }) =>
      keyHash === null || this.#askedKeys.has(`${userId} ${journeyId} ${keyHash}`)
        ? []
        : [{ user_id: userId, journey_id: journeyId, key_hash: keyHash }],
    )
    if (keys.length === 0) return
    for (const { user_id, journey_id, key_hash } of keys) this.#askedKeys.add(`${user_id} ${journey_id} ${key_hash}`)
    for (const { user_id, journey_id, key_hash } of await queries.usedKeys(this.#ctx, keys)) {
      this.#keys.add(`${user_id} ${journey_id} ${key_hash}`)
    }
  }

  async #loadEnded(candidates: Candidate[]): Promise<void> {
    const pairs = candidates.flatMap(({ userId, entranceId }) =>
      entranceId === null ? [] : [{ user_id: userId, entrance_id: entranceId }],
    )
    if (pairs.length === 0) return
    for (const { user_id, entrance_id } of await endedAmong(this.#ctx, pairs)) this.#ended.add(`${user_id} ${entrance_id}`)
  }

  async #loadJourneyUsers(candidates: Candidate[]): Promise<void> {
    const userIds = [...new Set(candidates.map(({ userId }) => userId))]
    const journeyIds = [...new Set(candidates.map(({ journeyId }) => journeyId))]
    for (const userId of userIds) for (const journeyId of journeyIds) this.#journeyUsers.set(`${userId} ${journeyId}`, NOBODY)
    for (const row of await journeyUsersOf(this.#ctx, userIds, journeyIds)) {
      const { user_id, journey_id, entered, last_entered_at, held_out_at, arm, goals } = row
      const known = { entered, lastEnteredAt: last_entered_at, heldOutAt: held_out_at, arm, goals }
      this.#journeyUsers.set(`${user_id} ${journey_id}`, known)
    }
  }

  /** Only who may have entered so often at all, with this wave, can have done so today. */
  async #loadToday(candidates: Candidate[]): Promise<void> {
    const often = new Map<string, { user_id: UserId; journey_id: JourneyId }>()
    for (const { userId, journeyId, entriesPerDayMax } of candidates) {
      const pair = `${userId} ${journeyId}`
      const tries = (this.#tries.get(pair) ?? 0) + 1
      this.#tries.set(pair, tries)
      const { entered } = this.loaded.journeyUser(userId, journeyId)
      if (entered === 0 || entered + tries <= entriesPerDayMax || this.#today.has(pair)) continue
      often.set(pair, { user_id: userId, journey_id: journeyId })
    }
    if (often.size === 0) return
    for (const pair of often.keys()) this.#today.set(pair, 0)
    const now = this.#ctx.clock.now().getTime()
    const [since, until] = [new Date(now - ENTRIES_PERIOD_MS), new Date(now + AHEAD_MS)]
    for (const { user_id, journey_id, entries } of await entriesBetween(this.#ctx, [...often.values()], since, until)) {
      this.#today.set(`${user_id} ${journey_id}`, entries)
    }
  }
}

const textKey = ({ id, visit }: Entrance, { key }: CompiledStep, param: string) => `${id} ${visit} ${key} ${param}`

/** The answers of webhook steps, as templates and tests read them: `journey.<step>.body`. */
const answersOf = ({ answers }: Pick<Entrance, 'answers'>): Record<string, unknown> => ({ ...answers })
