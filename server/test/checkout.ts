/** A checkout without data, in which tests run commands as a user would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const READY_WAIT_MS = 60_000
const SCRIPT_MS_MAX = 60_000

/** Between the outputs of two steps of a script. */
const STEP_END = '\u001e'
/** Before the status of a reply, on the standard error output. */
const STATUS = '\u001d'

/** Prints the status of each reply on the standard error output, unless the command prints statuses itself. */
const CURL = (path: string) => `#!/bin/sh\nPATH='${path}' exec curl -w '%{stderr}${STATUS}%{http_code} %{url_effective}\n' "$@"\n`

/**
 * Runs our command without `npx`, which takes ten times as long as most commands, and from the bundle of a test run.
 * `flows/stops.test.ts` has the real way.
 */
const NPX = (path: string, command: string) => `#!/bin/sh
PATH='${path}'
if [ "$1" = carillon ]; then shift; exec ${command} "$@"; fi
exec npx "$@"
`

/** What a step of a script printed, and the replies with a status of 400 or above. */
export type Done = { output: string; refusals: string[] }

export type Checkout = AsyncDisposable & {
  path: string
  /** Runs commands in one shell, in order. Commands in the background run until the checkout is disposed of. */
  run(steps: string[]): Promise<Done[]>
  /** Starts a command that runs until the checkout is disposed of. Resolves when its output matches `ready`. */
  keepRunning(command: string, ready: RegExp): Promise<{ output: string }>
}

/** Opens a checkout, with these variables in its shells. */
export async function openCheckout(variables: Record<string, string>): Promise<Checkout> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-checkout-'))
  for (const name of ['node_modules', 'package.json', 'server']) await symlink(join(root, name), join(path, name))
  const PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  await mkdir(join(path, '.bin'))
  const { NODE_COMPILE_CACHE = '', CARILLON_TEST_SERVER } = process.env
  const command = CARILLON_TEST_SERVER ? `node '${CARILLON_TEST_SERVER}'` : 'carillon'
  for (const [name, script] of Object.entries({ curl: CURL(PATH), npx: NPX(PATH, command) })) {
    await writeFile(join(path, '.bin', name), script, { mode: 0o755 })
  }
  const env = { HOME: path, PATH: `${join(path, '.bin')}:${PATH}`, NODE_COMPILE_CACHE, ...variables }
  const options = { cwd: path, env, detached: true }
  const running: ChildProcess[] = []
  const start = (script: string) => {
    const child = spawn('bash', ['--norc', '-eu', '-c', script], options)
    running.push(child)
    return child
  }
  return {
    path,
    async run(steps) {
      const end = `printf '${STEP_END}'; printf '${STEP_END}' >&2\n`
      const child = start(steps.map((step) => `${step}\n${end}`).join(''))
      const [outputs, errors] = await finished(child)
      return steps.map((_, at) => doneOf(outputs[at] ?? '', errors[at] ?? ''))
    },
    async keepRunning(command, ready) {
      return until(start(`exec ${command.replace(/^exec /, '')}`), ready, command)
    },
    async [Symbol.asyncDispose]() {
      for (const child of running.reverse()) await stop(child)
      await rm(path, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Gives a checkout the data directory of another one, with credentials of its own. */
export async function shareData(from: Checkout, to: Checkout, credentials: object): Promise<void> {
  const [source, own] = [join(from.path, '.carillon'), join(to.path, '.carillon')]
  await mkdir(own)
  for (const name of await readdir(source)) if (name !== 'credentials.json') await symlink(join(source, name), join(own, name))
  await writeFile(join(own, 'credentials.json'), JSON.stringify(credentials, null, 2))
}

/** The outputs of the steps of a script, on both outputs. Throws if the script failed, with what it printed. */
async function finished(child: ChildProcess): Promise<[string[], string[]]> {
  const texts = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    texts[0] += chunk
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    texts[1] += chunk
  })
  const timeout = setTimeout(() => killGroup(child, 'SIGKILL'), SCRIPT_MS_MAX)
  // Commands in the background keep the outputs open, so the end of the shell is awaited.
  const [code, signal] = await once(child, 'exit')
  clearTimeout(timeout)
  await new Promise(setImmediate)
  const [outputs = [], errors = []] = texts.map((text) => text.split(STEP_END))
  if (code !== 0) throw new Error(`A command failed (${code ?? signal}).\n${outputs.at(-1)}\n${errors.at(-1)}`)
  return [outputs, errors]
}

function doneOf(output: string, errors: string): Done {
  const statuses = errors.split(STATUS).slice(1)
  return { output, refusals: statuses.filter((status) => /^[45]/.test(status)).map((status) => status.trim()) }
}

async function until(child: ChildProcess, ready: RegExp, command: string): Promise<{ output: string }> {
  const result = { output: '' }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const append = (chunk: Buffer) => {
    result.output += chunk
    if (ready.test(result.output)) resolve()
  }
  child.stdout?.on('data', append)
  child.stderr?.on('data', append)
  const giveUp = (why: string) => reject(new Error(`${command} ${why}:\n${result.output}`))
  child.on('exit', () => giveUp('ended'))
  const timeout = setTimeout(() => giveUp('did not become ready'), READY_WAIT_MS)
  await promise.finally(() => clearTimeout(timeout))
  return result
}

function killGroup(child: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal)
  } catch {
    // No process of the group is left.
    return false
  }
}

/** Stops a shell and its children, like Ctrl-C. Shells in the background ignore that, so they are killed. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    killGroup(child, 'SIGKILL')
    return
  }
  const ended = once(child, 'exit')
  killGroup(child, 'SIGINT')
  await ended
}
