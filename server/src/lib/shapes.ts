/**
 * TypeBox schemas that every module uses. One object is the validator, the type and the API reference.
 * `trim`, `notBlank` and the formats are explained in `validate.ts`.
 */
import { type Static, type TSchema, Type } from 'typebox'

/** A column of `timestamptz(3)` as the driver returns it. */
export const Instant = Type.Unsafe<Date>({ instant: true })
/** A time in a reply, such as `2026-11-20T02:56:21.664Z` (D-HTTP-5). */
export const Timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })

/** The schema or null, written so that Ajv reports one fault. */
export function Nullable<S extends TSchema>(schema: S) {
  const { type } = schema as { type?: string }
  const options = schema as Record<string, unknown>
  const nulled = type === undefined ? { anyOf: [schema, { type: 'null' }] } : { ...options, type: [type, 'null'] }
  if (Array.isArray(options.enum)) Object.assign(nulled, { enum: [...options.enum, null] })
  return Type.Unsafe<Static<S> | null>(nulled)
}

/** One of a fixed list of strings. */
export const OneOf = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

/** An object without other members; any other is reported as unrecognised (D-VAL-4). */
export const Exact = <const P extends Record<string, TSchema>>(properties: P, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** Every member of an `Exact` object made optional, for PATCH. */
export const Changes = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Partial(Exact(properties), { additionalProperties: false })

/** A positive id of the given kind. */
export const IdOf = <I extends number>(options: object = {}) =>
  Type.Unsafe<I>({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options })

/** The largest number of a version, which is an `integer` of PostgreSQL. */
export const VERSION_MAX = 999_999_999

/** The number of a version. */
export const VersionNumber = (options: object = {}) => Type.Integer({ minimum: 1, maximum: VERSION_MAX, ...options })

/** Text that is trimmed, not empty, and at most `maxLength` long (D-VAL-3). */
export const Line = (maxLength: number, options: object = {}) => Type.String({ trim: true, notBlank: true, maxLength, ...options })

/** A name (D-F-10). */
export const Name = (options: object = {}) => Line(255, { minLength: 1, ...options })

/** Tags (D-F-11); `distinct` removes duplicates. */
export const Tags = Type.Array(Line(64), { maxItems: 50 })

/** Keeps the first of equal values, in order. */
export const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)]

/** Free-form attributes (D-F-6). */
export const FreeForm = (bytesMax: number, options: object = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', freeForm: { bytesMax }, ...options })

export { CHANNELS, type Channel } from './channels.ts'

/** A reference to a component of the API description, for the keyword `documented`. */
export const componentRef = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` })

/** The page envelope of every list endpoint. */
export const Page = <S extends TSchema>(item: S) =>
  Exact({
    results: Type.Array(item, { description: 'Items of the page, in the requested order.' }),
    nextCursor: Nullable(Type.String({ description: 'Cursor of the next page; null if there is none.' })),
    prevCursor: Nullable(Type.String({ description: 'Cursor of the previous page; null on the first page.' })),
    limit: Type.Integer({ description: 'Page size used.' }),
  })

/** The query of a deletion that live journeys stop (D-JRN-12). */
export const ForceQuery = Exact({
  force: Type.Optional(
    OneOf(['true', 'false'], { description: 'Whether to archive the object even if live journeys use it. Default: `false`.' }),
  ),
})

/** The query of a list of objects that can be archived. */
export const ArchivedQuery = Exact({
  archived: Type.Optional(OneOf(['true', 'false'], { description: 'With `true`, only archived objects are listed. Default: `false`.' })),
})
export type ArchivedQuery = Static<typeof ArchivedQuery>

/** When an object was archived, in the list of those that are. */
export const ArchivedAt = Type.Optional({ ...Timestamp, description: 'When it was archived. Only in lists of archived objects.' })

/** What a statement such as `select count(*)` returns. */
export const Count = Type.Integer()

/** What a statement such as `select exists (…)` returns. */
export const Flag = Type.Boolean()
