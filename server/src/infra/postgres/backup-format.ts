/** What a backup of a database is: a folder with a file for each table, in COPY text format and compressed, and what is needed to load them. */
import { type Static, Type } from 'typebox'

/** A table with its rows. Its file is `tables/<name>.gz`. */
const BackupTable = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()), rows: Type.Integer(), sha256: Type.String() })
export type BackupTable = Static<typeof BackupTable>

export const DatabaseBackup = Type.Object({
  /** The migration that the tables are those of. */
  schema_version: Type.Integer(),
  tables: Type.Array(BackupTable),
  /** Partitions, with the bounds as PostgreSQL writes them. */
  partitions: Type.Array(Type.Object({ name: Type.String(), parent: Type.String(), bound: Type.String() })),
  /** Tables that a crash of the database empties. Their rows are not in the backup. */
  unlogged: Type.Array(Type.Object({ name: Type.String(), columns: Type.String() })),
  /** The last value that each sequence gave. */
  sequences: Type.Array(Type.Object({ name: Type.String(), last_value: Type.String() })),
  /** Tables of others, which the user of the server may not read. */
  left_out: Type.Array(Type.String()),
})
export type DatabaseBackup = Static<typeof DatabaseBackup>

/** The file of the rows of a table. */
export const tableFile = (table: string): string => `tables/${table}.gz`

/** An identifier of the catalogue, quoted for a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
