#!/usr/bin/env node
// Runs the command line under Node 24, from any directory.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const own = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
const isNewEnough = major > 24 || (major === 24 && minor >= 12)
if (!isNewEnough && !existsSync(own)) {
  process.stderr.write(`Carillon needs Node 24.12 or newer; this is ${process.versions.node}. Run npm start once, or install Node 24.\n`)
  process.exit(1)
}
const { status, signal } = spawnSync(isNewEnough ? process.execPath : own, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exit(status ?? (signal === 'SIGINT' ? 130 : 1))
