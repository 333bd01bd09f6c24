import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/infra/runtime/clock.ts'
import { childEnvironment, temporaryDir } from '../child-server.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The ways to start the server that have another process between the caller and the server. */
const WAYS: [name: string, command: string[]][] = [
  // Without the check of the dependencies, which could install them.
  ['npm start', ['npm', 'start', '--ignore-scripts']],
  ['npx carillon start', ['npx', '--no', 'carillon', 'start']],
  ['the bin', [join(root, 'node_modules/.bin/carillon'), 'start']],
]

const POLL_MS = 100

/** One for all tests: each finds it as the last one left it, with the database made. */
let place: Awaited<ReturnType<typeof temporaryDir>>
beforeAll(async () => {
  place = await temporaryDir()
})
afterAll(() => place[Symbol.asyncDispose]())

/** For servers that do not start or stop. On a busy machine it may take a minute. */
const TRIES_MAX = 1200
const TIMEOUT_MS = 300_000

/** Polls until `isTrue`; false if it is not in time. */
async function becomes(isTrue: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await isTrue()) return true
    await systemClock.sleep(POLL_MS)
  }
  return false
}

async function started([program = '', ...args]: string[], dataDir: string) {
  const settings = { DATA_DIR: join(dataDir, 'data'), PORT: '0', LOG_LEVEL: 'warn' }
  const npm = { HOME: dataDir, npm_config_cache: join(dataDir, 'npm'), npm_config_offline: 'true', npm_config_update_notifier: 'false' }
  const outer = spawn(program, args, { cwd: root, env: { ...childEnvironment, ...npm, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [outer.stdout, outer.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = once(outer, 'exit')
  const urlOf = () => /ready at (\S+);/.exec(output)?.[1]
  for (let tries = 0; tries < TRIES_MAX && !urlOf() && outer.exitCode === null; tries++) await systemClock.sleep(POLL_MS)
  return { outer, ended, url: urlOf() ?? expect.unreachable(`The server did not start:\n${output}`) }
}

const isListening = (url: string) =>
  fetch(`${url}/livez`).then(
    () => true,
    () => false,
  )

const CASES = WAYS.flatMap(([name, command]) => (['SIGTERM', 'SIGINT'] as const).map((signal) => [signal, name, command] as const))

test.each(CASES)('%s to %s stops the server and its PostgreSQL', { timeout: TIMEOUT_MS }, async (signal, _, command) => {
  const { outer, ended, url } = await started(command, place.path)
  const postmaster = join(place.path, 'data/postgres/postmaster.pid')
  expect([await isListening(url), existsSync(postmaster)]).toEqual([true, true])
  outer.kill(signal)
  await ended
  expect(await becomes(async () => !(await isListening(url)) && !existsSync(postmaster))).toBe(true)
})

test('the same signal twice, as from Ctrl-C under npm, stops it as cleanly', { timeout: TIMEOUT_MS }, async () => {
  const { outer, ended, url } = await started([process.execPath, 'server/src/main.ts', 'start'], place.path)
  outer.kill('SIGINT')
  outer.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  expect([await isListening(url), existsSync(join(place.path, 'data/postgres/postmaster.pid'))]).toEqual([false, false])
})
