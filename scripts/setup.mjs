/**
 * Makes a fresh checkout ready to run: installs what is missing, then checks the version of Node. It runs before every
 * npm script, on whatever Node the machine has (18 or newer), and says nothing when nothing is to do.
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

/** What is installed when `record` says so: this lockfile, for this kind of machine. */
const wanted = () =>
  `${createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')} ${process.platform} ${process.arch}\n`

const isInstalled = () => read(record) === wanted()

const say = (line) => process.stderr.write(`${line}\n`)

function fail(line) {
  say(line)
  process.exitCode = 1
}

/** Takes the lock, a directory, because making one either works or does not. False when another set-up holds it. */
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

/** A lock is stale when its holder is dead, or it is older than any installation. */
function isStale() {
  const ageMs = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  const holder = Number(read(join(lock, 'pid')))
  if (ageMs > INSTALL_MINUTES_MAX * 60_000) return true
  // Between making the directory and writing the number there is a moment in which nobody seems to hold it.
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

/** Runs `work` while no other set-up of this checkout does. */
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
 * The npm that called us, under the Node that runs it; else the one on the path. Never the Node in `node_modules`, which
 * is about to be deleted.
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
 * Installs everything, whatever NODE_ENV or the user's settings would leave out: the record vouches for the whole. The
 * engines are not compared, because npm's Node is not the one the scripts will have.
 */
function install() {
  if (isInstalled()) return true
  say('Installing dependencies …')
  rmSync(record, { force: true })
  const { command, env } = npmCommand()
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const whole = ['--include=dev', '--include=optional', '--no-engine-strict']
  const [program, ...first] = command
  const { status } = spawnSync(program, [...first, 'ci', ...quiet, ...whole], { cwd: root, env, stdio: ['ignore', 2, 2] })
  if (status !== 0) return false
  writeFileSync(record, wanted())
  return true
}

/** The version of the Node that the npm scripts find first. */
function nodeVersion() {
  if (!existsSync(ownNode) || realpathSync(ownNode) === realpathSync(process.execPath)) return process.versions.node
  const { status, stdout } = spawnSync(ownNode, ['--version'], { encoding: 'utf8' })
  if (status === 0) return stdout.trim().slice(1)
  // A binary of another C library stands in the way of a Node that may well do.
  rmSync(ownNode)
  return process.versions.node
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NODE_VERSION_MIN[0] || (major === NODE_VERSION_MIN[0] && minor >= NODE_VERSION_MIN[1])
}

if (isInstalled() || locked(install)) {
  const version = nodeVersion()
  const least = NODE_VERSION_MIN.join('.')
  if (!isNewEnough(version)) {
    fail(`Carillon needs Node.js ${least} or newer, and this is ${version}: install it from https://nodejs.org and run the command again.`)
  }
} else {
  fail('The dependencies could not be installed: read npm’s message above, put it right and run the command again.')
}
