import { createRequire } from 'node:module'
import { posix } from 'node:path'
import ts from 'typescript'
import { read, type Source, sourcesOf } from './sources.ts'
import { templatesOf } from './statements.ts'

/** The module that a path belongs to; undefined outside of modules. */
export const moduleOf = (path: string): string | undefined => /(?:^|\/)server\/src\/modules\/([\w-]+)\//.exec(path)?.[1]

/** What a file imports or exports from, types included: files by their path from the root, everything else by its name. */
export const importsOf = ({ path, text }: Source): string[] =>
  ts
    .preProcessFile(text, true, false)
    .importedFiles.map(({ fileName }) => (fileName.startsWith('.') ? posix.join(posix.dirname(path), fileName) : fileName))

/** A rule of dependency-cruiser, as far as house tests read it. */
export type BoundaryRule = {
  name: string
  comment?: string
  from: { path?: string; pathNot?: string | string[] }
  to: { path?: string; pathNot?: string | string[] }
}

/** The rules that `npm run check` holds imports to. */
export const boundaries = (createRequire(import.meta.url)('../../../.dependency-cruiser.cjs') as { forbidden: BoundaryRule[] }).forbidden

/** The tables of infra, which no module owns. */
export const INFRA_TABLES = [
  'queue_entries',
  'idempotency_records',
  'parked_items',
  'queue_partitions',
  'queue_batches',
  'rate_buckets',
  'schema_migrations',
  'usage_counters',
  'introduced_names',
  'mta_sts_policies',
  'traced_messages',
  'retention_progress',
  'log_positions',
]

export const tables = [...read('server/schema.sql').text.matchAll(/^create table (\w+)/gm)].map(([, name]) => name as string)

/** The tables that the first paragraph of a front door lists. */
function ownedBy({ text }: Source): string[] {
  const paragraph = text.slice(0, text.indexOf('*/')).replaceAll(/\n \* ?/g, ' ')
  const sentence = /\bOwns ((?:`\w+`(?: \([^)]*\))?(?:, | and )?)+)/.exec(paragraph)?.[1] ?? ''
  return [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)
}

/** The module that owns a table. */
export const owners: ReadonlyMap<string, string> = new Map(
  sourcesOf('server/src/modules')
    .filter(({ path }) => /modules\/[\w-]+\/index\.ts$/.test(path))
    .flatMap((door) => ownedBy(door).map((table) => [table, moduleOf(door.path) as string] as const)),
)

/** After a keyword, with the other tables of a `from a, b`; or as a template of its own. */
const TABLE_NAMES = /\b(?:from|join|into|update|copy|using) (\w+(?:(?: as)?(?: \w+)?, \w+)*)|^(\w+)$/g

/** The tables that the SQL of a file names, each with the statement. */
export const tablesNamedIn = (source: Source): { statement: string; table: string }[] =>
  templatesOf(source).flatMap(({ name, text }) =>
    [...text.matchAll(TABLE_NAMES)]
      .flatMap(([, after, alone]) => (after ?? alone ?? '').split(', '))
      .map((named) => /^\w+/.exec(named)?.[0] ?? '')
      .filter((table) => tables.includes(table))
      .map((table) => ({ statement: name, table })),
  )
