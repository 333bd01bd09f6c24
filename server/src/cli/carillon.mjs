#!/usr/bin/env node
// Runs the command line under Node 24, from any directory.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const own = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
const isNewEnough = major > 24 || (major === 24 && minor >= 12)
if (!isNewEnough && !existsSync(own)) {
  process.stderr.write(`Carillon needs Node 24.12 or newer; this is ${process.versions.node}. Run npm start once, or install Node 24.\n`)
  process.exit(1)
}
const SHELL_POLL_MS = 250
/** Less memory, and shorter pauses of the collector (docs/decisions/0018-the-send-path.md). */
const HEAP_OPTIONS = ['--max-semi-space-size=16', '--heap-growing-percent=60']

const child = spawn(isNewEnough ? process.execPath : own, [...HEAP_OPTIONS, main, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
// npx starts this through a shell, which gets the signals instead of this process.
if (process.env.npm_command === 'exec')
  setInterval(
    shellWatch(() => child.kill('SIGTERM')),
    SHELL_POLL_MS,
  ).unref()

/**
 * Watches the shell between npx and this process. A shell that ends from a signal leaves this process to another parent. A shell that keeps
 * the signal until this process ends (dash does so with SIGINT) was woken by it: until then it only waits, so that Linux counts no switch to it.
 */
function shellWatch(stop) {
  const shell = process.ppid
  let switches = switchesOf(shell)
  let at = Date.now()
  return () => {
    const [before, previous] = [switches, at]
    switches = switchesOf(shell)
    at = Date.now()
    // A machine or a terminal that was suspended wakes everything.
    const wasSuspended = at - previous > 4 * SHELL_POLL_MS
    if (process.ppid !== shell || (switches !== before && !wasSuspended)) stop()
  }
}

/** How often the system switched to a process after it had waited. Undefined where the system does not say. */
function switchesOf(pid) {
  try {
    return /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
