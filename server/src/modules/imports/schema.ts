import { type Static, Type } from 'typebox'
import type { ImportId, ListId, SubscriptionId } from '../../lib/ids.ts'
import { Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'
import type { Column } from './columns.ts'

const Flag = (description: string, fallback: 'true' | 'false') =>
  Type.Optional(OneOf(['true', 'false'], { description, default: fallback }))

/** What is said beside the file. */
export const ImportQuery = Exact({
  mapping: Type.Optional(
    Type.String({
      maxLength: 8192,
      description:
        'Where columns go, as a JSON object: header → `external_id`, `anonymous_id`, `email`, `phone`, `timezone`, `locale`, `data.<key>` or null to skip it. With `:number`, `:boolean` or `:date` behind a key the cells are converted. A column that is not named goes where its header says: `email` to `email`, `plan` and `data.plan` to `data.plan`.',
      examples: ['{"Customer no":"external_id","Age":"data.age:number","Notes":null}'],
    }),
  ),
  delimiter: Type.Optional(
    OneOf([',', ';', 'tab', '|', 'auto'], { description: 'What stands between cells; `auto` asks the header line.', default: 'auto' }),
  ),
  dry_run: Flag('Do everything, keep nothing: the same counts and failures, and nobody is changed.', 'false'),
  update_existing: Flag('With `false`, users who exist already are added to the list and not changed.', 'true'),
  consent_source: Type.Optional(
    Line(255, {
      description: 'Where these people said yes, in your words. Required with `subscription_ids`.',
      examples: ['Trade fair 2026'],
    }),
  ),
  subscription_ids: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}(,\\d{1,15}){0,99}$',
      problem: 'must be up to 100 ids of subscription types with commas between them',
      description:
        'Subscription types, with commas between them. Users for whom no state is stored are subscribed; who opted out stays so.',
      examples: ['1,4'],
    }),
  ),
})
export type ImportQuery = Static<typeof ImportQuery>

const IMPORT_STATES = ['queued', 'running', 'finished', 'failed', 'cancelled'] as const

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const columns = {
  id: IdOf<ImportId>(),
  list_id: IdOf<ListId>(),
  state: OneOf(IMPORT_STATES),
  reason: Nullable(Type.String({ description: 'Why it failed.' })),
  dry_run: Type.Boolean(),
  update_existing: Type.Boolean(),
  consent_source: Nullable(Type.String()),
  subscription_ids: Type.Array(IdOf<SubscriptionId>()),
  rows: Count('Rows read so far, without blank ones. Each is counted once below.'),
  created: Count('Rows that made a user.'),
  updated: Count('Rows that changed a user.'),
  unchanged: Count('Rows that said what was known already.'),
  skipped: Count('Rows about users who exist, with `update_existing=false`.'),
  failed: Count('Rows that were refused; `…/errors` says why.'),
  added: Count('Users who are new in the list.'),
  bytes: Count('Length of the file, decompressed.'),
}

const Delimiter = Type.String({ description: 'What was found to stand between cells.' })

/** An import as it is read. */
export const Import = Exact({
  ...columns,
  delimiter: Delimiter,
  mapping: Type.Unsafe<Record<string, string | null>>({
    type: 'object',
    additionalProperties: { type: ['string', 'null'] },
    description: 'Where each column goes, as it was decided.',
  }),
  columns: Type.Array(Type.String(), { description: 'The headers in the order of the file.' }),
  progress: Type.Number({ minimum: 0, maximum: 1, description: 'How much of the file was read.' }),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
})
export type Import = Static<typeof Import>

export const ImportRow = Type.Object({
  ...columns,
  delimiter: Type.String(),
  columns: Type.Unsafe<Column[]>({ type: 'array' }),
  position: Type.Integer(),
  created_at: Instant,
  started_at: Nullable(Instant),
  finished_at: Nullable(Instant),
})
export type ImportRow = Static<typeof ImportRow>

/** An import that a batch is being made of. */
export const ClaimedImport = Type.Object({ ...ImportRow.properties, line: Type.Integer() })
export type ClaimedImport = Static<typeof ClaimedImport>
