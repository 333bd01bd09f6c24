import type { Channel } from '../../../lib/shapes.ts'

export const SEVERITIES = ['error', 'warning', 'info'] as const

/** What the lints need to know about the campaign and the project. */
export type LintContext = {
  /** The campaign is sent to users who are not subscribed too. */
  isTransactional: boolean
  /** The template can use an event. */
  isTrigger: boolean
  /** The keys of `user.data` that users have; empty if there are no users yet, or more keys than are counted. */
  attributes: ReadonlySet<string>
  /** If not, a few users may have other keys: the attributes of large projects are counted from time to time. */
  areAllUsersCounted: boolean
  /** A template scope with sample values. */
  sample: Record<string, unknown>
}

/** The template to check, as written and as it is rendered. */
export type Linted = {
  channel: Channel
  written: Record<string, unknown>
  rendered: Record<string, unknown>
  /** Nothing in it is Liquid: it is a message, and not a template. */
  isRendered: boolean
  about: LintContext
}

/** A problem: where it is, and how to fix it. */
export type Found = { param: string; line?: number; message: string }

/** A check of templates. Its kind is its name in `index.ts`, which never changes. */
export type Lint = {
  severity: (typeof SEVERITIES)[number]
  channels: readonly Channel[]
  find(template: Linted): Found[]
  /** Contents with the findings expected (`param` or `param:line`), for the test. */
  examples: { channel?: Channel; content: Record<string, unknown>; about?: Partial<LintContext>; finds: string[] }[]
}

export const lint = (definition: Lint): Lint => definition
