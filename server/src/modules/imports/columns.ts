/** Which column of a file goes where: by its header, or as the caller says. */
import type { Fault } from '../../lib/errors.ts'
import { lengthOf, trimWhiteSpace } from '../../lib/text.ts'

const PROFILE_FIELDS = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale'] as const
type ProfileField = (typeof PROFILE_FIELDS)[number]

const CONVERSIONS = ['number', 'boolean', 'date'] as const
/** What the text of a cell becomes. */
export type Conversion = (typeof CONVERSIONS)[number] | 'text'

/** A column as it is stored: `email`, `data.plan`, `data.age:number`, or null when it is skipped. */
export type Column = { header: string; field: string | null }

export type Target = { profile: ProfileField } | { key: string; conversion: Conversion }

export type Mapping = Record<string, string | null>

const COLUMNS_MAX = 500
const KEY_LENGTH_MAX = 255

/** Where a field of a mapping leads; undefined when it is none. */
export function targetOf(field: string): Target | undefined {
  const profile = PROFILE_FIELDS.find((name) => name === field)
  if (profile) return { profile }
  if (!field.startsWith('data.')) return undefined
  const conversion = CONVERSIONS.find((name) => field.endsWith(`:${name}`)) ?? 'text'
  const key = field.slice('data.'.length, conversion === 'text' ? undefined : -`:${conversion}`.length)
  const length = lengthOf(key)
  return length >= 1 && length <= KEY_LENGTH_MAX ? { key, conversion } : undefined
}

/** The field a header means when nobody says otherwise. */
function fieldNamedBy(header: string): string | null {
  if (header === '') return null
  const lower = header.toLowerCase()
  if (PROFILE_FIELDS.some((name) => name === lower)) return lower
  return header.startsWith('data.') ? header : `data.${header}`
}

/** The columns of a file with these headers, or everything that is wrong with them. */
export function columnsOf(headerLine: string[], mapping: Mapping): { columns: Column[] } | { faults: Fault[] } {
  const headers = headerLine.map(trimWhiteSpace)
  const columns = headers.map((header) => ({
    header,
    field: Object.hasOwn(mapping, header) ? (mapping[header] ?? null) : fieldNamedBy(header),
  }))
  const faults = [...headerFaults(headers), ...mappingFaults(headers, mapping)]
  if (faults.length === 0) faults.push(...fieldFaults(columns, mapping))
  return faults.length > 0 ? { faults } : { columns }
}

const wrong = (param: 'body' | 'mapping', message: string): Fault => ({ code: 'validation_failed', param, message })

const shown = (text: string) => `\`${text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text}\``

function headerFaults(headers: string[]): Fault[] {
  if (headers.length > COLUMNS_MAX) return [wrong('body', `The file may have at most ${COLUMNS_MAX} columns.`)]
  if (headers.some((header) => header.includes('\0'))) return [wrong('body', 'The header line holds the character U+0000. Remove it.')]
  return repeated(headers.filter((header) => header !== '')).map((header) =>
    wrong('body', `Two columns are called ${shown(header)}. Give each column a header of its own.`),
  )
}

function mappingFaults(headers: string[], mapping: Mapping): Fault[] {
  return Object.entries(mapping).flatMap(([header, field]): Fault[] => {
    if (!headers.includes(header)) return [wrong('mapping', `The file has no column ${shown(header)}, which \`mapping\` names.`)]
    if (field === null || targetOf(field)) return []
    return [
      wrong(
        'mapping',
        `In \`mapping\`, ${shown(header)} must lead to one of ${PROFILE_FIELDS.map((name) => `\`${name}\``).join(', ')}, to \`data.\` and a key of at most ${KEY_LENGTH_MAX} characters, or to null.`,
      ),
    ]
  })
}

function fieldFaults(columns: Column[], mapping: Mapping): Fault[] {
  const long = columns.filter(({ field }) => field !== null && !targetOf(field))
  if (long.length > 0)
    return long.map(({ header }) =>
      wrong('body', `The header ${shown(header)} cannot be the key of an attribute. Shorten it, or map it to null.`),
    )
  const places = columns.flatMap(({ field }) => (field === null ? [] : [placeOf(field)]))
  const twice = repeated(places).map((place) =>
    wrong(Object.keys(mapping).length > 0 ? 'mapping' : 'body', `Two columns lead to ${shown(place)}. Map one of them to null.`),
  )
  if (twice.length > 0 || places.includes('external_id') || places.includes('anonymous_id')) return twice
  return [
    wrong(
      'mapping',
      'No column leads to `external_id` or `anonymous_id`, so nobody can be told from anybody. Say in `mapping` which one does.',
    ),
  ]
}

function placeOf(field: string): string {
  const target = targetOf(field)
  return target && 'key' in target ? `data.${target.key}` : field
}

const repeated = (values: string[]) => [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
