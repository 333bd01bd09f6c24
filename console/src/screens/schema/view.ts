/** What the screen shows other than attributes. */
export const VIEWS = ['events'] as const

/** The key of `data` that an attribute is, as the register names it; null for attributes outside `data`. */
export const dataKeyOf = (attribute: string): string | null =>
  attribute.startsWith('data.') ? attribute.slice('data.'.length).replace(/\\(.)/g, '$1') : null

/** The attribute of a key of `data`, as rules name it. */
export const attributeOf = (key: string): string => `data.${key.replace(/[.\\]/g, '\\$&')}`

/** Who can read an attribute, as one choice: every role, from a role on, or no key. */
export const readersOf = (entry: { min_role: string | null; hidden: boolean } | undefined): string =>
  entry?.hidden ? 'hidden' : (entry?.min_role ?? 'everyone')
