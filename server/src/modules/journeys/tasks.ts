/** What worker threads do for journeys. */
import { task } from '../../infra/threads/task.ts'
import { LiquidError, parseTemplate, type Scope } from '../../lib/liquid/liquid.ts'
import { storableText } from '../../lib/text.ts'

/** The strings of a step for one user. */
type Input = { templates: string[]; scope: Scope }
type Text = { text: string } | { problem: string }

/** Renders the strings of a step. Filters can make characters that the database cannot store, and steps store what they render. */
export const renderTexts = task({
  name: 'journeys.renderTexts',
  run: (_, __: null, { templates, scope }: Input): Text[] =>
    templates.map((template) => {
      try {
        return { text: storableText(parseTemplate(template, { escape: false }).render(scope)) }
      } catch (error) {
        if (!(error instanceof LiquidError)) throw error
        return { problem: `Rendering fails on line ${error.line}: ${error.message}.` }
      }
    }),
})
