import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Folders and files that are not part of the sources. */
const EXCLUDED = new Set(['node_modules', '.git', '.carillon', '.carillon-setup.lock', 'coverage', 'dist'])

export type Source = { path: string; text: string }

/** Every file under a folder, by its path from the root. */
export function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !EXCLUDED.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesUnder(path)
      return entry.isFile() ? [relative('.', path)] : []
    })
    .sort()
}

export const read = (path: string): Source => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })

/** The TypeScript files of a folder, without tests. */
export const sourcesOf = (folder: string): Source[] =>
  filesUnder(folder)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map(read)
