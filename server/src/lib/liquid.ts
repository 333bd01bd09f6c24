/**
 * Liquid with limits. Authors write templates and other systems send data, so neither is trusted: rendering is limited in time
 * and memory, and reads only own properties of the scope. No partials and no file system. Times are in UTC by default.
 */
import {
  AssertionError,
  LiquidError as EngineError,
  Liquid,
  type StaticAnalysis,
  type TagToken,
  type Template,
  Tokenizer,
  TokenKind,
} from 'liquidjs'
import { LRUCache } from 'lru-cache'
import { dateFilter, inZone, money } from './liquid-filters.ts'
import { lineCounter } from './text.ts'

const TEXT_LENGTH_MAX = 1_000_000
const RENDER_MS_MAX = 200
/** The engine measures wall-clock time, so a busy machine can exceed the limit. Such a template is rendered once more. */
const SECOND_RENDER_MS_MAX = 1000
const RENDER_MEMORY_MAX = 10_000_000
const CACHED_TEMPLATES_MAX = 5000
const CACHED_CHARACTERS_MAX = 32_000_000

export type Scope = Record<string, unknown>

/** A valid template. Only `parseTemplate` creates one. */
export type ParsedTemplate = {
  /** Renders it; missing values are empty. Throws `LiquidError` if a limit is exceeded. */
  render(scope: Scope): string
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

// Escaping is compiled into a template, so there are two engines, each with its own cache.
const raw = engine({})
const escaping = engine({ outputEscape: 'escape' })

function engine(options: { outputEscape?: 'escape' }) {
  const liquid = new Liquid({
    ...options,
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {},
    timezoneOffset: 0,
    locale: 'en',
    parseLimit: TEXT_LENGTH_MAX,
    renderLimit: RENDER_MS_MAX,
    memoryLimit: RENDER_MEMORY_MAX,
  })
  for (const name of ['include', 'render', 'layout', 'block']) delete liquid.tags[name]
  liquid.registerFilter('money', money)
  liquid.registerFilter('in_zone', inZone)
  liquid.registerFilter('date', dateFilter(liquid.filters.date))
  const compiled = new LRUCache<string, Template[]>({
    max: CACHED_TEMPLATES_MAX,
    maxSize: CACHED_CHARACTERS_MAX,
    sizeCalculation: (_, text) => text.length + 1,
  })
  return { liquid, compiled }
}

function compile({ liquid, compiled }: ReturnType<typeof engine>, text: string): Template[] {
  const known = compiled.get(text)
  if (known) return known
  const template = liquid.parse(text)
  compiled.set(text, template)
  return template
}

/** Parses a template. `escape` escapes output for HTML. Throws `LiquidError` if it is not valid Liquid. */
export function parseTemplate(text: string, options: { escape: boolean }): ParsedTemplate {
  const engine = options.escape ? escaping : raw
  const template = orLiquidError(() => compile(engine, text))
  if (!hasLiquid(text)) return { render: () => text }
  return { render: (scope) => orLiquidError(() => rendered(engine.liquid, template, scope)) }
}

function rendered(liquid: Liquid, template: Template[], scope: Scope): string {
  try {
    return liquid.renderSync(template, scope) as string
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('template render limit exceeded')) throw error
    return liquid.renderSync(template, scope, { renderLimit: SECOND_RENDER_MS_MAX }) as string
  }
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
    if (EngineError.is(error) || error instanceof AssertionError) throw new LiquidError(error)
    // The engine recurses for each nested tag, so deep nesting overflows the stack.
    throw error instanceof RangeError ? new LiquidError(new Error('tags are nested too deeply')) : error
  }
}
