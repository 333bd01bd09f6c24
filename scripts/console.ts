/**
 * Builds the console into `console/dist`, unless it was built from the same sources: `node scripts/console.ts`. It takes about ten
 * seconds. The hash of the sources is kept beside the files. It needs the Node of the server.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const output = join(root, 'console', 'dist')
const record = join(output, '.sources')

/** What the built files depend on, besides the packages. */
const SOURCES = ['console/src', 'console/build', 'sdk/src']
const FILES = ['console/index.html', 'console/vite.config.ts', 'console/package.json', 'package-lock.json', 'scripts/console.ts']

/** The types of the API leave no trace in the built files. */
const TYPES_ONLY = join('sdk', 'src', 'api.ts')

function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length))
    .filter((path) => path !== TYPES_ONLY && !/\.test\.tsx?$/.test(path))
}

/** A hash of all sources, by path and content. */
function sourcesHash(): string {
  const hash = createHash('sha256')
  for (const path of [...SOURCES.flatMap(filesOf), ...FILES].toSorted()) hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

/** Whether the built console is that of the sources. */
const isBuilt = (): boolean => existsSync(record) && readFileSync(record, 'utf8') === sourcesHash()

/**
 * Builds beside the old files and puts the new ones in their place at once: a server may be reading them. Several processes may build at
 * the same time, each in a folder of its own; the first one done is the one that stays.
 */
async function build(): Promise<void> {
  const hash = sourcesHash()
  const started = performance.now()
  process.stderr.write('Building the console …\n')
  const next = `${output}.next-${process.pid}`
  const { build } = await import('vite')
  await build({ configFile: join(root, 'console', 'vite.config.ts'), build: { outDir: next, emptyOutDir: true }, logLevel: 'warn' })
  writeFileSync(join(next, '.sources'), hash)
  if (isBuilt()) return rmSync(next, { recursive: true, force: true })
  rmSync(output, { recursive: true, force: true })
  renameSync(next, output)
  process.stderr.write(`The console is built, in ${((performance.now() - started) / 1000).toFixed(0)} s.\n`)
}

/** Builds the console if its sources have changed: in a process of its own, because the tests have another NODE_ENV. */
export function ensureBuilt(): void {
  if (isBuilt()) return
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('The console could not be built. Read the message above.')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // With another value, Vite builds the development version of React: twice as large, and slow.
  process.env.NODE_ENV = 'production'
  if (!isBuilt()) await build()
}
