/**
 * Liquid, with limits: templates come from one party and data from another, and neither may hold up the server or
 * see more than it was given. No partials, no file system, own properties only; times are shown in UTC unless asked otherwise.
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

const TEXT_LENGTH_MAX = 1_000_000
const RENDER_MS_MAX = 200
/** The engine reads the wall clock: what failed while the machine was busy with other things gets a second chance. */
const SECOND_RENDER_MS_MAX = 1000
const RENDER_MEMORY_MAX = 10_000_000
const CACHED_TEMPLATES_MAX = 5000
const CACHED_CHARACTERS_MAX = 32_000_000

export type Scope = Record<string, unknown>

/** Text that was found to be Liquid. Made by `parseTemplate` only. */
export type ParsedTemplate = {
  /** Fills it in; what is missing is empty. Throws `LiquidError` when a limit is broken. */
  render(scope: Scope): string
}

/** A template that is not Liquid, or that came to nothing when it was rendered. The message ends with neither line nor full stop. */
export class LiquidError extends Error {
  readonly line: number
  constructor(error: Error) {
    super(error.message.replace(/, line:\d+, col:\d+$/, ''), { cause: error })
    this.name = 'LiquidError'
    this.line = Number(/, line:(\d+), col:\d+$/.exec(error.message)?.[1] ?? 1)
  }
}

/** A template says that it makes no sense without this, and a person does not have it. */
export class MissingVariable extends LiquidError {
  readonly variable: string
  constructor(variable: string) {
    super(new Error(`the required variable \`${variable}\` is empty`))
    this.name = 'MissingVariable'
    this.variable = variable
  }
}

// Whether output is escaped is compiled into a template, hence two engines with a memory each.
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

/** Reads a template. `escape` makes what is filled in safe in HTML. Throws `LiquidError` when it is no Liquid. */
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

/** Does the text depend on anything? If not it means what it says. */
export const hasLiquid = (text: string): boolean => text.includes('{{') || text.includes('{%')

/** `{{ … }}` or `{% name … %}`, with where it stands. */
export type LiquidTag = {
  text: string
  /** Of `{% name … %}`; null of an output. */
  name: string | null
  begin: number
  end: number
  line: number
}

/** Every tag, in order. Nothing inside `{% raw %}` is one. Throws `LiquidError`. */
export function liquidTags(text: string): LiquidTag[] {
  if (!hasLiquid(text)) return []
  const tokens = orLiquidError(() => new Tokenizer(text).readTopLevelTokens())
  const tags: LiquidTag[] = []
  let line = 1
  let counted = 0
  for (const token of tokens) {
    if (token.kind !== TokenKind.Output && token.kind !== TokenKind.Tag) continue
    const { begin, end } = token
    line += newLinesIn(text, counted, begin)
    counted = begin
    tags.push({ text: text.slice(begin, end), name: token.kind === TokenKind.Tag ? (token as TagToken).name : null, begin, end, line })
  }
  return tags
}

function newLinesIn(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** What a piece of Liquid that is whole reads, and what it assigns. Throws `LiquidError`. */
export const analysed = (text: string): Pick<StaticAnalysis, 'globals' | 'locals'> =>
  orLiquidError(() => raw.liquid.parseAndAnalyzeSync(text, undefined, { partials: false }))

function orLiquidError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (EngineError.is(error) || error instanceof AssertionError) throw new LiquidError(error)
    // The engine goes down a level for each tag inside another.
    throw error instanceof RangeError ? new LiquidError(new Error('tags are nested too deeply')) : error
  }
}
