/** Renders a template with liquidjs alone and compiled, and says all that a template, its author or a budget can notice. */
import { LiquidError } from 'liquidjs'
import { RenderBudget } from '../src/lib/liquid/budget.ts'
import { compileTemplates, renderBlock } from '../src/lib/liquid/compile.ts'
import { createEngine, type Output } from '../src/lib/liquid/engine.ts'

const engines = { text: createEngine('text'), html: createEngine('html'), marked: createEngine('marked') }

export type { Output } from '../src/lib/liquid/engine.ts'

type Scope = Record<string, unknown>

type Outcome = {
  /** The rendered text, or the kind of error, its message with line and column, and what it was thrown for. */
  result: string | { kind: string; message: string; context: unknown; cause: string }
  /** Tags may change the scope that they are given. */
  scope: unknown
  used: number[]
}

/** What became of a template that can be parsed; null if it cannot. */
export function outcomesOf(output: Output, template: string, scope: Scope): { expected: Outcome; compiled: Outcome | null } | null {
  const liquid = engines[output]
  const templates = parsed(output, template)
  if (!templates) return null
  const block = compileTemplates(liquid, templates)
  return {
    expected: outcomeOf(scope, (scope, budget) => liquid.renderWithin(budget, templates, scope)),
    compiled: block && outcomeOf(scope, (scope, budget) => renderBlock(liquid, block, scope, budget)),
  }
}

function parsed(output: Output, template: string) {
  try {
    return engines[output].parse(template)
  } catch (error) {
    if (LiquidError.is(error)) return null
    throw error
  }
}

function outcomeOf(given: Scope, render: (scope: Scope, budget: RenderBudget) => string): Outcome {
  const scope = structuredClone(given)
  const budget = new RenderBudget()
  const result = resultOf(() => render(scope, budget))
  return { result, scope, used: [budget.operations.used, budget.memory.used, budget.output.used] }
}

function resultOf(render: () => string): Outcome['result'] {
  try {
    return render()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { originalError, context } = error as Error & { originalError?: unknown; context?: unknown }
    return { kind: error.constructor.name, message: error.message, context, cause: String(originalError) }
  }
}
