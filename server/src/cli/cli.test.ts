import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { childEnvironment } from '../../test/child-server.ts'
import { cloneTemplate } from '../../test/ground.ts'
import { rowsOf } from '../../test/statements.ts'
import { startApp } from '../app.ts'
import { connectTo } from '../infra/postgres/hosts.ts'
import { readConfig } from '../infra/runtime/config.ts'
import { findCommand } from './index.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
let env: Record<string, string>

beforeAll(async () => {
  env = { DATABASE_URL: await cloneTemplate(), DATA_DIR: await mkdtemp(join(tmpdir(), 'carillon-cli-')), LOG_LEVEL: 'silent', PORT: '0' }
})

const carillon = (args: string[], more: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) =>
    execFile(process.execPath, [main, ...args], { env: { ...childEnvironment, ...env, ...more } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )

/** Runs a command in this process, which takes less time. Returns what it prints. */
async function printed(words: string[], more: Record<string, string> = {}): Promise<string> {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const { command, args } = findCommand(words)
    await command.run(args, { ...env, ...more })
    return written.mock.calls.map(([text]) => text).join('')
  } finally {
    written.mockRestore()
  }
}

test('help lists every command, --help its options, and an unknown command exits with 2', async () => {
  const [{ code, out }, keys, unknown, surplus] = await Promise.all([
    carillon(['help']),
    carillon(['keys', 'create', '--help']),
    carillon(['strat']),
    carillon(['migrate', 'now']),
  ])
  expect(code).toBe(0)
  for (const name of ['start', 'migrate', 'keys create', 'listen', 'backup', 'doctor']) expect(out).toContain(`  ${name}`)
  expect(keys.out).toMatch(/^carillon keys create \[options\]\n.*--role ROLE {2,}What the key may do/s)
  expect(unknown).toEqual({ code: 2, out: '', err: 'Unknown command: strat. `carillon help` prints the commands.\n' })
  expect(surplus).toEqual({ code: 2, out: '', err: 'Unexpected argument: now.\n' })
})

test('every command and its threads run in UTC, whatever the zone of the machine', async () => {
  const tell = 'console.log(new Date(2026, 6, 1).toISOString())'
  const script = `import { Worker } from 'node:worker_threads'
    process.once('beforeExit', () => { ${tell}; new Worker('${tell}', { eval: true }) })`
  const preload = `--import=data:text/javascript,${encodeURIComponent(script)}`
  const { out } = await carillon(['help'], { NODE_OPTIONS: preload, TZ: 'Australia/Sydney' })
  expect(out).toMatch(/\n2026-07-01T00:00:00.000Z\n2026-07-01T00:00:00.000Z\n$/)
})

test('migrate that waits for another process to migrate ends on SIGTERM by itself, as process 1 of a container must', async () => {
  const holder = await connectTo(env.DATABASE_URL as string)
  await holder.query('select pg_advisory_lock(4927001536)')
  const child = spawn(process.execPath, [main, 'migrate'], { env: { ...childEnvironment, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  const [ended, errors] = [once(child, 'exit'), child.stderr.toArray()]
  const waiting = `select pid from pg_locks where locktype = 'advisory' and not granted`
  await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(1)
  child.kill('SIGTERM')
  // Neither with a signal that the process did not listen for, nor when the lock is released.
  expect(await ended).toEqual([1, null])
  expect((await errors).join('')).toMatch(/^The migration was stopped/)
  await holder.end()
})

test('keys are created, listed and revoked', async () => {
  await using app = await startApp(readConfig(env), 'api')
  const { code, out } = await carillon(['keys', 'create', '--role', 'support', '--name', 'CI'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^sk_[0-9A-Za-z]{40}\n$/)])
  const reply = await fetch(`${app.url}/api/client/users`, { headers: { authorization: `Bearer ${out.trim()}` } })
  expect(reply.status).toBe(200)
  await expect(printed(['keys', 'create', '--role', 'boss'])).rejects.toThrow(
    '--role must be one of support, smtpproxy, editor, publisher, admin.',
  )
  await expect(printed(['keys', 'create', '--project', '999'])).rejects.toThrow('There is no project 999.')
  const listed = await printed(['keys', 'list', '--json'])
  const keys = JSON.parse(listed)
  expect(listed).not.toContain(out.trim())
  expect(keys.map(({ scope, role, name }: Record<string, string>) => [scope, role, name])).toEqual([
    ['organisation', 'owner', 'First key'],
    ['secret', 'admin', 'First key'],
    ['public', 'admin', 'First key'],
    ['secret', 'support', 'CI'],
  ])
  const revoke = ['keys', 'revoke', String(keys.at(-1).id)]
  expect(await printed(revoke)).toContain('The key is archived.')
  const [entry] = await rowsOf(env.DATABASE_URL as string, 'select action, via from audit_entries order by id desc limit 1')
  expect(entry).toEqual({ action: 'key.deleted', via: 'cli' })
  await expect(printed(revoke)).rejects.toThrow('The project has no key with this id that can be archived.')
})

test('no key is created for a project that was deleted, but one of its organisation is', async () => {
  await using _ = await startApp(readConfig(env), 'api')
  const database = await connectTo(env.DATABASE_URL as string)
  await database.query('update projects set deleted_at = now()')
  try {
    for (const scope of ['secret', 'public'])
      await expect(printed(['keys', 'create', '--scope', scope])).rejects.toThrow('There is no project.')
    const [project] = await rowsOf<{ id: number }>(env.DATABASE_URL as string, 'select id::int from projects limit 1')
    const named = ['keys', 'create', '--project', String(project?.id)]
    await expect(printed(named)).rejects.toThrow('This project was deleted')
    expect(await printed(['keys', 'create', '--scope', 'organisation', '--role', 'owner'])).toMatch(/^ok_/)
  } finally {
    await database.query('update projects set deleted_at = null')
    await database.end()
  }
})

test.each<[when: 'starting' | 'listening', NodeJS.Signals]>([
  ['starting', 'SIGINT'],
  ['listening', 'SIGHUP'],
])('listen leaves no endpoint behind if it is stopped while it is %s, by %s', async (when, signal) => {
  const [asked, reply] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const requests: string[] = []
  await using server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    asked.resolve()
    await reply.promise
    response.writeHead(200).end('{"id": 7, "signing_secret": "s"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const args = [main, 'listen', '--url', url, '--key', 'sk_any', '--port', '0']
  const child = spawn(process.execPath, args, { env: { ...childEnvironment, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await asked.promise
  if (when === 'listening') {
    reply.resolve()
    await once(child.stdout, 'data')
  }
  child.kill(signal)
  reply.resolve()
  await ended
  expect(requests).toEqual(['POST /api/client/webhooks', 'DELETE /api/client/webhooks/7'])
})

describe('a reply to a request', () => {
  /** A server that gives this reply after it refused so many requests. */
  const answering = async (type: string, body: string, refusals = 0) => {
    let left = refusals
    const server = createServer((_, response) => {
      if (left-- > 0) response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' }).end('{"message": "Retry."}')
      else response.writeHead(200, { 'content-type': type }).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const request = () => printed(['request', 'GET', '/', '--url', url, '--key', 'sk_any'])
    return { request, url, [Symbol.asyncDispose]: async () => void server.close() }
  }
  const long = JSON.stringify({ results: ['x'.repeat(2 * 1024 * 1024)] })

  test.each([
    ['in JSON is printed whole', 'application/json; charset=utf-8', long, `${JSON.stringify(JSON.parse(long), null, 2)}\n`],
    ['of another type is printed as it is', 'text/dns; charset=utf-8', '$ORIGIN a.example.\n', '$ORIGIN a.example.\n'],
    ['without a body prints nothing', 'application/json', '', ''],
  ])('%s', async (_, type, body, out) => {
    await using server = await answering(type, body)
    expect((await server.request()) === out).toBe(true)
  })

  test.each([
    ['that is not the JSON that it should be', 'application/json', '{"results": [', 'not with JSON'],
    ['that is too long to be read whole', 'text/csv', 'x'.repeat(64 * 1024 * 1024 + 1), 'more than 64 MiB'],
  ])('%s is an error', async (_, type, body, message) => {
    await using server = await answering(type, body)
    await expect(server.request()).rejects.toThrow(message)
  })

  test('that asks to wait, because there were too many requests, is followed by another attempt', async () => {
    await using server = await answering('application/json', '{"id": 4}', 2)
    expect(JSON.parse(await server.request())).toEqual({ id: 4 })
    await using busy = await answering('application/json', '{"id": 4}', 1000)
    await expect(busy.request()).rejects.toThrow('replied with 429: Retry.')
  })

  test('of a command that reads it must be JSON', async () => {
    await using server = await answering('text/html', '<html>')
    const replay = ['replay', '4', '--since', '2026-11-20T09:00:00Z', '--url', server.url, '--key', 'sk_any']
    await expect(printed(replay)).rejects.toThrow(`${server.url} replied with 200, but not with JSON.`)
  })
})

test('doctor reports what is fine and what is not', async () => {
  const sound = await carillon(['doctor'])
  expect([sound.code, sound.out]).toEqual([1, expect.stringContaining('A crash can lose acknowledged requests')])
  expect(sound.out).toContain('ok       PostgreSQL')
  const broken = await carillon(['doctor'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  expect([broken.code, broken.out]).toEqual([1, expect.stringContaining('PROBLEM  The database cannot be used')])
})

test('production without secrets ends with a list of problems and no stack trace', async () => {
  const { code, err } = await carillon(['start'], { NODE_ENV: 'production', PORT: 'http' })
  expect(code).toBe(1)
  expect(err).toMatch(/^The configuration has 3 problem/)
  expect(err).not.toContain('    at ')
})

test('an unknown option is reported in one line', async () => {
  const { code, err } = await carillon(['listen', '--evnts', 'x'])
  expect([code, err.trim().split('\n').length]).toEqual([2, 1])
})

test('config check prints every setting with its effective value and where it comes from, without secrets', async () => {
  const file = join(env.DATA_DIR as string, 'relay')
  await writeFile(file, 'smtps://carillon:a-secret-password@relay.example.com\n')
  const secrets = { METRICS_TOKEN: 'a-secret-token', METRICS_TOKEN_FILE: file, SYSTEM_SMTP_URL_FILE: file }
  const given = { ...secrets, JSON_BODY_LIMIT: '2MiB', RATE_RAED: '7', PORT: 'http' }
  const out = await printed(['config', 'check', '--json'], given)
  const { exitCode } = process
  process.exitCode = 0
  const { ok, problem, warnings, settings } = JSON.parse(out)
  expect([exitCode, ok, problem]).toEqual([1, false, expect.stringContaining('PORT must be a port')])
  expect(warnings).toEqual([
    'RATE_RAED is not a setting. The nearest one is RATE_READ.',
    'METRICS_TOKEN and METRICS_TOKEN_FILE are both set and have different values. That of METRICS_TOKEN is used.',
  ])
  const names = ['METRICS_TOKEN', 'SYSTEM_SMTP_URL', 'JSON_BODY_LIMIT', 'HOST', 'PORT', 'OIDC_ISSUER', 'SECRETS_KEY']
  const found = names.map((name) => settings.find((setting: { name: string }) => setting.name === name))
  expect(found.map(({ value, is_set, effective, origin, file }) => [value, is_set, effective, origin, file])).toEqual([
    ['(secret)', true, '(secret)', 'environment', null],
    ['(secret)', true, '(secret)', 'file', file],
    ['2MiB', true, '2097152', 'environment', null],
    [null, false, '127.0.0.1', 'default', null],
    ['http', true, null, 'environment', null],
    [null, false, '', 'default', null],
    [null, false, '', 'default', null],
  ])
  const text = await printed(['config', 'check'], given)
  process.exitCode = 0
  for (const line of [
    'METRICS_TOKEN=(secret) # environment',
    `SYSTEM_SMTP_URL=(secret) # ${file}`,
    'HOST=127.0.0.1 # default',
    'PORT=http # not valid, environment',
    'Warning: RATE_RAED is not a setting. The nearest one is RATE_READ.',
  ])
    expect(text.split('\n')).toContain(line)
  expect(out + text).not.toContain('a-secret')
})

test('a name that looks like a setting is in the log of a start, and beside the problems of one that fails', async () => {
  const failed = await carillon(['start'], { DATABSE_URL: 'x', DATABASE_URL: '', PORT: 'http' })
  expect([failed.code, failed.err]).toEqual([
    1,
    expect.stringContaining('\n- DATABSE_URL is not a setting. The nearest one is DATABASE_URL.\n'),
  ])
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', DATABASE_URL_FILE: '/none', RATE_RAED: '7', LOG_LEVEL: 'warn' }
  const [line = '', next = ''] = (await carillon(['start', 'worker'], away)).out.split('\n')
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', name: 'RATE_RAED', nearest: 'RATE_READ' })
  expect(JSON.parse(next)).toMatchObject({ level: 'warn', name: 'DATABASE_URL' })
})
