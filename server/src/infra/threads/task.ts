import type { Packed } from './packed.ts'

/** What tasks get of the infrastructure. They have no database, no network and no clock. */
export type TaskTools = {
  secrets: { sign(text: string, context: string): string }
  /** Puts a large text of a result beside it. A lone surrogate becomes U+FFFD. */
  pack(text: string): Packed
}

/**
 * Work that a thread does for each of several items: a pure function of its arguments, which are copied to the thread and back.
 * `shared` is copied once for all items. The name is that of the function, under its module.
 */
export type Task<S, I, O> = { name: string; run(tools: TaskTools, shared: S, item: I): O | Promise<O> }

/** A task of any type, for the list of all. */
export type AnyTask = Task<never, never, unknown>

/** Declares a task. Add it to the list in `task-thread.ts`. */
export const task = <S, I, O>(definition: Task<S, I, O>): Task<S, I, O> => definition

/** Some items of a task. */
export type OrderPart = { task: string; shared: unknown; items: unknown[] }

/** What a thread does at a time: parts of different projects. */
export type Order = OrderPart[]

/** What a thread did of a part: the results of its first items, until the time of the thread was up. */
export type PartReply = { results: unknown[] } | { failed: { message: string; stack: string } }

export type Reply = { parts: PartReply[] /** What tasks packed. */; packed: ArrayBuffer | null }

/** Where a thread writes what it is doing: the index of its item among those of all parts, and its processor time in µs when it began it. */
export const STATE = { item: 0, cpuAtStart: 1, length: 2 } as const
/** The index of a thread between orders. */
export const NO_ITEM = -1

export type ThreadData = { state: SharedArrayBuffer; secretsKeys: readonly string[]; warmsUp: boolean }

/** Loads something in the course of an item. What that takes does not count as the time of the item. */
export type Loading = <T>(load: () => Promise<T>) => Promise<T>

let current: Loading = (load) => load()

export const loading: Loading = (load) => current(load)

/** Sets the function with which a thread counts the time that its items spend on loading. */
export const countLoading = (counted: Loading): void => {
  current = counted
}
