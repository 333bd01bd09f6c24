/** Maps the columns of a file to fields: by their headers, or by the `mapping` of the request. */
import { pathOf, pathOfKey, pathOfKeys } from '../../lib/attribute-paths.ts'
import type { Fault } from '../../lib/errors.ts'
import { lengthOf, trimWhiteSpace } from '../../lib/text.ts'
import { CONVERSIONS, type Conversion, conversionIn } from './conversions.ts'
import { ADDED_COLUMNS, hasAddedColumns, unescapeFormula } from './failures.ts'

const PROFILE_FIELDS = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale'] as const
type ProfileField = (typeof PROFILE_FIELDS)[number]

/** The fields that identify the user of a row. */
const IDENTIFYING: readonly string[] = ['external_id', 'anonymous_id', 'email', 'phone']

/** A stored column. Its field is `email`, `data.plan`, `data.age:number`, or null if the column is skipped. */
export type Column = {
  header: string
  field: string | null
  /** The fields that a dry run found to fit the cells, if the mapping gave no format. The first one is `field`. */
  guesses?: string[]
  /** Written by an import into its error file, and skipped when that is imported. */
  added?: true
}

export type Target = { profile: ProfileField } | { path: string; keys: string[]; conversion: Conversion }

export type Mapping = Record<string, string | null>

const COLUMNS_MAX = 500
const KEY_LENGTH_MAX = 255
/** A longer path is not parsed: that would take as long as the longest header line. */
const FIELD_LENGTH_MAX = 16_384

/** The target of a field of a mapping. Undefined if the field is invalid. */
export function targetOf(field: string): Target | undefined {
  const profile = PROFILE_FIELDS.find((name) => name === field)
  if (profile) return { profile }
  if (field.length > FIELD_LENGTH_MAX) return undefined
  const found = conversionIn(field)
  const keys = found && pathOf(found.path)
  return found && keys?.every((key) => lengthOf(key) <= KEY_LENGTH_MAX)
    ? { path: pathOfKeys(keys), keys, conversion: found.conversion }
    : undefined
}

/** Whether the column is stored under one of these keys of `data`. */
export function isUnderKey({ field }: Column, keys: Set<string>): boolean {
  const target = field === null ? undefined : targetOf(field)
  const [key] = target && 'keys' in target ? target.keys : []
  return key !== undefined && keys.has(key)
}

/** The field of a header that is not in `mapping`. A header without `data.` is a key, even with a dot. */
function fieldNamedBy(header: string): string | null {
  if (header === '') return null
  // No target, as `targetOf` finds.
  if (header.length > FIELD_LENGTH_MAX) return header
  const lower = header.toLowerCase()
  if (PROFILE_FIELDS.some((name) => name === lower)) return lower
  return header.startsWith('data.') ? header : pathOfKey(header)
}

/** The columns of a file with these headers, or all faults of the headers and the mapping. */
export function columnsOf(headerLine: string[], mapping: Mapping): { columns: Column[] } | { faults: Fault[] } {
  const written = headerLine.map(trimWhiteSpace)
  if (hasAddedColumns(written, mapping)) return columnsOfErrorFile(written, mapping)
  if (written.length > COLUMNS_MAX) return { faults: [invalid('body', `The file may have at most ${COLUMNS_MAX} columns.`)] }
  const columns = written.map((header) => ({
    header,
    field: Object.hasOwn(mapping, header) ? (mapping[header] ?? null) : fieldNamedBy(header),
  }))
  const faults = [...headerFaults(written), ...mappingFaults(written, mapping)]
  if (faults.length === 0) faults.push(...fieldFaults(columns, mapping))
  return faults.length > 0 ? { faults } : { columns }
}

/** The columns that an import wrote into its error file are skipped; the others are those of the file that was imported. */
function columnsOfErrorFile(headers: string[], mapping: Mapping): { columns: Column[] } | { faults: Fault[] } {
  const added = ADDED_COLUMNS.map((header): Column => ({ header, field: null, added: true }))
  const found = columnsOf(headers.slice(added.length).map(unescapeFormula), mapping)
  return 'faults' in found ? found : { columns: [...added, ...found.columns] }
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
        `In \`mapping\`, ${quoted(header)} must be one of ${PROFILE_FIELDS.map((name) => `\`${name}\``).join(', ')}, or the path of an attribute such as \`data.plan\`, with keys of at most ${KEY_LENGTH_MAX} characters and at most one of ${CONVERSIONS.map((name) => `\`:${name}\``).join(', ')}, or null.`,
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
  const param = Object.keys(mapping).length > 0 ? 'mapping' : 'body'
  const twice = repeated(targets).map((target) => invalid(param, `Two columns are mapped to ${quoted(target)}. Map one of them to null.`))
  const faults = [...twice, ...overlaps(columns).map(([outer, inner]) => invalid(param, OVERLAP(outer, inner)))]
  if (faults.length > 0 || targets.some((target) => IDENTIFYING.includes(target))) return faults
  return [invalid('mapping', 'No column is mapped to `external_id`, `anonymous_id`, `email` or `phone`. Map one in `mapping`.')]
}

const OVERLAP = (outer: string, inner: string) =>
  `A column is mapped to ${quoted(outer)} and another to ${quoted(inner)}, which is inside it. Map one of them to null.`

/** Pairs of paths of which one leads to a part of the value at the other. */
function overlaps(columns: Column[]): [outer: string, inner: string][] {
  const paths = new Map(
    columns.flatMap(({ field }): [string, string][] => {
      const target = field === null ? undefined : targetOf(field)
      return target && 'keys' in target ? [[JSON.stringify(target.keys), target.path]] : []
    }),
  )
  return columns.flatMap(({ field }): [string, string][] => {
    const target = field === null ? undefined : targetOf(field)
    if (!target || !('keys' in target)) return []
    return target.keys.flatMap((_, length): [string, string][] => {
      const outer = length === 0 ? undefined : paths.get(JSON.stringify(target.keys.slice(0, length)))
      return outer === undefined ? [] : [[outer, target.path]]
    })
  })
}

function targetName(field: string): string {
  const target = targetOf(field)
  return target && 'keys' in target ? target.path : field
}

const repeated = (values: string[]) => [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
