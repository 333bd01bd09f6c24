import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { ConfigError, readConfig } from '../../src/infra/runtime/config.ts'
import { childEnvironment, startChild, temporaryDir } from '../child-server.ts'
import { cloneTemplate } from '../ground.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Starts a server that cannot start, as a process of its own. */
const start = (env: Record<string, string>) =>
  new Promise<{ code: unknown; err: string }>((resolve) =>
    execFile(process.execPath, [main, 'start'], { env: { ...childEnvironment, PORT: '0', LOG_LEVEL: 'silent', ...env } }, (error, _, err) =>
      resolve({ code: error?.code, err }),
    ),
  )

/**
 * The same in this process, which takes a tenth of the time: what a process would print, which is the message of an error that is meant
 * for the operator. A process is started for an early problem and for the last one, at which everything is open.
 */
async function startHere(env: Record<string, string>): Promise<{ code: unknown; err: string }> {
  try {
    await using _ = await startApp(readConfig({ PORT: '0', LOG_LEVEL: 'silent', ...env }), 'all')
    return { code: 0, err: '' }
  } catch (error) {
    if (!(error instanceof ConfigError || (error instanceof Error && 'expected' in error))) throw error
    return { code: 1, err: error.message }
  }
}

/** A sentence or two on one line, and no stack. */
function expectSentence({ code, err }: { code: unknown; err: string }, pattern: RegExp) {
  expect(err).toMatch(pattern)
  expect([code, err.trimEnd().split('\n').length, err.includes('    at ')]).toEqual([1, 1, false])
}

async function takenPort() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as { port: number }).port, [Symbol.asyncDispose]: async () => void server.close() }
}

async function sql(url: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

const changed = (url: string, change: (url: URL) => void) => {
  const copy = new URL(url)
  change(copy)
  return copy.href
}

describe('a start that fails says in one sentence what to do', () => {
  test('when the port is taken', async () => {
    await using place = await temporaryDir()
    await using taken = await takenPort()
    const env = { DATABASE_URL: await cloneTemplate(), DATA_DIR: place.path, PORT: String(taken.port) }
    expectSentence(await start(env), /^Port \d+ of 127\.0\.0\.1 is taken\. .* PORT /)
  })

  test('when HOST is not an address of the machine', async () => {
    await using place = await temporaryDir()
    const env = { DATABASE_URL: await cloneTemplate(), DATA_DIR: place.path, HOST: '192.0.2.1' }
    expectSentence(await startHere(env), /^192\.0\.2\.1 is not an address of this machine\. Correct HOST\.$/m)
  })

  test.each([
    ['file/data', 'ENOTDIR'],
    ['file', 'ENOTDIR'],
    ['/proc/data', 'ENOENT'],
  ])('when DATA_DIR cannot be written: %s', async (path, code) => {
    await using place = await temporaryDir()
    await writeFile(join(place.path, 'file'), '')
    const failed = await startHere({ DATA_DIR: resolve(place.path, path) })
    expectSentence(failed, new RegExp(`^DATA_DIR \\S+ cannot be written \\(${code}\\)\\. `))
  })

  test.each([
    ['localhost:5432/carillon', start],
    ['mysql://root@127.0.0.1/x', startHere],
    ['postgres://user:50%zz@127.0.0.1/x', startHere],
    ['postgres', startHere],
  ])('when DATABASE_URL is malformed: %s', async (url, starting) => {
    const { code, err } = await starting({ DATABASE_URL: url })
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/\n- DATABASE_URL must be a URL such as postgres:\/\/user:password@host\/database/),
    ])
    expect(err).not.toContain('    at ')
  })

  test.each([
    ['nothing listens', start, 'postgres://carillon:secret@127.0.0.1:1/carillon', 'ECONNREFUSED'],
    ['the host does not exist', startHere, 'postgres://carillon:secret@nowhere.invalid/carillon', '(ENOTFOUND|EAI_AGAIN)'],
  ])('when the database cannot be reached: %s', async (_, starting, url, code) => {
    await using place = await temporaryDir()
    const failed = await starting({ DATABASE_URL: url, DATA_DIR: place.path })
    expectSentence(failed, new RegExp(`^PostgreSQL at \\S+ cannot be reached \\(${code}\\)\\. Start it, or correct DATABASE_URL\\.$`, 'm'))
    expect(failed.err).not.toContain('secret')
  })

  test('when the password is wrong, or there is no such database', async () => {
    await using place = await temporaryDir()
    const url = await cloneTemplate()
    const wrong = changed(url, (copy) => {
      copy.password = 'wrong'
    })
    expectSentence(
      await startHere({ DATABASE_URL: wrong, DATA_DIR: place.path }),
      /^PostgreSQL at \S+ refused the user “\w+” or the password\. /,
    )
    const absent = changed(url, (copy) => {
      copy.pathname = '/absent'
    })
    expectSentence(
      await startHere({ DATABASE_URL: absent, DATA_DIR: place.path }),
      /^PostgreSQL at \S+ has no database “absent”\. Create it/,
    )
  })

  test('when the user has too few rights', async () => {
    await using place = await temporaryDir()
    const url = await cloneTemplate()
    const role = `weak_${randomBytes(6).toString('hex')}`
    await sql(url, `create role ${role} login password 'weak'`)
    const weak = changed(url, (copy) => {
      copy.username = role
      copy.password = 'weak'
    })
    expectSentence(
      await startHere({ DATABASE_URL: weak, DATA_DIR: place.path }),
      /^The user “weak_\w+” does not have enough privileges in the database “\w+” /,
    )
    await sql(url, `drop role ${role}`)
  })

  test('when the database is read-only', async () => {
    await using place = await temporaryDir()
    const url = changed(await cloneTemplate(), (copy) => copy.searchParams.set('options', '-c default_transaction_read_only=on'))
    expectSentence(await startHere({ DATABASE_URL: url, DATA_DIR: place.path }), /^The database “\w+” at \S+ is read-only\. /)
  })
})

describe('the first keys', () => {
  test('are shown by the first start that gets so far, and only by that', async () => {
    await using place = await temporaryDir()
    await using taken = await takenPort()
    const env = { DATABASE_URL: await cloneTemplate() }
    expect((await start({ ...env, DATA_DIR: place.path, PORT: String(taken.port) })).code).toBe(1)
    const { secret_key } = JSON.parse(await readFile(join(place.path, 'credentials.json'), 'utf8'))
    await using second = await startChild({ dataDir: place.path, env })
    await expect.poll(second.log).toContain(secret_key)
    await second.end('SIGTERM')
    await using third = await startChild({ dataDir: place.path, env })
    expect(third.log()).not.toContain(secret_key)
  })

  test('are in the file only in production, because standard output is a log there', async () => {
    await using place = await temporaryDir()
    const secrets = { SECRETS_KEY: `a:${randomBytes(32).toString('base64')}`, SESSION_JWT_KEYS: `a:${randomBytes(32).toString('hex')}` }
    const env = { DATABASE_URL: await cloneTemplate(), NODE_ENV: 'production', ...secrets }
    await using server = await startChild({ dataDir: place.path, env })
    const path = join(place.path, 'credentials.json')
    const keys = Object.values(JSON.parse(await readFile(path, 'utf8'))) as string[]
    expect(keys).toHaveLength(3)
    await expect.poll(server.log).toContain(`Your first keys are in ${path}`)
    for (const key of keys) expect(server.log()).not.toContain(key)
  })
})
