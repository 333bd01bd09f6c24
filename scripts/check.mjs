/** Runs all checks except the tests, prints a line for each, and then the output of those that failed. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const installed = (name) => join(root, 'node_modules', '.bin', name)

// TypeScript 7 takes a third of the time. Tools that read types with the compiler’s API need `typescript`, which is 6.
const TSC = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc')

// Clients that are generated to see that they can be. `server/test/flows/clients.test.ts` compiles and runs them.
const scratch = mkdtempSync(join(tmpdir(), 'carillon-clients-'))
const API = './server/openapi.json'

const CHECKS = {
  'format and lint': [installed('biome'), 'check', '--error-on-warnings', '--colors=off', '--max-diagnostics=100'],
  types: [TSC, '--project', '.'],
  'types of console': [TSC, '--project', 'console'],
  boundaries: [
    installed('depcruise'),
    '--config',
    '.dependency-cruiser.cjs',
    'server/src',
    'server/test',
    'scripts',
    'bench',
    'console/src',
    'sdk/src',
  ],
  'dead code': [installed('knip'), '--no-progress', '--treat-config-hints-as-errors'],
  redocly: [installed('redocly'), 'lint', API, '--config', 'scripts/redocly.yaml', '--format=codeframe'],
  spectral: [installed('spectral'), 'lint', API, '--ruleset', 'scripts/spectral.yaml', '--fail-severity=hint', '--quiet'],
  'openapi-typescript': [installed('openapi-typescript'), API, '--output', join(scratch, 'types.d.ts')],
  'openapi-ts': [installed('openapi-ts'), '--input', API, '--output', join(scratch, 'client'), '--no-log-file'],
  prints: [join(root, 'scripts', 'print.mjs'), '--check'],
}

/** Redocly would ask for newer versions and report what it did. */
const OFFLINE = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** Runs a check and prints its result. Returns its output if it failed. */
async function run([name, command]) {
  const started = performance.now()
  const child = spawn(process.execPath, command, { cwd: root, env: OFFLINE, stdio: ['ignore', 'pipe', 'pipe'] })
  const written = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => written.push(chunk))
  const status = await new Promise((resolve) => child.on('close', resolve))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(18)} ${seconds} s\n`)
  return status === 0 ? undefined : `\n── ${name} ──\n\n${Buffer.concat(written)}`
}

const failures = (await Promise.all(Object.entries(CHECKS).map(run))).filter((text) => text !== undefined)
rmSync(scratch, { recursive: true, force: true })
for (const text of failures) process.stderr.write(text)
if (failures.length > 0) process.exitCode = 1
