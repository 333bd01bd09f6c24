/** The folders and files of backups. */
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError } from './command.ts'

const MANIFEST = 'backup.json'
const FILES = 'data'

/** Creates a folder that only its owner can read. Throws `CommandError` if it is not empty. */
export async function openEmpty(folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0) throw new CommandError(`${name} ${folder} is not empty.`)
}

/**
 * Copies the files of DATA_DIR, such as secrets and credentials. The embedded PostgreSQL and what belongs to it are in folders and files that
 * begin with its name. Returns the names.
 */
export async function copyFiles(dataDir: string, folder: string): Promise<string[]> {
  const found = await readdir(dataDir, { withFileTypes: true }).catch(() => [])
  const names = found.filter((entry) => entry.isFile() && !entry.name.startsWith('postgres')).map(({ name }) => name)
  await mkdir(filesOf(folder), { mode: 0o700 })
  for (const name of names) await copyFile(join(dataDir, name), join(filesOf(folder), name))
  return names
}

/** The folder of these files in a backup. */
export const filesOf = (folder: string): string => join(folder, FILES)

/** Copies them back. */
export async function putBackFiles(folder: string, dataDir: string): Promise<void> {
  for (const name of await readdir(filesOf(folder))) await copyFile(join(filesOf(folder), name), join(dataDir, name))
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
