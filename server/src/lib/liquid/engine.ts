/** liquidjs as we set it up: with limits, our filters, and without the tags that read files. */
import { BudgetedLiquid, countedFilter, finiteOnly } from './budget.ts'
import { dateFilter, inZone, money, readingUtc } from './filters.ts'
import { marking } from './marks.ts'
import { type FilterHandler, sortedByPath } from './paths.ts'

const TEXT_LENGTH_MAX = 1_000_000
const DATE_FILTERS = ['date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string']
const FILE_TAGS = ['include', 'render', 'layout', 'block']

/** How the outputs of a template are written: as they are, escaped for HTML, or marked (`marks.ts`). */
export type Output = 'text' | 'html' | 'marked'

/** Creates an engine that writes its outputs in this way. */
export function createEngine(output: Output): BudgetedLiquid {
  const liquid = new BudgetedLiquid({
    ...(output === 'html' && { outputEscape: 'escape' as const }),
    ...(output === 'marked' && { outputEscape: marking }),
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {},
    timezoneOffset: 0,
    locale: 'en',
    parseLimit: TEXT_LENGTH_MAX,
  })
  for (const name of FILE_TAGS) delete liquid.tags[name]
  const { outputEscape } = liquid.options
  if (outputEscape && outputEscape !== marking) liquid.options.outputEscape = finiteOnly(outputEscape)
  const { date, sort, sort_natural } = liquid.filters
  for (const name of DATE_FILTERS) liquid.registerFilter(name, readingUtc(liquid.filters[name] as FilterHandler))
  for (const [name, filter] of Object.entries(liquid.filters)) liquid.registerFilter(name, countedFilter(name, filter))
  liquid.registerFilter('sort', countedFilter('sort', sortedByPath(sort as FilterHandler)))
  liquid.registerFilter('sort_natural', countedFilter('sort_natural', sortedByPath(sort_natural as FilterHandler)))
  liquid.registerFilter('money', money)
  liquid.registerFilter('in_zone', inZone(date as FilterHandler))
  liquid.registerFilter('date', dateFilter(readingUtc(date as FilterHandler)))
  return liquid
}
