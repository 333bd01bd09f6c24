/**
 * Prepares a checkout: installs missing dependencies, checks the version of Node, and builds the console if its sources have changed. It
 * runs before every npm script, with the Node of the machine (18 or newer), and prints nothing if there is nothing to do.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE_VERSION_MIN = [24, 12]
const INSTALL_MINUTES_MAX = 15
const LOCK_POLL_MS = 200

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')
const record = join(modules, '.carillon-setup')
const lock = join(root, '.carillon-setup.lock')
const ownNode = join(modules, '.bin', 'node')

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

/** Whether only what the server needs is installed. Every other script needs the development dependencies, whatever NODE_ENV says. */
const isProduction = process.env.NODE_ENV === 'production' && process.env.npm_lifecycle_event === 'prestart'

/** The content of `record` after an installation: a hash of the lockfile, the platform, and whether it is for production. */
const installation = (production) =>
  `${createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')} ${process.platform} ${process.arch}${production ? ' production' : ''}\n`

/** A full installation also serves production. */
const isInstalled = () => read(record) === installation(false) || (isProduction && read(record) === installation(true))

const print = (line) => process.stderr.write(`${line}\n`)

function fail(line) {
  print(line)
  process.exitCode = 1
}

/** Tries to take the lock. It is a directory, because creating one is atomic. False if another set-up holds it. */
function take() {
  try {
    mkdirSync(lock)
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
  writeFileSync(join(lock, 'pid'), String(process.pid))
  return true
}

/** A lock is stale if its holder is dead, or if it is older than any installation takes. */
function isStale() {
  const ageMs = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  const holder = Number(read(join(lock, 'pid')))
  if (ageMs > INSTALL_MINUTES_MAX * 60_000) return true
  // The process id is written shortly after the directory is created.
  return holder > 0 ? !isRunning(holder) : ageMs > 10_000
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Runs `work` under the lock of this checkout. */
function locked(work) {
  while (!take()) {
    if (isStale()) rmSync(lock, { recursive: true, force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/**
 * The npm that runs this script, with its Node, or else the one on the path. Never uses the Node in `node_modules`, which the
 * installation deletes.
 */
function npmCommand() {
  const { npm_execpath: script, npm_node_execpath: node, PATH = '' } = process.env
  const path = PATH.split(delimiter)
    .filter((folder) => folder !== join(modules, '.bin'))
    .join(delimiter)
  const isUsable = script && basename(script) === 'npm-cli.js' && node && !node.startsWith(modules) && existsSync(node)
  return { command: isUsable ? [node, script] : ['npm'], env: { ...process.env, PATH: path } }
}

/**
 * Installs the dependencies of the server in production, and otherwise all, including those that NODE_ENV or npm’s settings would omit.
 * Engines are not checked, because npm may run under another Node than the scripts.
 */
function install() {
  if (isInstalled()) return true
  print('Installing dependencies …')
  rmSync(record, { force: true })
  const { command, env } = npmCommand()
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  // The root is a part, because it has the Node of the scripts.
  const parts = isProduction ? ['--omit=dev', '--workspace=server', '--include-workspace-root'] : ['--include=dev']
  const [program, ...first] = command
  const { status } = spawnSync(program, [...first, 'ci', ...quiet, ...parts, '--include=optional', '--no-engine-strict'], {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) return false
  writeFileSync(record, installation(isProduction))
  return true
}

/** The version of the Node that npm scripts use. */
function nodeVersion() {
  if (!existsSync(ownNode) || realpathSync(ownNode) === realpathSync(process.execPath)) return process.versions.node
  const { status, stdout } = spawnSync(ownNode, ['--version'], { encoding: 'utf8' })
  if (status === 0) return stdout.trim().slice(1)
  // A binary for another C library would hide a Node that works.
  rmSync(ownNode)
  return process.versions.node
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NODE_VERSION_MIN[0] || (major === NODE_VERSION_MIN[0] && minor >= NODE_VERSION_MIN[1])
}

/**
 * Builds the console with the Node of the scripts, unless what builds it is not installed. Without it the server starts too, and says at
 * `/` that it is not built.
 */
function buildConsole() {
  if (!existsSync(join(modules, 'vite'))) return
  const node = existsSync(ownNode) ? ownNode : process.execPath
  const { status } = spawnSync(node, [join(root, 'scripts', 'console.ts')], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) print('The console could not be built. Read the message above; the API works without it.')
}

if (isInstalled() || locked(install)) {
  const version = nodeVersion()
  const least = NODE_VERSION_MIN.join('.')
  if (!isNewEnough(version)) {
    fail(`Carillon needs Node.js ${least} or newer, and this is ${version}. Install it from https://nodejs.org and run the command again.`)
  } else {
    locked(buildConsole)
  }
} else {
  fail('The dependencies could not be installed. Read npm’s message above, fix the problem and run the command again.')
}
