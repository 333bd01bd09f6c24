/** Renders one user's message without sending it. Pure. */

import { LRUCache } from 'lru-cache'
import { LiquidError, liquidTags, type Scope } from '../../../lib/liquid/liquid.ts'
import { isEmptyVariable, variablesOf } from '../../../lib/liquid/variables.ts'
import type { Channel } from '../../../lib/shapes.ts'
import type { Contact } from '../../channels/index.ts'
import { compose } from '../../channels/tasks.ts'
import type { Content, SendableTemplate } from '../../templates/index.ts'
import { renderContent } from '../../templates/tasks.ts'
import type { Count, Problem } from './schema.ts'

/** The state that the message would get, and problems of its template. `from` is the sender of an email whose template has one. */
export type PreflightResult = { outcome: Omit<Count, 'people'>; problems: Pick<Problem, 'kind' | 'message'>[]; from?: string }

const failed = (reason: string, message: string): PreflightResult => ({
  outcome: { state: 'failed', reason },
  problems: [{ kind: reason === 'no_template' ? 'no_template' : 'render_failed', message }],
})

/** Renders and composes the message, as the sender would. */
export function preflightMessage(channel: Channel, template: SendableTemplate | undefined, scope: Scope, user: Contact): PreflightResult {
  if (!template) return failed('no_template', 'There is no template.')
  let from: unknown
  try {
    const composed = compose(channel, renderContent(channel, template.content, scope, template.required), user)
    if ('problem' in composed) return failed('render_failed', composed.problem)
    from = composed.content.from
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    return failed('render_failed', `The template fails on line ${error.line}: ${error.message}.`)
  }
  return {
    outcome: { state: 'queued', reason: null },
    problems: printed(template.content)
      .filter(({ names }) => isEmptyVariable(scope, names))
      .map(({ path }) => ({ kind: 'empty_variable', message: `The variable \`${path}\` is empty.` })),
    ...(typeof from === 'string' && { from }),
  }
}

type Printed = { path: string; names: string[] }

/** The variables that are always printed: outside blocks and without a default. */
function printed(content: Content): Printed[] {
  const variables = textsIn(content).flatMap((text) => {
    const found = known.get(text) ?? printedIn(text)
    known.set(text, found)
    return found
  })
  return [...new Map(variables.map((variable) => [variable.path, variable])).values()]
}

const TEXTS_MAX = 200
const CHARACTERS_MAX = 10_000_000

// By text, because the content is copied to the thread for each turn.
const known = new LRUCache<string, Printed[]>({
  max: TEXTS_MAX,
  maxSize: CHARACTERS_MAX,
  sizeCalculation: (_, text) => text.length + 1,
})

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const BLOCKS = ['if', 'unless', 'case', 'for', 'tablerow']

function printedIn(text: string): Printed[] {
  let depth = 0
  const outside: string[] = []
  for (const { name, text: tag } of liquidTags(text)) {
    if (name === null && depth === 0 && !/\|\s*default\b/.test(tag)) outside.push(tag)
    else if (name !== null && BLOCKS.includes(name)) depth++
    else if (name?.startsWith('end') && BLOCKS.includes(name.slice('end'.length))) depth--
  }
  // Variables that the template assigns itself are not part of the scope. Only the whole text shows which those are.
  const ofScope = new Set(variablesOf(text).map(({ path }) => path))
  return outside.flatMap((tag) => variablesOf(tag)).filter(({ path }) => ofScope.has(path))
}
