/**
 * Liquid with limits. Authors write templates and other systems send data, so neither is trusted: rendering has a budget, and reads only
 * own properties of the scope. No partials and no file system. Times are in UTC by default.
 */
import { AssertionError, LiquidError as EngineError, type StaticAnalysis, type TagToken, Tokenizer, TokenKind } from 'liquidjs'
import { lineCounter } from '../text.ts'
import { BudgetExceeded, type BudgetedLiquid, RenderBudget } from './budget.ts'
import { CachedTemplate, createCache } from './cache.ts'
import { renderBlock } from './compile.ts'
import { createEngine, type Output } from './engine.ts'

/** The parser takes quadratic time for many tags. */
const TAGS_PARSED_MAX = 20_000

export type Scope = Record<string, unknown>

/** A valid template. Only `parseTemplate` creates one. */
export type ParsedTemplate = {
  /** Renders it; missing values are empty. Throws `LiquidError`, and `OverBudget` if the budget is exceeded. */
  render(scope: Scope, budget?: RenderBudget): string
}

/** A template could not be parsed or rendered. The message contains no line number and no final full stop. */
export class LiquidError extends Error {
  readonly line: number
  constructor(error: Error) {
    super(error.message.replace(/, line:\d+, col:\d+$/, ''), { cause: error })
    this.name = 'LiquidError'
    this.line = Number(/, line:(\d+), col:\d+$/.exec(error.message)?.[1] ?? 1)
  }
}

/** A template requires a variable that this user does not have. */
export class MissingVariable extends LiquidError {
  readonly variable: string
  constructor(variable: string) {
    super(new Error(`the required variable \`${variable}\` is empty`))
    this.name = 'MissingVariable'
    this.variable = variable
  }
}

/** Rendering exceeded the budget of the message. */
export class OverBudget extends LiquidError {
  constructor(error: Error, cause: BudgetExceeded) {
    super(error)
    this.name = 'OverBudget'
    this.message = cause.message
  }
}

type Engine = { liquid: BudgetedLiquid; cache: ReturnType<typeof createCache> }

const engineOf = (output: Output): Engine => ({ liquid: createEngine(output), cache: createCache() })

// Escaping is compiled into a template, so there are several engines, each with its own cache.
const raw = engineOf('text')
const escaping = engineOf('html')
const marking = engineOf('marked')

function parse({ liquid, cache }: Engine, text: string): CachedTemplate {
  const known = cache.get(text)
  if (known) return known
  if (countTags(text) > TAGS_PARSED_MAX) throw new LiquidError(new Error(`there are more than ${TAGS_PARSED_MAX} tags`))
  const template = new CachedTemplate(liquid, liquid.parse(text))
  cache.set(text, template)
  return template
}

function renderWithin(liquid: BudgetedLiquid, { templates, block }: CachedTemplate, scope: Scope, budget: RenderBudget): string {
  return block ? renderBlock(liquid, block, scope, budget) : liquid.renderWithin(budget, templates, scope)
}

/** Parses a template. `escape` escapes output for HTML. Throws `LiquidError` if it is not valid Liquid. */
export const parseTemplate = (text: string, options: { escape: boolean }): ParsedTemplate => parseFor(options.escape ? escaping : raw, text)

/** Parses a template that marks its outputs for `splitMarked`. Throws `LiquidError` if it is not valid Liquid. */
export const parseMarking = (text: string): ParsedTemplate => parseFor(marking, text)

function parseFor(engine: Engine, text: string): ParsedTemplate {
  const template = orLiquidError(() => parse(engine, text))
  if (!hasLiquid(text)) return { render: () => text }
  const render = (scope: Scope, budget = new RenderBudget()) => orLiquidError(() => renderWithin(engine.liquid, template, scope, budget))
  return { render }
}

/** Is the text a valid template? */
export function isLiquid(text: string): boolean {
  try {
    parseTemplate(text, { escape: false })
    return true
  } catch (error) {
    if (error instanceof LiquidError) return false
    throw error
  }
}

/** Does the text contain Liquid tags? */
export const hasLiquid = (text: string): boolean => text.includes('{{') || text.includes('{%')

/**
 * How many tags a text may contain: its `{{` and `{%`, and the lines of `{% liquid %}`, which are tags too. Counting is cheap, so it comes
 * before parsing. It ends where the parser would refuse the text.
 */
export function countTags(text: string): number {
  let [count, liquidEnd] = [0, 0]
  for (let at = text.indexOf('{'); at !== -1 && count <= TAGS_PARSED_MAX; at = text.indexOf('{', at + 1)) {
    if (text[at + 1] === '{' || text[at + 1] === '%') count++
    LIQUID_TAG.lastIndex = at
    // One that begins in another is among its lines, which are counted once.
    if (at < liquidEnd || !LIQUID_TAG.test(text)) continue
    liquidEnd = text.indexOf('%}', at)
    if (liquidEnd === -1) return count
    for (let line = text.indexOf('\n', at); line !== -1 && line < liquidEnd; line = text.indexOf('\n', line + 1)) count++
  }
  return count
}

const LIQUID_TAG = /\{%-?\s*liquid\b/y

/** `{{ … }}` or `{% name … %}`, with its position. */
export type LiquidTag = {
  text: string
  /** The name of `{% name … %}`; null for an output. */
  name: string | null
  begin: number
  end: number
  line: number
}

/** Every tag, in order, without those inside `{% raw %}`. Throws `LiquidError`. */
export function liquidTags(text: string): LiquidTag[] {
  if (!hasLiquid(text)) return []
  const tokens = orLiquidError(() => new Tokenizer(text).readTopLevelTokens())
  const tags: LiquidTag[] = []
  const lineOf = lineCounter(text)
  for (const token of tokens) {
    if (token.kind !== TokenKind.Output && token.kind !== TokenKind.Tag) continue
    const { begin, end } = token
    const name = token.kind === TokenKind.Tag ? (token as TagToken).name : null
    tags.push({ text: text.slice(begin, end), name, begin, end, line: lineOf(begin) })
  }
  return tags
}

/** The variables that a valid template reads and those it assigns. Throws `LiquidError`. */
export const analysed = (text: string): Pick<StaticAnalysis, 'globals' | 'locals'> =>
  orLiquidError(() => raw.liquid.parseAndAnalyzeSync(text, undefined, { partials: false }))

function orLiquidError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { originalError } = error as { originalError?: unknown }
    if (originalError instanceof BudgetExceeded) throw new OverBudget(error as Error, originalError)
    if (EngineError.is(error) || error instanceof AssertionError) throw new LiquidError(error)
    // The engine recurses for each nested tag, so deep nesting overflows the stack.
    throw error instanceof RangeError ? new LiquidError(new Error('tags are nested too deeply')) : error
  }
}
