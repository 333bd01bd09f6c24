import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { childEnvironment } from '../../test/child-server.ts'
import { cloneTemplate } from '../../test/ground.ts'
import { startApp } from '../app.ts'
import { readConfig } from '../infra/runtime/config.ts'

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

test('help lists every command, and an unknown command fails', async () => {
  const { code, out } = await carillon(['help'])
  expect(code).toBe(0)
  for (const name of ['start', 'migrate', 'keys create', 'listen', 'doctor']) expect(out).toContain(`  ${name}`)
  expect((await carillon(['strat'])).code).toBe(1)
})

test('keys create prints a key that works', async () => {
  await using app = await startApp(readConfig(env), 'api')
  const { code, out } = await carillon(['keys', 'create', '--role', 'support', '--name', 'CI'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^sk_[0-9A-Za-z]{40}\n$/)])
  const reply = await fetch(`${app.url}/api/client/users`, { headers: { authorization: `Bearer ${out.trim()}` } })
  expect(reply.status).toBe(200)
  expect((await carillon(['keys', 'create', '--role', 'boss'])).err).toBe(
    '--role must be one of support, smtpproxy, editor, publisher, admin.\n',
  )
  expect((await carillon(['keys', 'create', '--project', '999'])).err).toContain('The project does not exist')
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
  expect([code, err.trim().split('\n').length]).toEqual([1, 1])
})
