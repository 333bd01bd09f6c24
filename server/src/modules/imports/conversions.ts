/**
 * The types that the text of a cell can be converted to, with the formats in which people write numbers and dates. Pure. A format is part
 * of the field of a column, such as `data.total:number(comma)`.
 */
import { trimWhiteSpace } from '../../lib/text.ts'
import { dateOfTimestamp, isDate, parseDeclaredDate } from '../../lib/times.ts'

export type CellValue = string | number | boolean

type Read = (text: string) => CellValue | undefined

/** A type with its formats by name; the empty name is the format of a field that gives none. */
type CellType = { formats: Record<string, Read>; hint: string }

const PLAIN_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
// Thousands are separated by the character that is no decimal mark, by spaces or by apostrophes.
const POINT_NUMBER = /^[+-]?(?:\d{1,3}(?:[,'’ \u00a0\u2009\u202f]\d{3})+|\d+)?(?:\.\d*)?$/
const COMMA_NUMBER = /^[+-]?(?:\d{1,3}(?:[.'’ \u00a0\u2009\u202f]\d{3})+|\d+)?(?:,\d*)?$/
const DIGIT = /\d/

const finite = (text: string): number | undefined => (Number.isFinite(Number(text)) ? Number(text) : undefined)

const numberIn =
  (shape: RegExp, mark: '.' | ','): Read =>
  (text) => {
    if (!shape.test(text) || !DIGIT.test(text)) return undefined
    const [whole = '', fraction = ''] = text.split(mark)
    return finite(`${whole.replace(/[^\d+-]/g, '')}.${fraction}`)
  }

const TRUE = /^(?:true|yes|1)$/i
const FALSE = /^(?:false|no|0)$/i

const DAY_FIRST = /^(?<day>\d{1,2})(?<mark>[./-])(?<month>\d{1,2})\k<mark>(?<year>\d{4})(?:[ T](?<time>.+))?$/
const MONTH_FIRST = /^(?<month>\d{1,2})(?<mark>[./-])(?<day>\d{1,2})\k<mark>(?<year>\d{4})(?:[ T](?<time>.+))?$/
const YEAR_FIRST = /^(?<year>\d{4})(?<mark>[./-])(?<month>\d{1,2})\k<mark>(?<day>\d{1,2})(?:[ T](?<time>.+))?$/
const YEAR_FIRST_UNMARKED = /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)(?:[ T](?<time>.+))?$/
const TIME_OF_DAY = /^(?<hour>\d{1,2}):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d{1,9}))?)?(?: ?(?<half>[ap])\.?m\.?)?$/i

/** A date in this order as an ISO 8601 text, with the time of day if it has one. */
const dateIn =
  (...shapes: RegExp[]): Read =>
  (text) => {
    const shape = shapes.find((one) => one.test(text))
    const { year = '', month = '', day = '', time } = shape?.exec(text)?.groups ?? {}
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    const whole = time === undefined ? date : `${date}T${timeOfDay(time) ?? '?'}`
    return isDate(whole) ? whole : undefined
  }

function timeOfDay(text: string): string | undefined {
  const { hour = '', minute = '', second = '00', fraction, half } = TIME_OF_DAY.exec(text)?.groups ?? {}
  if (hour === '') return undefined
  const isHalf = half !== undefined
  if (isHalf && (Number(hour) < 1 || Number(hour) > 12)) return undefined
  const hours = isHalf ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour)
  return `${String(hours).padStart(2, '0')}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`
}

const unixDate = (text: string): string | undefined =>
  /^-?\d{1,15}$/.test(text) ? dateOfTimestamp(Number(text))?.toISOString() : undefined

/** ISO 8601 stays as it is written. A timestamp is stored as ISO 8601, which rules compare without a declaration. */
const plainDate = (text: string): string | undefined => (isDate(text) ? text : parseDeclaredDate(text)?.toISOString())

const types = {
  number: {
    formats: {
      '': (text) => (PLAIN_NUMBER.test(text) ? finite(text) : undefined),
      point: numberIn(POINT_NUMBER, '.'),
      comma: numberIn(COMMA_NUMBER, ','),
    },
    hint: 'Write it like `1234.5`, or give the format of the column, such as `number(comma)` for `1.234,5`',
  },
  boolean: {
    formats: { '': (text) => (TRUE.test(text) ? true : FALSE.test(text) ? false : undefined) },
    hint: 'Write `true` or `false`',
  },
  date: {
    formats: {
      '': plainDate,
      dmy: dateIn(DAY_FIRST),
      mdy: dateIn(MONTH_FIRST),
      ymd: dateIn(YEAR_FIRST, YEAR_FIRST_UNMARKED),
      unix: unixDate,
    },
    hint: 'Use ISO 8601, such as `2026-11-20` or `2026-11-20T09:30:00Z`, or give the format of the column, such as `date(dmy)` for `20.11.2026`',
  },
} satisfies Record<string, CellType>

type TypeName = keyof typeof types
const formatsOf = (type: TypeName): Record<string, Read> => types[type].formats

/** What the text of a cell is converted to. */
export type Conversion = 'text' | { type: TypeName; format: string }

const SUFFIX = /:(number|boolean|date)(?:\(([a-z]{1,10})\))?$/

/** A field without its conversion, and the conversion. Undefined if the type has no such format. */
export function conversionIn(field: string): { path: string; conversion: Conversion } | undefined {
  const found = SUFFIX.exec(field)
  if (!found) return { path: field, conversion: 'text' }
  const [suffix, type, format = ''] = found as unknown as [string, TypeName, string?]
  if (!Object.hasOwn(formatsOf(type), format)) return undefined
  return { path: field.slice(0, -suffix.length), conversion: { type, format } }
}

/** The value of a cell. Undefined if the text cannot be converted. */
export function convert(cell: string, conversion: Conversion): CellValue | undefined {
  if (conversion === 'text') return cell
  return formatsOf(conversion.type)[conversion.format]?.(trimWhiteSpace(cell))
}

/** The end of a sentence that says what a cell is not, and how to write it. */
export const notConverted = ({ type }: Exclude<Conversion, 'text'>): string => `is not a ${type}. ${types[type].hint}.`

/** The names of types with their formats, for messages. */
export const CONVERSIONS: string[] = Object.entries(types).flatMap(([type, { formats }]) =>
  Object.keys(formats).map((format) => (format === '' ? type : `${type}(${format})`)),
)

/** Any whole number is a number of seconds. Those of the last decades are read by the plain format; others are days, months or customers. */
const NEVER_GUESSED = ['unix']

/**
 * The formats of a type that convert most of these cells: the first one is used, the others would convert as many. A date that has no
 * day above 12 is read with the day first unless `monthFirst`.
 */
export function formatsThatFit(type: TypeName, cells: string[], monthFirst: boolean): string[] {
  const names = Object.keys(formatsOf(type)).filter((name) => !NEVER_GUESSED.includes(name))
  const ordered = monthFirst ? names.toSorted((a, b) => Number(b === 'mdy') - Number(a === 'mdy') || 0) : names
  const counted = ordered.map((format) => ({
    format,
    count: cells.filter((cell) => convert(cell, { type, format }) !== undefined).length,
  }))
  const most = Math.max(...counted.map(({ count }) => count))
  const best = most === 0 ? [''] : counted.filter(({ count }) => count === most).map(({ format }) => format)
  // The plain format comes first whenever it fits.
  return best.toSorted((a, b) => Number(b === '') - Number(a === ''))
}
