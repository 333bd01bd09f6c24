/** The folders and files of backups. */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { CommandError } from './command.ts'

const MANIFEST = 'backup.json'
const FILES = 'data'

/** A file of DATA_DIR in a backup. */
export const BackupFile = Type.Object({ name: Type.String(), sha256: Type.String() })
type BackupFile = Static<typeof BackupFile>

/** Creates a folder that only its owner can read. Throws `CommandError` if it is not empty. */
export async function openEmpty(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0) throw new CommandError(`${name} ${folder} is not empty.`)
}

/**
 * Copies the files of DATA_DIR, such as secrets and credentials. The embedded PostgreSQL and what belongs to it are in folders and files that
 * begin with its name.
 */
export async function copyFiles(dataDir: string, folder: string): Promise<BackupFile[]> {
  const found = await readdir(dataDir, { withFileTypes: true }).catch(() => [])
  const names = found.filter((entry) => entry.isFile() && !entry.name.startsWith('postgres')).map(({ name }) => name)
  await mkdir(filesOf(folder), { mode: 0o700 })
  for (const name of names) await copyFile(join(dataDir, name), join(filesOf(folder), name))
  return await Promise.all(names.map(async (name) => ({ name, sha256: await hashOf(join(filesOf(folder), name)) })))
}

/** Throws `CommandError` if one of these files is missing in a backup or was changed. */
export async function checkFiles(files: BackupFile[], folder: string): Promise<void> {
  for (const { name, sha256 } of files) {
    const found = await hashOf(join(filesOf(folder), name)).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`${FILES}/${name} of the backup cannot be read (${error.code}).`)
    })
    if (found !== sha256) throw new CommandError(`${FILES}/${name} differs from the backed-up file. Use another backup.`)
  }
}

const hashOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

/** The folder of these files in a backup. */
export const filesOf = (folder: string): string => join(folder, FILES)

/** Copies them back. */
export async function putBackFiles(files: BackupFile[], folder: string, dataDir: string): Promise<void> {
  for (const { name } of files) await copyFile(join(filesOf(folder), name), join(dataDir, name))
}

/** Written last: a folder without it is not a complete backup. */
export const writeManifest = (folder: string, manifest: object): Promise<void> =>
  writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true })

/** Throws `CommandError` if the folder is not a complete backup. */
export async function readManifest(folder: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(join(folder, MANIFEST), 'utf8'))
  } catch {
    throw new CommandError(`${folder} is not a complete backup: it has no ${MANIFEST} that can be read.`)
  }
}
