/** What `backup.json` of a backup says. */
import { type Static, Type } from 'typebox'
import { DatabaseBackup } from '../infra/postgres/backup-format.ts'
import { checker } from '../lib/validate.ts'
import { CommandError } from './command.ts'
import { BackupFile, readManifest } from './data-dir.ts'

const Manifest = Type.Object({
  secrets_keys: Type.Array(Type.String()),
  files: Type.Array(BackupFile),
  database: DatabaseBackup,
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
