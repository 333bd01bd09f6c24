/** Lookups that share statements: what is asked for while a statement runs is looked up together by the next one. */
import type { Db } from '../postgres/db.ts'
import type { Ctx } from './ctx.ts'

/** A statement that takes longer than this does not keep others waiting. */
const SLOW_MS = 50
const TOGETHER_MAX = 500

type Waiting<K, V> = { ctx: Ctx; key: K; resolve(value: V | undefined): void; reject(reason: unknown): void }

/** `inFlight` counts the statements; `startedAt` is the start of the last one. */
type State<K, V> = { waiting: Waiting<K, V>[]; inFlight: number; startedAt: number }

/** A lookup of one key, by a statement that finds the values of many. */
export function gathered<K, V>(find: (ctx: Ctx, keys: K[]) => Promise<ReadonlyMap<K, V>>): (ctx: Ctx, key: K) => Promise<V | undefined> {
  const states = new WeakMap<Db, State<K, V>>()
  return (ctx, key) => {
    const state = states.get(ctx.db) ?? { waiting: [], inFlight: 0, startedAt: 0 }
    states.set(ctx.db, state)
    return new Promise((resolve, reject) => {
      state.waiting.push({ ctx, key, resolve, reject })
      if (state.inFlight === 0 || performance.now() - state.startedAt > SLOW_MS) void findNext(state)
    })
  }

  async function findNext(state: State<K, V>): Promise<void> {
    state.inFlight++
    for (let calls = state.waiting.splice(0, TOGETHER_MAX); calls.length > 0; calls = state.waiting.splice(0, TOGETHER_MAX)) {
      state.startedAt = performance.now()
      try {
        const found = await find((calls[0] as Waiting<K, V>).ctx, [...new Set(calls.map(({ key }) => key))])
        for (const { key, resolve } of calls) resolve(found.get(key))
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    }
    state.inFlight--
  }
}
