/**
 * Liquid, with limits: templates come from one party and data from another, and neither may hold up the server or
 * see more than it was given. No partials, no file system, own properties only; times are shown in UTC.
 */
import { AssertionError, LiquidError as EngineError, Liquid, type Template } from 'liquidjs'
import { LRUCache } from 'lru-cache'

const TEXT_LENGTH_MAX = 1_000_000
const RENDER_MS_MAX = 200
const RENDER_MEMORY_MAX = 10_000_000
const CACHED_TEMPLATES_MAX = 5000
const CACHED_CHARACTERS_MAX = 32_000_000

/** Text that was found to be Liquid. Made by `parseTemplate` only. */
export type ParsedTemplate = { readonly text: string }

/** A template that is not Liquid, or that broke a limit when it was rendered. The message ends with neither line nor full stop. */
export class LiquidError extends Error {
  readonly line: number
  constructor(error: Error) {
    super(error.message.replace(/, line:\d+, col:\d+$/, ''), { cause: error })
    this.name = 'LiquidError'
    this.line = Number(/, line:(\d+), col:\d+$/.exec(error.message)?.[1] ?? 1)
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

/** Reads a template. Throws `LiquidError` when it is not one. */
export function parseTemplate(text: string): ParsedTemplate {
  return orLiquidError(() => {
    compile(raw, text)
    return { text }
  })
}

/** Fills a template in; what is missing is empty. `escape` makes the output safe in HTML. Throws `LiquidError`. */
export function renderTemplate({ text }: ParsedTemplate, scope: Record<string, unknown>, options: { escape: boolean }): string {
  const engine = options.escape ? escaping : raw
  return orLiquidError(() => engine.liquid.renderSync(compile(engine, text), scope) as string)
}

/** Does the text depend on anything? If not it means what it says. */
export const hasLiquid = (text: string): boolean => text.includes('{{') || text.includes('{%')

function orLiquidError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw EngineError.is(error) || error instanceof AssertionError ? new LiquidError(error) : error
  }
}
