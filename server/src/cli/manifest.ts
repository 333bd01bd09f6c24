/** What `backup.json` of a backup says. */
import { type Static, Type } from 'typebox'
import { checker } from '../lib/validate.ts'
import { CommandError } from './command.ts'
import { readManifest } from './data-dir.ts'

const Manifest = Type.Object({
  secrets_keys: Type.Array(Type.String()),
  files: Type.Array(Type.Object({ name: Type.String(), sha256: Type.String() })),
  database: Type.Object({
    schema_version: Type.Integer(),
    tables: Type.Array(
      Type.Object({ name: Type.String(), columns: Type.Array(Type.String()), rows: Type.Integer(), sha256: Type.String() }),
    ),
    partitions: Type.Array(Type.Object({ name: Type.String(), parent: Type.String(), bound: Type.String() })),
    unlogged: Type.Array(Type.Object({ name: Type.String(), columns: Type.String() })),
    sequences: Type.Array(Type.Object({ name: Type.String(), last_value: Type.String() })),
    left_out: Type.Array(Type.String()),
  }),
})

const check = checker(Manifest)

/** The manifest of a backup. Throws `CommandError` if the folder is no backup, or one of a form that this release cannot restore. */
export async function restorableManifest(folder: string): Promise<Static<typeof Manifest>> {
  const { faults, value } = check(await readManifest(folder))
  if (faults.length === 0) return value
  throw new CommandError(
    `The backup in ${folder} was not made by this release of Carillon, or its manifest was changed. Restore it with the release that made it.`,
  )
}
