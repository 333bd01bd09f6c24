/**
 * What rendering one message may cost. It is counted and not timed, so that a template gets the same verdict on every machine, however
 * busy it is. All strings of a message share one budget. Numbers are checked here too, where all values pass: no message says `NaN` (D-TPL-3).
 */
import {
  Context,
  type Emitter,
  type FilterImplOptions,
  Liquid,
  LiquidError,
  RenderError,
  type Template,
  TokenKind,
  toValue,
  toValueSync,
} from 'liquidjs'
import { keysIn } from '../attribute-paths.ts'

/** Tags and outputs that are evaluated; a long one counts as several. */
const OPERATIONS_MAX = 100_000
/** The characters and items that filters, ranges and captures make. */
const MEMORY_MAX = 10_000_000
const OUTPUT_LENGTH_MAX = 2_000_000
/** So many characters of a tag count as one operation. */
const TAG_CHARACTERS = 32

/** A filter of a list counts as one operation for so many items; one that evaluates an expression counts each. */
const LIST_ITEMS = 4

/** Rendering costs more than its budget allows. The message completes a sentence: “Rendering …”. */
export class BudgetExceeded extends Error {}

class Counter {
  readonly #max: number
  readonly #problem: string
  #used = 0
  constructor(max: number, problem: string) {
    this.#max = max
    this.#problem = problem
  }

  use(count: number): void {
    if (count > 0) this.#used += count
    if (this.#used > this.#max) throw new BudgetExceeded(this.#problem)
  }

  /** How much was used. */
  get used(): number {
    return this.#used
  }

  /** For the engine, which would compare the time. */
  check(): void {}
}

/** The budget of one message. */
export class RenderBudget {
  readonly operations = new Counter(OPERATIONS_MAX, 'it takes more than 100,000 steps')
  readonly memory = new Counter(MEMORY_MAX, 'it produces more than 10,000,000 characters and items on the way')
  readonly output = new Counter(OUTPUT_LENGTH_MAX, 'the result has more than 2,000,000 characters')
}

/** Returns the value unless it is `Infinity` or `NaN`, which throws. `of` completes “… is not a finite number”. */
function finite<T>(value: T, of: string): T {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new Error(`${of} is not a finite number, for example after a division by zero`)
}

export class BudgetedContext extends Context {
  readonly budget: RenderBudget
  /** The scopes of tags, innermost last, which the engine declares as private. */
  readonly stack: object[]
  /** How many captures this is in. What they capture is compared and filtered, so it is not marked (`marks.ts`) until it is written. */
  storedDepth = 0
  constructor(liquid: Liquid, scope: object, budget: RenderBudget) {
    // The engine’s own limiters cannot be shared by several strings.
    const limits = { memoryLimit: budget.memory, renderLimit: budget.operations, liquid } as unknown as { liquid: Liquid }
    super(scope, liquid.options, { sync: true }, limits)
    this.budget = budget
    this.stack = (this as unknown as { scopes: object[] }).scopes
  }

  /** Filters such as `map` name the property of an item by a path. */
  override _getFromScope(scope: unknown, paths: Parameters<Context['_getFromScope']>[1], isStrict?: boolean): IterableIterator<unknown> {
    return super._getFromScope(scope, typeof paths === 'string' ? keysIn(paths) : paths, isStrict)
  }
}

/** Collects output, and counts it while it is written: nested lists can be short and print long. */
export class CountedEmitter implements Emitter {
  buffer = ''
  readonly #counter: Counter
  constructor(counter: Counter) {
    this.#counter = counter
  }

  write(written: unknown): void {
    const value = typeof written === 'string' ? written : toValue(written)
    if (typeof value === 'string') this.append(value)
    else if (Array.isArray(value)) for (const item of value) this.write(item)
    else if (value !== undefined && value !== null) this.append(String(finite(value, 'a value')))
  }

  /** Writes a text. */
  append(text: string): void {
    this.#counter.use(text.length)
    this.buffer += text
  }
}

/** The engine with a renderer that counts. Create contexts with `render` only. */
export class BudgetedLiquid extends Liquid {
  override readonly renderer = {
    renderTemplatesToNodeStream(): never {
      throw new Error('Templates are not streamed.')
    },
    renderTemplates: (templates: Template[], context: Context, emitter?: Emitter) =>
      emitter ? countedRender(templates, context, emitter) : renderStored(templates, context),
  }

  /** Renders parsed templates within a budget. */
  renderWithin(budget: RenderBudget, templates: Template[], scope: object): string {
    const emitter = new CountedEmitter(budget.output)
    return toValueSync(countedRender(templates, new BudgetedContext(this, scope, budget), emitter)) as string
  }
}

type Handler = Extract<FilterImplOptions, CallableFunction>

/** A filter that counts the items of the list it is given, and never returns a number that is not finite. */
export function countedFilter(name: string, filter: FilterImplOptions | undefined): FilterImplOptions {
  const { handler, ...options } = typeof filter === 'function' ? { handler: filter } : { handler: undefined, ...filter }
  const items = name.endsWith('_exp') ? 1 : LIST_ITEMS
  const counted: Handler = function (this: ThisParameterType<Handler>, value: unknown, ...args: unknown[]) {
    if (Array.isArray(value)) (this.context.renderLimit as unknown as Counter).use(Math.ceil(value.length / items))
    // The result of some filters is computed later, and only seen by the next one.
    finite(value, 'a value')
    for (const given of args) finite(given, 'a value')
    return finite((handler as Handler).call(this, value, ...args), `the result of \`${name}\``)
  }
  return { ...options, handler: counted } as FilterImplOptions
}

/** The escaping of outputs, which turns numbers into text. */
export const finiteOnly = (escaping: Handler): Handler =>
  function (this: ThisParameterType<Handler>, value: unknown) {
    return escaping.call(this, finite(value, 'a value'))
  }

/** Output that is captured is part of the memory. */
function* renderStored(templates: Template[], given: Context): IterableIterator<unknown> {
  const context = budgeted(given)
  context.storedDepth++
  const text: unknown = yield countedRender(templates, context, new CountedEmitter(context.budget.memory))
  context.storedDepth--
  return text
}

function* countedRender(templates: Template[], context: Context, emitter: Emitter): IterableIterator<unknown> {
  const { operations } = budgeted(context).budget
  for (const template of templates) {
    try {
      operations.use(operationsOf(template))
      const html: unknown = yield template.render(context, emitter)
      if (html) emitter.write(html)
      if (context.breakCalled || context.continueCalled) break
    } catch (error) {
      throw LiquidError.is(error) || !(error instanceof Error) ? error : new RenderError(error, template)
    }
  }
  return emitter.buffer
}

function budgeted(context: Context): BudgetedContext {
  if (context instanceof BudgetedContext) return context
  throw new Error('This context has no budget.')
}

/** How many operations a tag, an output or a text counts as. */
export const operationsOf = ({ token: { kind, begin, end } }: Template): number =>
  kind === TokenKind.HTML ? 1 : 1 + Math.floor((end - begin) / TAG_CHARACTERS)
