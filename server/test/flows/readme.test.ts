import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { unusedPort } from '../fake-provider.ts'

const READY_WAIT_MS = 60_000

const root = fileURLToPath(new URL('../../..', import.meta.url))

// The terminals have another port in `PORT`, as the README says.
test('the commands of the README lead to an email to look at, its webhook events and a list, on another port too', async () => {
  const [start = '', listen = '', shorthand = '', contact = '', campaign = '', event = '', inbox = '', list = '', explain = ''] =
    await commands()
  await using terminal = await openTerminals()
  await terminal.keepRunning(await asScript(start), /ready at/)
  const listener = await terminal.keepRunning(listen.trim(), /Listening at/)
  const replies = await terminal.run(shorthand + contact + campaign + event)
  expect(replies).toContain('"succeeded":1')
  expect(replies).toContain('"state":"running"')
  const mail = () => terminal.run(shorthand + inbox)
  await expect.poll(mail, { timeout: 60_000 }).toContain('You chose the pro plan.')
  const [link = ''] = /http:[^)\s]+/.exec(await mail()) ?? []
  expect(await (await fetch(link)).text()).toContain('You chose the pro plan.')
  await expect.poll(() => listener.output, { timeout: 60_000 }).toContain('delivery.delivered')
  const listOutput = await terminal.run(`${shorthand}${list}declare -p LIST`)
  await expect.poll(() => terminal.run(shorthand + listOutput + explain), { timeout: 60_000 }).toContain('"member":true')
}, 90_000)

/** The shell blocks of the README, in order. */
async function commands(): Promise<string[]> {
  const text = await readFile(join(root, 'README.md'), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string)
}

/** `npm start` without the installation of packages, which would change those that this test uses. */
async function asScript(command: string): Promise<string> {
  expect(command).toBe('npm start\n')
  return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).scripts.start
}

/** Shells in a checkout without data, with a free port. */
async function openTerminals() {
  const checkout = await mkdtemp(join(tmpdir(), 'carillon-readme-'))
  for (const name of ['node_modules', 'package.json', 'server']) await symlink(join(root, name), join(checkout, name))
  const port = await unusedPort()
  const PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  const options = { cwd: checkout, env: { HOME: checkout, PATH, PORT: String(port) } }
  const bash = (script: string) => ['--norc', '-euo', 'pipefail', '-c', script]
  const running: ChildProcess[] = []
  return {
    run: async (script: string) => (await promisify(execFile)('bash', bash(script), options)).stdout,
    /** Starts a command that runs until it is stopped. Resolves when its output matches `ready`. */
    async keepRunning(script: string, ready: RegExp) {
      const child = spawn('bash', bash(`exec ${script.replace(/^exec /, '')}`), { ...options, detached: true })
      running.push(child)
      const result = { output: '' }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const append = (chunk: Buffer) => {
        result.output += chunk
        if (ready.test(result.output)) resolve()
      }
      child.stdout.on('data', append)
      child.stderr.on('data', append)
      const giveUp = (why: string) => reject(new Error(`${script} ${why}:\n${result.output}`))
      child.on('exit', () => giveUp('ended'))
      AbortSignal.timeout(READY_WAIT_MS).addEventListener('abort', () => giveUp('did not become ready'))
      await promise
      return result
    },
    async [Symbol.asyncDispose]() {
      for (const child of running.reverse()) await stop(child)
      await rm(checkout, { recursive: true, force: true })
    },
  }
}

/** Stops a shell and its children, like Ctrl-C. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  process.kill(-child.pid, 'SIGINT')
  await once(child, 'exit')
}
