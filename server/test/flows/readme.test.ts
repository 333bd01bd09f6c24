import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const READY_WAIT_MS = 60_000

const root = fileURLToPath(new URL('../../..', import.meta.url))

test('the README leads from nothing to a captured mail, the news of it and a list', async () => {
  const [start = '', listen = '', shorthand = '', contact = '', campaign = '', event = '', inbox = '', list = '', explain = ''] =
    await commands()
  await using terminal = await openTerminals()
  await terminal.keepRunning(await asScript(start), /ready at/)
  const listener = await terminal.keepRunning(`${listen.trim()} --url http://127.0.0.1:3000`, /Listening at/)
  const story = await terminal.run(shorthand + contact + campaign + event)
  expect(story).toContain('"succeeded":1')
  expect(story).toContain('"state":"running"')
  await expect.poll(() => terminal.run(shorthand + inbox), { timeout: 10_000 }).toContain('"summary":"Welcome, Kim"')
  await expect.poll(() => listener.output, { timeout: 10_000 }).toContain('delivery.delivered')
  expect(await terminal.run(`${shorthand}api sandbox/messages/1`)).toContain('You chose the pro plan.')
  const made = await terminal.run(`${shorthand}${list}declare -p LIST`)
  await expect.poll(() => terminal.run(shorthand + made + explain), { timeout: 10_000 }).toContain('"member":true')
}, 90_000)

/** What stands in the shell blocks of the README, in order. */
async function commands(): Promise<string[]> {
  const text = await readFile(join(root, 'README.md'), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string)
}

/** `npm start` without its installation, which would work on the very packages that this test runs on. */
async function asScript(command: string): Promise<string> {
  expect(command).toBe('npm start\n')
  return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).scripts.start
}

/** Shells in a checkout without any data, with the README's port replaced by a free one. */
async function openTerminals() {
  const checkout = await mkdtemp(join(tmpdir(), 'carillon-readme-'))
  for (const name of ['node_modules', 'package.json', 'server']) await symlink(join(root, name), join(checkout, name))
  const port = await freePort()
  const PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  const options = { cwd: checkout, env: { HOME: checkout, PATH, PORT: String(port) } }
  const bash = (script: string) => ['--norc', '-euo', 'pipefail', '-c', script.replaceAll(':3000', `:${port}`)]
  const running: ChildProcess[] = []
  return {
    run: async (script: string) => (await promisify(execFile)('bash', bash(script), options)).stdout,
    /** Starts what runs until it is stopped; resolves when it has said that it is ready. */
    async keepRunning(script: string, ready: RegExp) {
      const child = spawn('bash', bash(`exec ${script}`), { ...options, detached: true })
      running.push(child)
      const said = { output: '' }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const hear = (chunk: Buffer) => {
        said.output += chunk
        if (ready.test(said.output)) resolve()
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      const giveUp = (why: string) => reject(new Error(`${script} ${why}:\n${said.output}`))
      child.on('exit', () => giveUp('ended'))
      AbortSignal.timeout(READY_WAIT_MS).addEventListener('abort', () => giveUp('does not become ready'))
      await promise
      return said
    },
    async [Symbol.asyncDispose]() {
      for (const child of running.reverse()) await stop(child)
      await rm(checkout, { recursive: true, force: true })
    },
  }
}

/** The shell, and whatever it has started, as Ctrl-C would. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  process.kill(-child.pid, 'SIGINT')
  await once(child, 'exit')
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  if (address === null || typeof address === 'string') throw new Error('The port that the system gave us has no number.')
  return address.port
}
