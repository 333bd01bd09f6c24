import { type Static, Type } from 'typebox'
import type { ImportId, KeyId, ListId, SubscriptionId } from '../../lib/ids.ts'
import { Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'
import type { Column } from './columns.ts'
import { ENCODINGS } from './encoding.ts'

const Flag = (description: string, fallback: 'true' | 'false') =>
  Type.Optional(OneOf(['true', 'false'], { description, default: fallback }))

/** The options of an import. */
export const ImportQuery = Exact({
  mapping: Type.Optional(
    Type.String({
      maxLength: 8192,
      description:
        'A JSON object that maps headers to `external_id`, `anonymous_id`, `email`, `phone`, `timezone`, `locale` or the path of an attribute such as `data.address.city`, or to null to skip the column. Add `:number`, `:boolean` or `:date` to a path to convert the cells, and a format in parentheses: `:number(point)` for `1,234.5`, `:number(comma)` for `1.234,5`, `:date(dmy)`, `:date(mdy)` or `:date(ymd)` for dates in that order, `:date(unix)` for seconds or milliseconds since 1970. Without a format, a number is written like `1234.5`, and a date in ISO 8601 or as a timestamp of 9, 10, 12 or 13 digits. A column that is not in the object is mapped by its header: `email` to `email`, `plan` and `data.plan` to `data.plan`.',
      examples: ['{"Customer no":"external_id","Age":"data.age:number","Notes":null}'],
    }),
  ),
  delimiter: Type.Optional(
    OneOf([',', ';', 'tab', '|', 'auto'], {
      description: 'The delimiter of the cells. `auto` takes it from a first line such as `sep=;`, or detects it from the header line.',
      default: 'auto',
    }),
  ),
  encoding: Type.Optional(
    OneOf([...ENCODINGS, 'auto'], {
      description: 'The encoding of the text. `windows-1252` includes Latin-1. `auto` detects it from the bytes.',
      default: 'auto',
    }),
  ),
  dry_run: Flag(
    'Report the counts and failures that a real import would have, without changing any user. Rows without ids can differ, because their users are looked up as they were before the file. Number and date formats that are not given are guessed; `mapping` in the reply has them. The first rows are returned as they would be stored.',
    'false',
  ),
  update_existing: Flag('If `false`, existing users are added to the list but not changed.', 'true'),
  consent_source: Type.Optional(
    Line(255, {
      description: 'Where these users gave their consent, in your words. Required with `subscription_ids`.',
      examples: ['Trade fair 2026'],
    }),
  ),
  subscription_ids: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}(,\\d{1,15}){0,99}$',
      problem: 'must be up to 100 ids of subscription types, separated by commas',
      description:
        'Ids of subscription types, separated by commas. Users without a stored state are subscribed. Users who opted out stay unsubscribed.',
      examples: ['1,4'],
    }),
  ),
  filename: Type.Optional(
    Line(255, {
      description: 'The name of the file. It is shown with the import and is part of the proof of consent.',
      examples: ['fair.csv'],
    }),
  ),
})
export type ImportQuery = Static<typeof ImportQuery>

const IMPORT_STATES = ['queued', 'running', 'finished', 'failed', 'cancelled', 'undoing', 'undone'] as const

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const columns = {
  id: IdOf<ImportId>(),
  list_id: IdOf<ListId>(),
  state: OneOf(IMPORT_STATES),
  reason: Nullable(Type.String({ description: 'The reason why the import failed.' })),
  dry_run: Type.Boolean(),
  update_existing: Type.Boolean(),
  consent_source: Nullable(Type.String()),
  subscription_ids: Type.Array(IdOf<SubscriptionId>()),
  filename: Nullable(Type.String({ description: 'The name of the file; null if it was not given.' })),
  file_sha256: Nullable(
    Type.String({
      description: 'The SHA-256 of the file as it was sent, without compression, in hex; null for imports made with earlier releases.',
    }),
  ),
  rows_total: Nullable(
    Type.Integer({
      minimum: 0,
      description: 'Rows of the file, counted while it was received; null for imports made with earlier releases.',
    }),
  ),
  rows: Count(
    'Rows read so far, without empty ones. Each is counted in exactly one of `created`, `updated`, `unchanged`, `skipped` and `failed`.',
  ),
  created: Count('Rows that created a user.'),
  updated: Count('Rows that changed a user.'),
  unchanged: Count('Rows with no changes.'),
  skipped: Count('Rows for existing users that were skipped because `update_existing` is `false`.'),
  failed: Count('Refused rows. `GET …/errors` lists them with their reasons.'),
  added: Count('Users who were added to the list.'),
  removed: Count('Users that the import created and that were removed when it was undone.'),
  restored: Count('Users whose former values were restored when the import was undone.'),
  bytes: Count('The size of the file in bytes, after decompression and conversion to UTF-8.'),
}

const Delimiter = Type.String({ description: 'The delimiter of the cells, given or detected.' })

/** An import in replies. */
export const Import = Exact({
  ...columns,
  delimiter: Delimiter,
  mapping: Type.Unsafe<Record<string, string | null>>({
    type: 'object',
    additionalProperties: { type: ['string', 'null'] },
    description: 'The field of each column, or null if it is skipped.',
  }),
  guesses: Type.Unsafe<Record<string, string[]>>({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description:
      'For a dry run: the fields that fit each column of numbers or dates for which no format was given. `mapping` uses the first field. If there are several, check which one is right.',
  }),
  columns: Type.Array(Type.String(), { description: 'The headers in the order of the file.' }),
  progress: Type.Number({ minimum: 0, maximum: 1, description: 'The share of the rows that were processed: `rows` of `rows_total`.' }),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  undone_at: Nullable(Timestamp),
})
export type Import = Static<typeof Import>

const FirstRow = Type.Object(
  {
    line: Type.Integer({ description: 'The line of the row in the file.' }),
    external_id: Type.Optional(Nullable(Type.String())),
    anonymous_id: Type.Optional(Nullable(Type.String())),
    email: Type.Optional(Nullable(Type.String())),
    phone: Type.Optional(Nullable(Type.String())),
    timezone: Type.Optional(Nullable(Type.String())),
    locale: Type.Optional(Nullable(Type.String())),
    data: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'The attributes that the row gives.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type FirstRow = Static<typeof FirstRow>

/** An import that is read by its id. */
export const ImportWithFirstRows = Exact({
  ...Import.properties,
  first_rows: Type.Optional(
    Type.Array(FirstRow, {
      description:
        'For a dry run: the first ten accepted rows as they would be stored, with only the values in the row. Kept for 24 hours; erasing a user removes their row.',
    }),
  ),
})
export type ImportWithFirstRows = Static<typeof ImportWithFirstRows>

export const ImportRow = Type.Object({
  ...columns,
  delimiter: Type.String(),
  columns: Type.Unsafe<Column[]>({ type: 'array' }),
  position: Type.Integer(),
  created_at: Instant,
  started_at: Nullable(Instant),
  finished_at: Nullable(Instant),
  undone_at: Nullable(Instant),
})
export type ImportRow = Static<typeof ImportRow>

/** An import that is locked for a batch. */
export const ClaimedImport = Type.Object({
  ...ImportRow.properties,
  line: Type.Integer(),
  key_id: Nullable(IdOf<KeyId>()),
  accepted_position: Type.Integer(),
})
export type ClaimedImport = Static<typeof ClaimedImport>
