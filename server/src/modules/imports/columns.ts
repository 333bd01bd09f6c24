/** Maps the columns of a file to fields: by their headers, or by the `mapping` of the request. */
import type { Fault } from '../../lib/errors.ts'
import { lengthOf, trimWhiteSpace } from '../../lib/text.ts'

const PROFILE_FIELDS = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale'] as const
type ProfileField = (typeof PROFILE_FIELDS)[number]

const CONVERSIONS = ['number', 'boolean', 'date'] as const
/** The type that the text of a cell is converted to. */
export type Conversion = (typeof CONVERSIONS)[number] | 'text'

/** A stored column. Its field is `email`, `data.plan`, `data.age:number`, or null if the column is skipped. */
export type Column = { header: string; field: string | null }

export type Target = { profile: ProfileField } | { key: string; conversion: Conversion }

export type Mapping = Record<string, string | null>

const COLUMNS_MAX = 500
const KEY_LENGTH_MAX = 255

/** The target of a field of a mapping. Undefined if the field is invalid. */
export function targetOf(field: string): Target | undefined {
  const profile = PROFILE_FIELDS.find((name) => name === field)
  if (profile) return { profile }
  if (!field.startsWith('data.')) return undefined
  const conversion = CONVERSIONS.find((name) => field.endsWith(`:${name}`)) ?? 'text'
  const key = field.slice('data.'.length, conversion === 'text' ? undefined : -`:${conversion}`.length)
  const length = lengthOf(key)
  return length >= 1 && length <= KEY_LENGTH_MAX ? { key, conversion } : undefined
}

/** The field of a header that is not in `mapping`. */
function fieldNamedBy(header: string): string | null {
  if (header === '') return null
  const lower = header.toLowerCase()
  if (PROFILE_FIELDS.some((name) => name === lower)) return lower
  return header.startsWith('data.') ? header : `data.${header}`
}

/** The columns of a file with these headers, or all faults of the headers and the mapping. */
export function columnsOf(headerLine: string[], mapping: Mapping): { columns: Column[] } | { faults: Fault[] } {
  if (headerLine.length > COLUMNS_MAX) return { faults: [invalid('body', `The file may have at most ${COLUMNS_MAX} columns.`)] }
  const headers = headerLine.map(trimWhiteSpace)
  const columns = headers.map((header) => ({
    header,
    field: Object.hasOwn(mapping, header) ? (mapping[header] ?? null) : fieldNamedBy(header),
  }))
  const faults = [...headerFaults(headers), ...mappingFaults(headers, mapping)]
  if (faults.length === 0) faults.push(...fieldFaults(columns, mapping))
  return faults.length > 0 ? { faults } : { columns }
}

const invalid = (param: 'body' | 'mapping', message: string): Fault => ({ code: 'validation_failed', param, message })

const quoted = (text: string) => `\`${text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text}\``

function headerFaults(headers: string[]): Fault[] {
  if (headers.some((header) => header.includes('\0'))) return [invalid('body', 'The header line contains the character U+0000. Remove it.')]
  return repeated(headers.filter((header) => header !== '')).map((header) =>
    invalid('body', `Two columns have the header ${quoted(header)}. Give each column a different header.`),
  )
}

function mappingFaults(headers: string[], mapping: Mapping): Fault[] {
  return Object.entries(mapping).flatMap(([header, field]): Fault[] => {
    if (!headers.includes(header))
      return [invalid('mapping', `The file has no column ${quoted(header)}. Correct or remove it in \`mapping\`.`)]
    if (field === null || targetOf(field)) return []
    return [
      invalid(
        'mapping',
        `In \`mapping\`, ${quoted(header)} must be one of ${PROFILE_FIELDS.map((name) => `\`${name}\``).join(', ')}, or \`data.\` and a key of at most ${KEY_LENGTH_MAX} characters, or null.`,
      ),
    ]
  })
}

function fieldFaults(columns: Column[], mapping: Mapping): Fault[] {
  const unusable = columns.filter(({ field }) => field !== null && !targetOf(field))
  if (unusable.length > 0)
    return unusable.map(({ header }) =>
      invalid('body', `The header ${quoted(header)} cannot be the key of an attribute. Rename the column, or map it to null.`),
    )
  const targets = columns.flatMap(({ field }) => (field === null ? [] : [targetName(field)]))
  const twice = repeated(targets).map((target) =>
    invalid(Object.keys(mapping).length > 0 ? 'mapping' : 'body', `Two columns are mapped to ${quoted(target)}. Map one of them to null.`),
  )
  if (twice.length > 0 || targets.includes('external_id') || targets.includes('anonymous_id')) return twice
  return [invalid('mapping', 'No column is mapped to `external_id` or `anonymous_id`. Map one in `mapping`.')]
}

function targetName(field: string): string {
  const target = targetOf(field)
  return target && 'key' in target ? `data.${target.key}` : field
}

const repeated = (values: string[]) => [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
