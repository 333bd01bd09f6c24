/** What compiled templates are made of, and how they run: with the budget, order and errors of `countedRender` in `budget.ts`. */
import { type Liquid, LiquidError, RenderError, type Template } from 'liquidjs'
import type { BudgetedContext, CountedEmitter } from './budget.ts'

/** Computes a value. */
export type Evaluate = (context: BudgetedContext) => unknown

/** Renders a tag, an output or a text. The tags that return what is to be written are those that do so in liquidjs. */
export type Instruction = (context: BudgetedContext, emitter: CountedEmitter) => unknown

/** Templates in a row, such as the body of a loop. */
export type Block = {
  instructions: readonly Instruction[]
  /** How many operations each instruction counts as. */
  operations: readonly number[]
  /** What each instruction was compiled from. Errors name its line. */
  templates: readonly Template[]
}

/** Deeper nesting overflows the stack at another depth in another engine, so it is left to liquidjs. */
const DEPTH_MAX = 100

/** One compilation of a template. */
export class Compilation {
  readonly liquid: Liquid
  #isWhole = true
  #depth = 0
  constructor(liquid: Liquid) {
    this.liquid = liquid
  }

  /** Whether everything so far could be compiled. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Compiles a part that stands in another. */
  nested<T>(compile: () => T, otherwise: T): T {
    if (this.#depth === DEPTH_MAX) return this.unknown(otherwise)
    this.#depth++
    const compiled = compile()
    this.#depth--
    return compiled
  }

  /** Notes that a part cannot be compiled, and so the whole template cannot. */
  unknown<T>(otherwise: T): T {
    this.#isWhole = false
    return otherwise
  }
}

/** What a tag needs to compile its own parts. */
export type Parts = { compilation: Compilation; blockOf: (templates: Template[]) => Block }

/** Runs the instructions until the end, or until one of them breaks or continues the loop around them. */
export function runBlock({ instructions, operations, templates }: Block, context: BudgetedContext, emitter: CountedEmitter): void {
  const counter = context.budget.operations
  let at = 0
  try {
    for (; at < instructions.length; at++) {
      counter.use(operations[at] as number)
      const text = (instructions[at] as Instruction)(context, emitter)
      if (text) emitter.write(text)
      if (context.breakCalled || context.continueCalled) break
    }
  } catch (error) {
    throw LiquidError.is(error) || !(error instanceof Error) ? error : new RenderError(error, templates[at] as Template)
  }
}
