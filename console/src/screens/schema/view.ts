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

/** Who can read an attribute, as one choice: everyone, every role but not the users, from a role on, or no key. */
export function readersOf(entry: Readable | undefined): string {
  const everyone = entry?.end_user === false ? 'notUsers' : 'everyone'
  if (entry?.hidden) return 'hidden'
  if (entry?.min_role === LOWEST) return everyone
  return entry?.min_role ?? (entry?.personal_data ? 'editor' : everyone)
}

/** Whether every role can read it. */
const isForAllRoles = (readers: string): boolean => readers === 'everyone' || readers === 'notUsers'

/** Whether a role was chosen from which on keys read it. Personal data is closed to lower roles also without that. */
const isNarrowed = (entry: Entry | undefined): boolean => ![undefined, null, LOWEST].includes(entry?.min_role)

/** Users are among everyone. Under a narrower choice they read an attribute of theirs only if the register said so under such a choice. */
const isForUsers = (entry: Entry | undefined, readers: string): boolean =>
  readers === 'everyone' || (readers !== 'hidden' && readers !== 'notUsers' && isNarrowed(entry) && (entry?.end_user ?? false))

/** The register for a choice of who can read. Every role can read personal data only if the register says so. */
export const withReaders = (entry: Entry | undefined, readers: string): Input => ({
  ...inputOf(entry),
  end_user: isForUsers(entry, readers),
  hidden: readers === 'hidden',
  min_role: (readers === 'hidden' ? null : !isForAllRoles(readers) ? readers : entry?.personal_data ? LOWEST : null) as Input['min_role'],
})

/** The register for a mark as personal data. What only editors and above read from then on, users do not read either. */
export const withPersonal = (entry: Entry | undefined, isPersonal: boolean): Input => {
  const input = inputOf(entry)
  const isClosed = isPersonal && !input.personal_data && input.min_role === null
  return { ...input, personal_data: isPersonal, end_user: input.end_user && !isClosed }
}
