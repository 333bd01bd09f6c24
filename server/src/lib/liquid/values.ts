/** Expressions, paths, operators and filters of Liquid as closures. They compute what `evalToken` of liquidjs does, in the same order. */
import {
  defaultOperators,
  type Expression,
  type Filter,
  type Hash,
  type LiteralToken,
  type PropertyAccessToken,
  type RangeToken,
  type Token,
  TokenKind,
  toValue,
  toValueSync,
  UndefinedVariableError,
  type Value,
} from 'liquidjs'
import type { Compilation, Evaluate } from './blocks.ts'
import type { BudgetedContext } from './budget.ts'
import { property, scopeOf } from './lookup.ts'
import { marking } from './marks.ts'

const NOTHING: Evaluate = () => undefined

/** An expression and its filters: an output, a condition, what is assigned. */
export function compileValue(compilation: Compilation, { initial, filters }: Value): Evaluate {
  const value = compileExpression(compilation, initial)
  return filters.reduce((given, filter) => compileFilter(compilation, given, filter), value)
}

type Handler = (this: object, value: unknown, ...args: unknown[]) => unknown
type PrivateFilter = { handler: Handler; token: Token; args: unknown[] }

function compileFilter(compilation: Compilation, given: Evaluate, filter: Filter): Evaluate {
  const { handler, token, args } = filter as unknown as PrivateFilter
  const { liquid } = compilation
  if (handler === (liquid.options.outputEscape as unknown)) return compileEscape(compilation, given, token)
  const [first, second, ...others] = args.map((arg) => compileArgument(compilation, arg))
  if (first === undefined) return (context) => result(handler.call({ context, token, liquid }, given(context)))
  const calculate = CALCULATIONS[filter.name]
  if (second === undefined && calculate) {
    return (context) => {
      const [value, arg] = [given(context), first(context)]
      const number = typeof value === 'number' && typeof arg === 'number' ? calculate(value + 0, arg + 0) : Number.NaN
      // What is not finite is an error, which the filter throws. Adding nothing makes zero of minus zero, as the filter does.
      return Number.isFinite(number) ? number : handler.call({ context, token, liquid }, value, arg)
    }
  }
  if (second === undefined) return (context) => result(handler.call({ context, token, liquid }, given(context), first(context)))
  const rest = [second, ...others]
  return (context) => {
    const value = given(context)
    return result(handler.call({ context, token, liquid }, value, first(context), ...rest.map((arg) => arg(context))))
  }
}

/** Filters of two numbers. An operand that is not finite makes a result that is not, or the filter is not here. */
const CALCULATIONS: Record<string, (value: number, arg: number) => number> = {
  plus: (value, arg) => value + arg,
  minus: (value, arg) => value - arg,
  times: (value, arg) => value * arg,
}

/** A keyword argument reaches a filter with its name. */
function compileArgument(compilation: Compilation, arg: unknown): Evaluate {
  if (!Array.isArray(arg)) return compileToken(compilation, arg as Token)
  const value = compileToken(compilation, arg[1])
  return (context) => [arg[0], value(context)]
}

/** Filters that look into lists are generators. */
const result = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? toValueSync(value as IterableIterator<unknown>) : value

/** What HTML must escape. */
const SPECIAL = /[&<>"']/

/** The escaping of an engine. Most texts contain nothing that HTML must escape, and are only counted. */
function compileEscape({ liquid }: Compilation, given: Evaluate, token: Token): Evaluate {
  const escaping = liquid.options.outputEscape as unknown as Handler
  if (escaping === (marking as unknown)) return (context) => escaping.call({ context, token, liquid }, given(context))
  return (context) => {
    const value = given(context)
    if (typeof value !== 'string' || SPECIAL.test(value)) return escaping.call({ context, token, liquid }, value)
    context.budget.memory.use(value.length)
    return value
  }
}

/** A value that a tag prints: escaped like an output, unless its last filter is `raw`. */
export function compilePrinted(compilation: Compilation, value: Value, token: Token): Evaluate {
  const evaluate = compileValue(compilation, value)
  const printed: Evaluate = (context) => toValue(evaluate(context))
  const isEscaped = compilation.liquid.options.outputEscape && !value.filters.at(-1)?.raw
  return isEscaped ? compileEscape(compilation, printed, token) : printed
}

/** The operands and operators are in postfix order. Of several values without an operator the first counts, but all are computed. */
function compileExpression(compilation: Compilation, { postfix }: Expression): Evaluate {
  const operands: Evaluate[] = []
  for (const token of postfix) {
    if (token.kind !== TokenKind.Operator) {
      operands.push(compileToken(compilation, token))
      continue
    }
    const { operator } = token as Token & { operator: string }
    const right = operands.pop() ?? NOTHING
    if (operator === 'not') operands.push((context) => !isTruthy(right(context)))
    else operands.push(compileOperator(compilation, operator, operands.pop() ?? NOTHING, right))
  }
  const [first = NOTHING, ...others] = operands
  if (others.length === 0) return first
  return (context) => {
    const value = first(context)
    for (const other of others) other(context)
    return value
  }
}

type Compare = (left: unknown, right: unknown) => unknown

/** Operators for values that are neither objects nor lists. `nil`, `empty` and `blank` are objects. */
const OPERATORS: Record<string, Compare> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => (left as number) > (right as number),
  '<': (left, right) => (left as number) < (right as number),
  '>=': (left, right) => (left as number) >= (right as number),
  '<=': (left, right) => (left as number) <= (right as number),
  contains: (left, right) => typeof left === 'string' && left.indexOf(right as string) > -1,
}

function compileOperator(compilation: Compilation, operator: string, left: Evaluate, right: Evaluate): Evaluate {
  // Both sides are computed, as the engine does.
  if (operator === 'and' || operator === 'or') {
    const isAnd = operator === 'and'
    return (context) => {
      const [a, b] = [isTruthy(left(context)), isTruthy(right(context))]
      return isAnd ? a && b : a || b
    }
  }
  const compare = OPERATORS[operator]
  const handler = defaultOperators[operator] as (left: unknown, right: unknown, context: BudgetedContext) => IterableIterator<unknown>
  if (!compare || !handler) return compilation.unknown(NOTHING)
  return (context) => {
    const [a, b] = [left(context), right(context)]
    if (isPlain(a) && isPlain(b)) return compare(a, b)
    return operator === 'contains' && Array.isArray(a) ? a.some((item) => equals(item, b)) : toValueSync(handler(a, b, context))
  }
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' && typeof value !== 'function'

/** Everything but false and nothing is true. */
export function isTruthy(value: unknown): boolean {
  const plain = toValue(value)
  return plain !== false && plain !== undefined && plain !== null
}

/** Whether two values are equal in Liquid. */
export const equals = (left: unknown, right: unknown): boolean =>
  isPlain(left) && isPlain(right) ? left === right : (toValueSync(EQUAL(left, right)) as boolean)

const EQUAL = defaultOperators['=='] as (left: unknown, right: unknown) => IterableIterator<unknown>

/** A literal, a path or a range. */
export function compileToken(compilation: Compilation, token: Token | undefined): Evaluate {
  if (!token) return NOTHING
  if ('content' in token) {
    const { content } = token as LiteralToken
    return () => content
  }
  if (token.kind === TokenKind.PropertyAccess)
    return compilation.nested(() => compilePath(compilation, token as PropertyAccessToken), NOTHING)
  if (token.kind === TokenKind.Range) return compilation.nested(() => compileRange(compilation, token as RangeToken), NOTHING)
  return compilation.unknown(NOTHING)
}

function compileRange(compilation: Compilation, { lhs, rhs }: RangeToken): Evaluate {
  const [from, to] = [compileToken(compilation, lhs), compileToken(compilation, rhs)]
  return (context) => {
    const [low, high] = [toValue(from(context)) as number, toValue(to(context)) as number]
    context.budget.memory.use(high - low + 1)
    const numbers: number[] = []
    for (let number = +low; number < +high + 1; number++) numbers.push(number)
    return numbers
  }
}

function compilePath(compilation: Compilation, token: PropertyAccessToken): Evaluate {
  const { variable, props } = token
  const isFixed = props.every((prop) => 'content' in prop)
  const root = variable && compileToken(compilation, variable)
  if (root || !isFixed) return compileAnyPath(compilation, token, root)
  const [first, ...keys] = props.map((prop) => toValue((prop as LiteralToken).content) as string)
  return (context) => {
    try {
      let value = property(scopeOf(context, first as string), first)
      for (const key of keys) value = property(value, key)
      return value
    } catch (error) {
      throw new UndefinedVariableError(error as Error, token)
    }
  }
}

/** A path with other variables in it, or one that begins with a value. */
function compileAnyPath(compilation: Compilation, token: PropertyAccessToken, root: Evaluate | undefined): Evaluate {
  const keys = token.props.map((prop) => compileToken(compilation, prop))
  return (context) => {
    const names = keys.map((key) => toValue(key(context)))
    try {
      let value = root ? root(context) : scopeOf(context, names[0] as string)
      for (const name of names) value = property(value, name)
      return value
    } catch (error) {
      throw new UndefinedVariableError(error as Error, token)
    }
  }
}

/** The named parameters of a tag. One without a value is true. */
export function compileHash(compilation: Compilation, { hash }: Hash): (context: BudgetedContext) => Record<string, unknown> {
  const members = Object.keys(hash).map((name) => ({
    name,
    value: hash[name] === undefined ? () => true : compileToken(compilation, hash[name]),
  }))
  return (context) => {
    const values: Record<string, unknown> = {}
    for (const { name, value } of members) values[name] = value(context)
    return values
  }
}
