/** What a backup of a database is: a folder with a file for each table, in COPY text format and compressed, and what is needed to load them. */

/** A table with its rows. Its file is `tables/<name>.gz`. */
export type BackupTable = { name: string; columns: string[]; rows: number; sha256: string }

export type DatabaseBackup = {
  /** The migration that the tables are those of. */
  schema_version: number
  tables: BackupTable[]
  /** Partitions, with the bounds as PostgreSQL writes them. */
  partitions: { name: string; parent: string; bound: string }[]
  /** Tables that a crash of the database empties. Their rows are not in the backup. */
  unlogged: { name: string; columns: string }[]
  /** The last value that each sequence gave. */
  sequences: { name: string; last_value: string }[]
  /** Tables of others, which the user of the server may not read. */
  left_out: string[]
}

/** The file of the rows of a table. */
export const tableFile = (table: string): string => `tables/${table}.gz`

/** An identifier of the catalogue, quoted for a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
