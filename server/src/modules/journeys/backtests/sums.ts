/** Adds up what happened to the users of a backtest. Pure. */
import type { RecordedEntrance } from '../../positions/index.ts'
import type { Simulated } from '../simulation/simulate.ts'
import type { BacktestResult } from './schema.ts'

const EXAMPLES_MAX = 10
const EXAMPLE_VISITS_MAX = 20

/** Numbers by name. */
class Counter {
  readonly #counts = new Map<string, number>()

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count)
  }

  of = (name: string): number => this.#counts.get(name) ?? 0
  names = (): string[] => [...this.#counts.keys()]
  all = (): Record<string, number> => Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export class BacktestSums {
  readonly #until: string
  users = 0
  #entrants = 0
  #sends = 0
  readonly excluded = new Counter()
  readonly flags = new Set<string>()
  readonly #outcomes = new Counter()
  readonly #skips = new Counter()
  readonly #refused = new Counter()
  readonly #entered = new Counter()
  readonly #left = new Counter()
  readonly #live = new Counter()
  readonly #edges = new Counter()
  readonly #examples: BacktestResult['examples'] = []

  /** `until` is the end of the window: visits after it are not counted. */
  constructor(until: Date) {
    this.#until = until.toISOString()
  }

  /** Adds a user, and what the live journey did with them. */
  add(userId: number, { entrances, visits, messages, refusals, stopped }: Simulated, recorded: RecordedEntrance[]): void {
    this.users++
    for (const { outcome } of entrances) this.#outcomes.add(outcome?.as ?? 'active')
    this.#entrants += entrances.length
    for (const { reason } of messages) {
      if (reason === null) this.#sends++
      else this.#skips.add(reason)
    }
    for (const { reason } of refusals) this.#refused.add(reason)
    for (const own of visits.values()) {
      for (const [index, { step, left_at, path }] of own.entries()) {
        this.#entered.add(step)
        if (left_at !== null) this.#left.add(step)
        const next = own[index + 1]
        if (path !== null && next) this.#edges.add(JSON.stringify([step, path, next.step]))
      }
    }
    for (const { trail } of recorded) for (const { step, arrived_at } of trail) if (arrived_at <= this.#until) this.#live.add(step)
    if (stopped !== null) this.flags.add(stopped)
    if (entrances.length > 0 && this.#examples.length < EXAMPLES_MAX) this.#examples.push({ user_id: userId, visits: examplesOf(visits) })
  }

  result(insideAtStart: number): BacktestResult {
    const steps = Object.fromEntries(
      this.#entered
        .names()
        .sort()
        .map((step) => [step, { entered: this.#entered.of(step), left: this.#left.of(step) }]),
    )
    const names = [...new Set([...this.#entered.names(), ...this.#live.names()])].sort()
    const different = names.map((step) => [step, { live: this.#live.of(step), backtest: this.#entered.of(step) }] as const)
    return {
      users: this.users,
      entrants: this.#entrants,
      completed: this.#outcomes.of('completed'),
      exited: this.#outcomes.of('exited'),
      active: this.#outcomes.of('active'),
      sends: this.#sends,
      skips: this.#skips.all(),
      refused: this.#refused.all(),
      steps,
      edges: Object.entries(this.#edges.all()).map(([edge, users]) => {
        const [from, path, to] = JSON.parse(edge) as [string, string, string]
        return { from, path, to, users }
      }),
      inside_at_start: insideAtStart,
      excluded: this.excluded.all(),
      difference: Object.fromEntries(different.filter(([, { live, backtest }]) => live !== backtest)),
      approximate: [...this.flags].sort(),
      examples: this.#examples,
    }
  }
}

const examplesOf = (visits: Simulated['visits']): BacktestResult['examples'][number]['visits'] =>
  [...visits.values()]
    .flat()
    .slice(0, EXAMPLE_VISITS_MAX)
    .map(({ step, arrived_at, left_at, path, reason }) => ({ step, arrived_at, left_at, path, reason }))
