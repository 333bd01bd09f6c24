import { namesOf } from '../../parts/attribute-paths.ts'
import { textOf } from '../../parts/paging.ts'

/** What the screen shows other than attributes. */
export const VIEWS = ['events'] as const

/** How many days of an event are shown. */
export const RANGES = [7, 30, 90, 365] as const
export type Range = (typeof RANGES)[number]
export const RANGE_DEFAULT = 30

/** The event that is open beside the list, of an address. */
export function openEventOf(search: Record<string, unknown>): { event?: string; days?: Range } {
  const event = textOf(search.event)
  const days = RANGES.find((days) => days === Number(search.days))
  return event === undefined ? {} : { event, ...(days && { days }) }
}

/** The key of `data` that an attribute is, as the register names it; null for attributes outside `data`. */
export const dataKeyOf = (attribute: string): string | null => namesOf(attribute)?.[0] ?? null

/** Who can read an attribute, as one choice: every role, from a role on, or no key. */
export const readersOf = (entry: { min_role: string | null; hidden: boolean } | undefined): string =>
  entry?.hidden ? 'hidden' : (entry?.min_role ?? 'everyone')
