import type { components } from '@carillon/sdk'
import { namesOf } from '../../parts/attribute-paths.ts'
import { textOf } from '../../parts/paging.ts'

/** What the screen shows other than attributes. */
export const VIEWS = ['events'] as const

/** How many days of an event are shown. */
export const RANGES = [7, 30, 90, 365] as const
export type Range = (typeof RANGES)[number]
export const RANGE_DEFAULT = 30

/** The event in a URL, which is open beside the list. */
export function openEventOf(search: Record<string, unknown>): { event?: string; days?: Range } {
  const event = textOf(search.event)
  const days = RANGES.find((days) => days === Number(search.days))
  return event === undefined ? {} : { event, ...(days && { days }) }
}

/** The key of `data` that an attribute is, as the register names it; null for attributes outside `data`. */
export const dataKeyOf = (attribute: string): string | null => namesOf(attribute)?.[0] ?? null

export type Entry = components['schemas']['Attribute']

export const REGISTER = '/api/client/attributes'
export const SCHEMA = '/api/client/schema/attributes'

/**
 * The registered settings of an attribute, as input for a change. An attribute that is not registered can be read by users, and this
 * setting keeps that.
 */
export const inputOf = (entry: Entry | undefined) => ({
  min_role: (entry?.min_role ?? null) as components['schemas']['AttributeInput']['min_role'],
  hidden: entry?.hidden ?? false,
  end_user: entry?.end_user ?? true,
  label: entry?.label ?? null,
  personal_data: entry?.personal_data ?? false,
})

export type Input = ReturnType<typeof inputOf>

/** The lowest role, with which a key reads everything that is not hidden. */
const LOWEST = 'support'

type Readable = Pick<Entry, 'min_role' | 'hidden' | 'personal_data'> & { end_user?: boolean }

/** Ends a choice under which users read an attribute of theirs, although not every role does. */
const AND_USERS = 'AndUsers'

/** Who can read an attribute, as one choice: everyone, every role but not the users, from a role on, with the users or without, or no key. */
export function readersOf(entry: Readable | undefined): string {
  if (entry?.hidden) return 'hidden'
  const role = entry?.min_role ?? (entry?.personal_data ? 'editor' : LOWEST)
  if (role === LOWEST) return entry?.end_user === false ? 'notUsers' : 'everyone'
  return entry?.end_user ? `${role}${AND_USERS}` : role
}

/** The lowest role of a choice, as the register has it. Every role can read personal data only if the register says so. */
function minRoleOf(readers: string, isPersonal: boolean): string | null {
  if (readers === 'hidden') return null
  if (readers === 'everyone' || readers === 'notUsers') return isPersonal ? LOWEST : null
  return readers.endsWith(AND_USERS) ? readers.slice(0, -AND_USERS.length) : readers
}

/** The register for a choice of who can read. */
export const withReaders = (entry: Entry | undefined, readers: string): Input => ({
  ...inputOf(entry),
  end_user: readers === 'everyone' || readers.endsWith(AND_USERS),
  hidden: readers === 'hidden',
  min_role: minRoleOf(readers, entry?.personal_data ?? false) as Input['min_role'],
})

/** The register for a mark as personal data. What only editors and above read from then on, users do not read either. */
export const withPersonal = (entry: Entry | undefined, isPersonal: boolean): Input => {
  const input = inputOf(entry)
  const isClosed = isPersonal && !input.personal_data && input.min_role === null
  return { ...input, personal_data: isPersonal, end_user: input.end_user && !isClosed }
}
