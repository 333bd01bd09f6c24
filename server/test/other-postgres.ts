/** Another PostgreSQL than the bundled one, for `CARILLON_TEST_POSTGRES`: what statements do is tested with every version that we promise. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, SETTINGS, VOLATILE } from '../src/infra/postgres/embedded-postgres.ts'
import { directoryArgument } from '../src/infra/postgres/embedded-postgres-cluster.ts'
import { chooseRunAs, POSTGRES_ENVIRONMENT } from '../src/infra/postgres/embedded-postgres-programs.ts'

type Options = {
  /** The folder with `bin/initdb` and `bin/postgres`, which the user that runs PostgreSQL can read. */
  programs: string
  /** Gets the data. */
  dir: string
  settings: Record<string, string>
}

const USER = 'carillon'
const PASSWORD = 'carillon'
/** Texts are ordered by code point, as in the bundled one. The provider `builtin` is not in PostgreSQL 16. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--lc-ctype=C.UTF-8']

/** Starts it with the settings of the bundled one that every version knows. Throws with its log if it ends before it is ready. */
export async function startOtherPostgres({ programs, dir, settings }: Options) {
  const folder = join(dir, 'postgres')
  const data = join(folder, 'data')
  const runAs = chooseRunAs(folder)
  await mkdir(data, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'password'), PASSWORD)
  if (runAs.uid !== undefined && runAs.gid !== undefined) {
    for (const path of [folder, data, join(folder, 'password')]) await chown(path, runAs.uid, runAs.gid)
  }
  const options = { ...runAs, cwd: data, env: POSTGRES_ENVIRONMENT }
  const directory = ['-D', directoryArgument(data, runAs)]
  const login = ['-U', USER, '-A', 'scram-sha-256', '--pwfile=../password']
  execFileSync(join(programs, 'bin/initdb'), [...directory, ...LOCALE, ...login, '--no-sync'], { ...options, stdio: 'pipe' })

  const port = await freePort()
  const { io_method: _, ...known } = SETTINGS
  const parameters = Object.entries({ ...known, ...VOLATILE, ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const server = spawn(join(programs, 'bin/postgres'), [...directory, ...parameters], { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(server, 'exit')
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (bytes) => {
      if (log.includes('ready to accept connections')) return
      log += bytes
      if (log.includes('ready to accept connections')) resolve()
    })
    ended.then(() => reject(new Error(`The PostgreSQL in ${programs} ended:\n${log}`)), reject)
  })
  return {
    url: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres?host=${encodeURIComponent(data)}`,
    async [Symbol.asyncDispose]() {
      server.kill('SIGINT')
      await ended
    },
  }
}
