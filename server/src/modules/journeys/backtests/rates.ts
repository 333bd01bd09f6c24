/** The places of all users in the rates of balancers. Pure. */
import type { Asked } from '../engine/advance.ts'
import type { Effect } from '../steps/step.ts'

type Reserve = Extract<Effect, { is: 'reserve' }>
type Wish = Omit<Reserve, 'is'> & { key: string; step: string; atMs: number }

/**
 * Users are simulated one after the other, but share rates. So all of them run twice: first to know when they come, and again with the
 * places that they then get in the order of their coming.
 */
export class SharedRates {
  readonly #wishes: Wish[] = []
  #places: Map<string, Date> | null = null

  get isUsed(): boolean {
    return this.#wishes.length > 0
  }

  /** The place of a user; before they are given, that of a rate without other users. */
  reserve = ({ entrance, visit, step, at }: Asked, { limit, intervalMs, maxWaitMs }: Reserve): Date => {
    const key = `${entrance.userId} ${entrance.id} ${visit}`
    const place = this.#places?.get(key)
    if (this.#places === null) this.#wishes.push({ key, step: step.key, atMs: at.getTime(), limit, intervalMs, maxWaitMs })
    return place !== undefined && place > at ? place : at
  }

  /** Gives the places. */
  share(): void {
    this.#places = new Map()
    for (const [, wishes] of Map.groupBy(this.#wishes, ({ step }) => step)) {
      let nextMs = Number.NEGATIVE_INFINITY
      for (const { key, atMs, limit, intervalMs, maxWaitMs } of wishes.sort((a, b) => a.atMs - b.atMs)) {
        const eachMs = intervalMs / limit
        const firstMs = Math.max(nextMs, atMs - (intervalMs - eachMs))
        // Those who would wait too long leave the place to the next ones.
        if (maxWaitMs === null || firstMs - atMs <= maxWaitMs) nextMs = firstMs + eachMs
        this.#places.set(key, new Date(Math.max(atMs, Math.ceil(firstMs))))
      }
    }
  }
}
