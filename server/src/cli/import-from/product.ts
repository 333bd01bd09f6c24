/** What `carillon import-from` reads in the files of a product. */
import { isTimeZone } from '../../lib/time-zones.ts'

/** A row of an export: cells by header, or the members of an object in JSON. */
export type Row = Record<string, unknown>

/** Reasons for which the API suppresses addresses. */
export type Reason = 'unsubscribed_all' | 'manual' | 'hard_bounce' | 'complaint'

export type Suppression = { channel: 'email' | 'text'; address: string; reason: Reason }

/** A user as the API takes it, with what the export says about consent. */
export type ExportedUser = {
  user: Partial<Record<'email' | 'phone' | 'timezone' | 'locale', string>> & { external_id: string; data: Record<string, unknown> }
  /** Whether the user may get messages. Undefined if the export does not say. */
  isSubscribed: boolean | undefined
  /** The channels that an opt-out stops. */
  channels: readonly ('email' | 'text')[]
  /** Whether an opt-out is one of everything, or of the audience that was exported. */
  optsOutOf: 'everything' | 'audience'
  /** Whether the user is subscribed, by topic. */
  topics: Record<string, boolean>
  /** The reason if the address gets no messages at all. */
  blocked?: Reason
}

/** A template in Liquid for Carillon, with the tags that could not be converted. */
export type Converted = { text: string; left: string[] }

export type Product = {
  /** The headers of the id, best first. */
  ids: readonly string[]
  /** The names of files of users who have never agreed to messages. */
  filesOfUnasked?: RegExp
  /** Reads a user. `id` is never empty. */
  user(row: Row, id: string): ExportedUser
  /** The reason for which a row of a suppression file is suppressed, unless the file is of one reason only. */
  reason(row: Row): Reason | undefined
  convert(template: string): Converted
}

/** The text of a cell without spaces around it; undefined if there is none. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return text === '' ? undefined : text
}

/** `First Name` as `first_name`. */
export const snakeCase = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')

/** The members of a row that are attributes: not empty, and none of these. */
export const attributesOf = (row: Row, others: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([name, value]) => !others.includes(name) && value !== '' && value !== null))

/** An object in a cell; an empty one if it is not JSON. */
export function objectIn(value: unknown): Record<string, unknown> {
  if (typeof value !== 'string') return isObject(value) ? value : {}
  try {
    const read: unknown = JSON.parse(value)
    return isObject(read) ? read : {}
  } catch {
    return {}
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The name of a time zone; undefined if Carillon does not take it. */
export function timezoneOf(value: unknown): string | undefined {
  const name = textOf(value)
  return name !== undefined && isTimeZone(name) ? name : undefined
}

/** The members that have a value. */
export const present = <T extends Record<string, string | undefined>>(members: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string }

/** The tags of a converted text that match, each once. */
export const tagsLeft = (text: string, pattern: RegExp): string[] => [...new Set(text.match(pattern) ?? [])]
