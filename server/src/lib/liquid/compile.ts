/**
 * Compiles templates that liquidjs has parsed into closures. They render the same text, with the same errors, several times as fast: the
 * engine resumes a generator for every value. Contexts, filters and budgets are the same objects for both.
 */
import { type Liquid, type Output, type Tag, type Template, TokenKind, toValue } from 'liquidjs'
import { type Block, Compilation, type Instruction, type Parts, runBlock } from './blocks.ts'
import { BudgetedContext, CountedEmitter, operationsOf, type RenderBudget } from './budget.ts'
import { compileTag } from './tags.ts'
import { compileValue } from './values.ts'

const NO_BLOCK: Block = { instructions: [], operations: [], templates: [] }

/** The compiled templates; null if they contain something that cannot be compiled, or are nested too deeply. */
export function compileTemplates(liquid: Liquid, templates: Template[]): Block | null {
  const compilation = new Compilation(liquid)
  const parts: Parts = { compilation, blockOf: (nested) => compileBlock(parts, nested) }
  const block = parts.blockOf(templates)
  return compilation.isWhole ? block : null
}

/** Renders compiled templates within a budget. */
export function renderBlock(liquid: Liquid, block: Block, scope: object, budget: RenderBudget): string {
  const emitter = new CountedEmitter(budget.output)
  runBlock(block, new BudgetedContext(liquid, scope, budget), emitter)
  return emitter.buffer
}

const compileBlock = (parts: Parts, templates: Template[]): Block =>
  parts.compilation.nested(
    () => ({
      instructions: templates.map((template) => compileTemplate(parts, template)),
      operations: templates.map(operationsOf),
      templates,
    }),
    NO_BLOCK,
  )

function compileTemplate(parts: Parts, template: Template): Instruction {
  const { kind } = template.token
  if (kind === TokenKind.HTML) return compileText(template as Template & { str: string })
  return kind === TokenKind.Output ? compileOutput(parts, template as Output) : compileTag(parts, template as Tag)
}

const compileText =
  ({ str }: { str: string }): Instruction =>
  (_, emitter) =>
    emitter.append(str)

function compileOutput({ compilation }: Parts, { value }: Output): Instruction {
  const evaluate = compileValue(compilation, value)
  return (context, emitter) => emitter.write(toValue(evaluate(context)))
}
