import type { Channel } from '../../../lib/shapes.ts'

export const SEVERITIES = ['error', 'warning', 'info'] as const

/** What has to be known of the surroundings of a template to judge it. */
export type LintContext = {
  /** Do people get it whatever they unsubscribed from? */
  isTransactional: boolean
  /** Is there an event to speak of? */
  isTrigger: boolean
  /** Does anybody have a value under this key of `user.data`? */
  isAttribute(key: string): boolean
  /** A scope to render with. */
  sample: Record<string, unknown>
}

/** A template under examination: as it was written, and as it is rendered. */
export type Linted = { channel: Channel; written: Record<string, unknown>; rendered: Record<string, unknown>; about: LintContext }

/** Something found: where, and what to do about it. */
export type Found = { param: string; line?: number; message: string }

/** Something that is better known before sending. The kind is the name in `index.ts`, and is never renamed. */
export type Lint = {
  severity: (typeof SEVERITIES)[number]
  channels: readonly Channel[]
  find(template: Linted): Found[]
  /** Contents, for a test that this finds these (`param` or `param:line`), and nothing in others. */
  examples: { channel?: Channel; content: Record<string, unknown>; about?: Partial<LintContext>; finds: string[] }[]
}

export const lint = (definition: Lint): Lint => definition
