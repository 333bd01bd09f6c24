/** Types of attributes in a file whose cells are text: `--types age:number,vip:boolean,renews_at:date`. */
import { parseDeclaredDate } from '../../lib/times.ts'
import { UsageError } from '../command.ts'

const CONVERSIONS = {
  number: (text: string) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined),
  boolean: (text: string) => ({ true: true, false: false })[text.toLowerCase()],
  // Products write a space where ISO 8601 has a T.
  date: (text: string) => parseDeclaredDate(text.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T'))?.toISOString(),
} as const

type TypeName = keyof typeof CONVERSIONS
export type Types = Record<string, TypeName>

/** Reads the option `--types`. Throws `UsageError`. */
export function typesOf(option: string): Types {
  const pairs = option.split(',').filter((pair) => pair !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', type = ''] = pair.split(':')
      if (name === '' || !Object.hasOwn(CONVERSIONS, type))
        throw new UsageError(`--types must be pairs such as age:number. The types are ${Object.keys(CONVERSIONS).join(', ')}.`)
      return [name, type as TypeName]
    }),
  )
}

/** The attributes with the types, or the reason why one cannot be converted. */
export function converted(data: Record<string, unknown>, types: Types): { data: Record<string, unknown> } | { problem: string } {
  const result = { ...data }
  for (const [name, type] of Object.entries(types)) {
    const value = data[name]
    if (typeof value !== 'string') continue
    const read = CONVERSIONS[type](value.trim())
    if (read === undefined) return { problem: `The value ${JSON.stringify(value)} of ${name} is not a ${type}.` }
    result[name] = read
  }
  return { data: result }
}
