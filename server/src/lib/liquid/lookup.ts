/** How variables are read: what `Context` of liquidjs does with generators, for values that are known at once. */
import { Drop } from 'liquidjs'
import type { BudgetedContext } from './budget.ts'

/** The value of a variable. Each of its names is looked up in the value of the one before. */
export function valueAt(context: BudgetedContext, names: readonly [string, ...unknown[]]): unknown {
  let value = scopeOf(context, names[0])
  for (const name of names) value = property(value, name)
  return value
}

/** The innermost scope that has a variable. */
export function scopeOf(context: BudgetedContext, name: string): unknown {
  const { stack, environments, globals } = context
  for (let at = stack.length - 1; at >= 0; at--) if (name in (stack[at] as object)) return stack[at]
  return name in environments ? environments : globals
}

/** `readProperty` of liquidjs for what a scope contains: values of JSON, times of `in_zone` and drops of the engine. */
export function property(from: unknown, name: unknown): unknown {
  if (from === undefined || from === null) return from
  if (Array.isArray(from) && typeof name === 'number') return element(from, name)
  const value = ownProperty(from, name)
  if (value === undefined && from instanceof Drop) return undefined
  if (typeof value === 'function') return value.call(from)
  if (name === 'size') return sizeOf(from)
  if (name === 'first') return Array.isArray(from) ? element(from, 0) : value
  if (name === 'last') return Array.isArray(from) ? element(from, -1) : value
  return value
}

const ownProperty = (from: unknown, name: unknown): unknown =>
  Object.hasOwn(from as object, name as string) || from instanceof Drop ? (from as Record<string, unknown>)[name as string] : undefined

function element(list: unknown[], index: number): unknown {
  const at = index < 0 ? list.length + index : index
  return Object.hasOwn(list, at) ? list[at] : undefined
}

function sizeOf(from: unknown): unknown {
  const { size } = from as { size: unknown }
  if (Object.hasOwn(from as object, 'size') || size !== undefined) return size
  if (Array.isArray(from) || typeof from === 'string') return from.length
  return typeof from === 'object' ? Object.keys(from as object).length : undefined
}
