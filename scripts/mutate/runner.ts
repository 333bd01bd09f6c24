/**
 * Runs tests in a copy of the checkout. One Vitest runs all mutants, so it and PostgreSQL start once. Each test file of a mutant
 * runs in its own process.
 */
import { join, relative } from 'node:path'
import pg from 'pg'
import {
  BaseSequencer,
  createVitest,
  ForksPoolWorker,
  type InlineConfig,
  type Reporter,
  type TestSpecification,
  type WorkerRequest,
} from 'vitest/node'
import '../../server/test/database.ts'

/** `failedIn` is the path of the test file that failed first. */
export type Result = { is: 'passed' | 'failed' | 'timed out'; seconds: number; failures: string[]; failedIn: string | null }

const TEST_MS_MAX = 180_000

export type Runner = AsyncDisposable & {
  /** The test files of these files and folders, in order, each once. Throws if one has none. */
  testsIn(paths: string[]): TestSpecification[]
  /** Removes a file that was written from the cache. */
  changed(file: string): void
  /** Runs until the first failure. */
  run(tests: TestSpecification[], timeoutMs: number): Promise<Result>
}

/** Keeps the given order, in which the tests that find most are first. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files
  }
}

/** Ends the process of a test file at once when it is stopped. */
class AbruptWorker extends ForksPoolWorker {
  override readonly name = 'abrupt'
  private answer: (message: unknown) => void = () => {}

  override on(event: string, callback: (message: unknown) => void): void {
    if (event === 'message') this.answer = callback
    super.on(event, callback)
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'stop') queueMicrotask(() => this.answer({ __vitest_worker_response__: true, type: 'stopped' }))
    else super.send(message)
  }
}

/** What came of a run so far. */
type Outcome = { failures: string[]; failedIn: string | null; isLate: boolean; stop: () => void }

const nothingYet = (): Outcome => ({ failures: [], failedIn: null, isLate: false, stop: () => {} })

function reporterOf(root: string, current: () => Outcome): Reporter {
  const fail = (path: string, what: string) => {
    const outcome = current()
    outcome.failures.push(what)
    outcome.failedIn ??= path
    outcome.stop()
  }
  return {
    onTestCaseResult: (test) => {
      const { state, errors = [] } = test.result()
      if (state !== 'failed') return
      current().isLate ||= errors.some(({ message }) => message.startsWith('Test timed out'))
      const path = relative(root, test.module.moduleId)
      fail(path, `${path}: ${test.fullName}`)
    },
    onTestModuleEnd: (module) => {
      if (module.state() !== 'failed' || current().failures.length > 0) return
      const path = relative(root, module.moduleId)
      fail(path, [path, ...module.errors().map(({ message }) => message)].join(': '))
    },
    onTestRunEnd: (_, errors) => {
      for (const { message } of errors) current().failures.push(message)
    },
  }
}

export async function startRunner(root: string): Promise<Runner> {
  let outcome = nothingYet()
  process.chdir(root)
  const caches = join(root, '.caches')
  const options: InlineConfig = {
    watch: false,
    silent: true,
    reporters: [reporterOf(root, () => outcome)],
    fsModuleCachePath: join(caches, 'modules'),
    sequence: { sequencer: AsGiven },
    // Tests have more time than usual, because the machine may be busy; a mutant that never ends has a limit of its own.
    testTimeout: TEST_MS_MAX,
    hookTimeout: TEST_MS_MAX,
    maxWorkers: 2,
    pool: { name: 'abrupt', createPoolWorker: (worker) => new AbruptWorker(worker) },
  }
  const vitest = await createVitest('test', { ...options, root }, { cacheDir: caches })
  const specifications = await vitest.globTestSpecifications()

  return {
    testsIn: (paths) => [...new Set(paths.flatMap((path) => testsAt(specifications, root, path)))],
    changed: (file) => vitest.invalidateFile(join(root, file)),
    async run(tests, timeoutMs) {
      outcome = nothingYet()
      let isStopped = false
      outcome.stop = () => {
        if (isStopped) return
        isStopped = true
        // The second call ends the processes at once, even one in an endless loop.
        for (let time = 1; time <= 2; time++) vitest.cancelCurrentRun('test-failure').catch(() => {})
      }
      const timer = setTimeout(() => {
        outcome.isLate = true
        outcome.stop()
      }, timeoutMs)
      const started = performance.now()
      await vitest.runTestSpecifications(tests)
      clearTimeout(timer)
      const seconds = (performance.now() - started) / 1000
      await dropDatabases(vitest.getRootProject().getProvidedContext().databaseUrl)
      const { failures, failedIn, isLate } = outcome
      return { is: isLate ? 'timed out' : failures.length > 0 ? 'failed' : 'passed', seconds, failures, failedIn }
    },
    [Symbol.asyncDispose]: () => vitest.close(),
  }
}

function testsAt(specifications: TestSpecification[], root: string, path: string): TestSpecification[] {
  const whole = join(root, path)
  const found = specifications.filter(({ moduleId }) => moduleId === whole || moduleId.startsWith(`${whole}/`))
  if (found.length === 0) throw new Error(`There are no tests in ${path}.`)
  return found.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1))
}

/** Drops the databases of the test files. After a thousand mutants they would fill the disk. */
async function dropDatabases(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ datname: string }>(`select datname from pg_database where datname like 'test\\_%'`)
  for (const { datname } of rows) await client.query(`drop database ${datname} with (force)`)
  await client.end()
}
