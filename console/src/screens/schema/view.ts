import { namesOf } from '../../parts/attribute-paths.ts'

/** What the screen shows other than attributes. */
export const VIEWS = ['events'] as const

/** The key of `data` that an attribute is, as the register names it; null for attributes outside `data`. */
export const dataKeyOf = (attribute: string): string | null => namesOf(attribute)?.[0] ?? null

/** Who can read an attribute, as one choice: every role, from a role on, or no key. */
export const readersOf = (entry: { min_role: string | null; hidden: boolean } | undefined): string =>
  entry?.hidden ? 'hidden' : (entry?.min_role ?? 'everyone')
