/**
 * `npm run mutate` measures the tests of the core files by mutation testing. It makes one small change at a time in a copy of the
 * checkout, such as a moved boundary, a missing condition of a `where` or a removed statement, and runs the tests that should fail.
 * If no test fails, the mutant survived: a test is missing, or the changed code is not needed. Not part of `npm test`.
 *
 *   npm run mutate -- --only 'server/src/lib/*' --sample 20
 *
 *   --only GLOB   only files of `mutate/targets.ts` that match; can be repeated
 *   --sample N    at most N mutants per file that compile, the same ones for the same seed; 0 only runs the tests without a change
 *   --seed TEXT   selects another sample
 *   --minutes N   divides N minutes among the files; each gets at least three mutants, even if that takes longer
 *   --out FILE    writes the report as Markdown, such as `bench/results/2026-11-22-mutation.md`
 *
 * Ctrl-C ends the run and reports the results so far. A full run takes hours, so use `--sample`, `--only` or `--minutes`. On a busy
 * machine, tests exceed their time limits; those mutants are counted as timed out.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, matchesGlob, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { TestSpecification } from 'vitest/node'
import { MINUTE_MS } from '../server/src/lib/times.ts'
import { type Mutant, mutantsOf, mutated, shuffled } from './mutate/mutants.ts'
import { type FileResult, lineOf, type MutantStatus, markdownOf, survivedLine } from './mutate/report.ts'
import { type Result, type Runner, startRunner } from './mutate/runner.ts'
import { copyCheckout, type Scratch } from './mutate/scratch.ts'
import { TARGETS, type Target } from './mutate/targets.ts'
import { startTypeCheck, type TypeCheck } from './mutate/types.ts'

/** A file gets so many mutants, even if its time is over. */
const MUTANTS_MIN = 3
/** How much longer than the original code a mutant may take. */
const TIMEOUT_FACTOR = 3
const TIMEOUT_MS_MIN = 10_000
const BASELINE_MS_MAX = 600_000

const root = fileURLToPath(new URL('..', import.meta.url))
const print = (line: string) => process.stdout.write(`${line}\n`)

type Tools = { scratch: Scratch; runner: Runner; types: TypeCheck }
type Job = { file: string; text: string; tests: TestSpecification[]; timeoutMs: number; mutants: Mutant[]; until: number }

const { values: asked } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    out: { type: 'string' },
  },
})
const sample = numberOf('sample', asked.sample)
const minutes = numberOf('minutes', asked.minutes)
const out = asked.out === undefined ? undefined : resolve(asked.out)

function numberOf(name: string, text: string | undefined): number {
  const number = text === undefined ? Number.POSITIVE_INFINITY : Number(text)
  if (Number.isNaN(number) || number < 0) throw new Error(`\`--${name}\` must be a number.`)
  return number
}

/** The files of the table that match `--only`, including those in its folders. */
function chosen(): Target[] {
  const named = new Set(TARGETS.flatMap(({ source, tests }) => [source, ...tests]))
  const missing = [...named].filter((path) => !existsSync(join(root, path)))
  if (missing.length > 0) throw new Error(`These paths in \`scripts/mutate/targets.ts\` do not exist: ${missing.join(', ')}`)
  const files = TARGETS.flatMap(({ source, tests }) => filesAt(source).map((file) => ({ source: file, tests })))
  const { only } = asked
  const found = only ? files.filter(({ source }) => only.some((glob) => matchesGlob(source, glob))) : files
  if (found.length === 0) throw new Error('No file of `scripts/mutate/targets.ts` matches `--only`.')
  return found
}

function filesAt(source: string): string[] {
  if (statSync(join(root, source)).isFile()) return [source]
  const files = readdirSync(join(root, source)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'index.ts')
  return files.map((name) => `${source}/${name}`)
}

let isStopped = false

/** Stops cleanly. Vitest would end the process at once, without removing the copy and PostgreSQL. */
function stopOnInterrupt(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(signal).on(signal, () => {
      isStopped = true
    })
  }
}

/** Ignores errors after Ctrl-C, which ends PostgreSQL and the tests too. */
function unlessStopped(error: unknown): undefined {
  if (!isStopped) throw error
}

/** Tests one mutant, and restores the file. */
async function statusOf({ scratch, runner, types }: Tools, { file, text, tests, timeoutMs }: Job, mutant: Mutant): Promise<MutantStatus> {
  const write = async (content: string) => {
    await scratch.write(file, content)
    runner.changed(file)
    types.changed(file)
  }
  await write(mutated(text, mutant))
  try {
    if (!types.compiles(file)) return 'invalid'
    const { is, failedIn } = await runner.run(tests, timeoutMs)
    if (failedIn !== null) preferTest(tests, failedIn)
    return is === 'passed' ? 'survived' : is === 'failed' ? 'killed' : is
  } finally {
    await write(text)
  }
}

/** Moves the test file that noticed a mutant to the front, because it may notice the next one too. */
function preferTest(tests: TestSpecification[], path: string): void {
  const at = tests.findIndex(({ moduleId }) => moduleId.endsWith(path))
  if (at > 0) tests.unshift(...tests.splice(at, 1))
}

async function tryAll(tools: Tools, job: Job): Promise<FileResult['results']> {
  const results: FileResult['results'] = []
  let tested = 0
  for (const mutant of job.mutants) {
    if (isStopped || tested >= sample || (tested >= MUTANTS_MIN && Date.now() >= job.until)) break
    const started = performance.now()
    const status = await statusOf(tools, job, mutant).catch(unlessStopped)
    if (isStopped || status === undefined) break
    results.push({ mutant, status, seconds: (performance.now() - started) / 1000 })
    if (status !== 'invalid') tested++
    if (status === 'survived') print(`  ${survivedLine(job.file, mutant)}`)
  }
  return results.sort((a, b) => a.mutant.start - b.mutant.start)
}

/** The results of test files without a change, because several targets have the same tests. */
const baselines = new Map<string, Result>()

async function baselineOf({ runner }: Tools, test: TestSpecification): Promise<Result> {
  const baseline = baselines.get(test.moduleId) ?? (await runner.run([test], BASELINE_MS_MAX))
  baselines.set(test.moduleId, baseline)
  return baseline
}

async function tryFile(tools: Tools, { source: file, tests: paths }: Target, until: number): Promise<FileResult> {
  const text = await tools.scratch.read(file)
  const all = mutantsOf(text)
  const passing: { test: TestSpecification; seconds: number }[] = []
  const failures: string[] = []
  for (const test of tools.runner.testsIn(paths)) {
    const { is, seconds, failures: own } = await baselineOf(tools, test)
    if (is === 'passed') passing.push({ test, seconds })
    else failures.push(`${own.join('; ')} ${is} without a change.`)
  }
  const testSeconds = passing.reduce((sum, { seconds }) => sum + seconds, 0)
  // Otherwise every mutant would look invalid, as if there were nothing to test.
  if (!tools.types.compiles(file)) failures.push('It does not compile without a change.')
  const result = { file, possible: all.length, testSeconds, results: [], failure: failures.length === 0 ? null : failures.join(' ') }
  if (passing.length === 0 || !tools.types.compiles(file)) return result
  // The fastest are first, because most mutants are noticed by several files.
  const tests = passing.toSorted((a, b) => a.seconds - b.seconds).map(({ test }) => test)
  const timeoutMs = Math.max(TIMEOUT_MS_MIN, TIMEOUT_FACTOR * 1000 * testSeconds)
  const results = await tryAll(tools, { file, text, tests, timeoutMs, mutants: shuffled(all, `${asked.seed} ${file}`), until })
  return { ...result, results }
}

async function main(): Promise<FileResult[]> {
  const targets = chosen()
  const end = Date.now() + minutes * MINUTE_MS
  await using scratch = await copyCheckout(root)
  await using runner = await startRunner(scratch.root)
  stopOnInterrupt()
  const tools = { scratch, runner, types: startTypeCheck(scratch.root) }
  for (const { tests } of targets) runner.testsIn(tests)
  const results: FileResult[] = []
  for (const [at, target] of targets.entries()) {
    if (isStopped) break
    const share = Math.max(0, end - Date.now()) / (targets.length - at)
    const result = await tryFile(tools, target, Date.now() + share).catch(unlessStopped)
    if (!result) break
    results.push(result)
    print(lineOf(result))
  }
  return results
}

const given = (name: 'sample' | 'seed' | 'minutes') => (asked[name] === undefined ? [] : [`--${name} ${asked[name]}`])
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const commit = `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' with changes'}`
const date = new Date().toISOString().slice(0, 10)
const started = Date.now()
const files = await main()
const globs = (asked.only ?? []).map((glob) => `--only '${glob}'`)
const options = [...globs, ...given('sample'), ...given('seed'), ...given('minutes')].join(' ')
if (out !== undefined) writeFileSync(out, markdownOf({ date, commit, options, minutes: (Date.now() - started) / MINUTE_MS, files }))
// Vitest sets the exit code for tests that failed as intended.
process.exitCode = files.some(({ failure }) => failure !== null) ? 1 : 0
