/** What worker threads do with templates, and what the tasks of other modules need of this one. */
import { task } from '../../infra/threads/task.ts'
import type { Channel } from '../../lib/channels.ts'
import type { Fault } from '../../lib/errors.ts'
import { LiquidError, type Scope } from '../../lib/liquid/liquid.ts'
import { checkContent, compileContent, contentOf, measure, renderContent, requiredOf } from './content.ts'
import type { Compiled, Measures } from './kinds/template.ts'
import { type Finding, findingsIn } from './lints/find.ts'
import type { LintContext } from './lints/lint.ts'

export { renderContent } from './content.ts'
export { findingsInRendered } from './lint-rendered.ts'
export { scopeOf } from './scope.ts'
export { segmentsOf } from './sms.ts'

type Content = Record<string, unknown>
/** A template as it was written, with what was compiled from it. */
export type Written = { locale: string; data: Content; compiled: Content | null }

/** Checks content, and compiles it for a locale. */
export const checkTemplate = task({
  name: 'templates.checkTemplate',
  async run(
    _,
    __: null,
    { channel, locale, given }: { channel: Channel; locale: string; given: unknown },
  ): Promise<{ data: Content; compiled: Compiled } | { faults: Fault[] }> {
    const { faults, content } = checkContent(channel, given)
    if (faults.length > 0) return { faults }
    const result = await compileContent(channel, content, locale)
    return 'faults' in result ? result : { data: content, compiled: result.compiled }
  },
})

/** Finds problems in templates. */
export const lintTemplate = task({
  name: 'templates.lintTemplate',
  run: (_, { channel, about }: { channel: Channel; about: LintContext }, template: Written): Finding[] =>
    findingsIn({ channel, written: template.data, rendered: contentOf(template), isRendered: false, about }),
})

/** The rendered content with its size, or why rendering failed. */
export type Tried = { content: Content; measures: Measures } | { problem: string }

/** Renders a template for a preview or a test. */
export const tryTemplate = task({
  name: 'templates.tryTemplate',
  run(_, __: null, { channel, template, scope }: { channel: Channel; template: Written; scope: Scope }): Tried {
    try {
      const content = renderContent(channel, contentOf(template), scope, requiredOf(template))
      return { content, measures: measure(channel, content) }
    } catch (error) {
      if (!(error instanceof LiquidError)) throw error
      return { problem: `Rendering fails on line ${error.line}: ${error.message}.` }
    }
  },
})

/** Compiles emails that were saved by old versions. */
export const compileStored = task({
  name: 'templates.compileStored',
  run: (_, __: null, template: Written): Content => contentOf(template),
})
