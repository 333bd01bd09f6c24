/**
 * Starts what a test run shares: an embedded PostgreSQL with a migrated template database, and a certificate authority. With
 * CARILLON_TEST_POSTGRES, a folder with `bin/initdb` and `bin/postgres`, that PostgreSQL takes the place of the embedded one.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../src/infra/postgres/embedded-postgres.ts'
import { migrate } from '../src/infra/postgres/migrate.ts'
import { startOtherPostgres } from './other-postgres.ts'
import { bundleServer } from './server-bundle.ts'
import { temporaryFolder } from './temporary-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
    templateName: string
    authorityDir: string
  }
}

const TEMPLATE = 'carillon_template'

/** The compile cache of Node for the processes of the tests, their worker threads, and the servers that they start: these start in half the time. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/carillon-tests', import.meta.url))
/** Beside the packages of the server. One run of the tests at a time in a working tree. */
const BUNDLE = fileURLToPath(new URL('../node_modules/.cache/carillon-server', import.meta.url))

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** Called by Vitest before the first test file. The returned function is called after the last one. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE
  const dir = await mkdtemp(join(await temporaryFolder(), 'carillon-test-'))
  // To drop a table or a database, PostgreSQL looks through all its buffers.
  const settings = { max_connections: '200', shared_buffers: '128MB' }
  const programs = process.env.CARILLON_TEST_POSTGRES
  const postgres = programs
    ? await startOtherPostgres({ programs, dir, settings })
    : await startEmbeddedPostgres({ dataDir: dir, log: quiet, durable: false, settings })
  const end = async () => {
    await postgres[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  }
  try {
    await createTemplate(postgres.url)
    provide('databaseUrl', postgres.url)
    provide('templateName', TEMPLATE)
    provide('authorityDir', dir)
    // Inherited by the processes of the tests.
    process.env.CARILLON_TEST_SERVER = await bundleServer(BUNDLE)
  } catch (error) {
    await end()
    throw error
  }
  return end
}

async function createTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${TEMPLATE}`)
  await admin.end()
  await migrate(withDatabase(url, TEMPLATE), quiet)
}

/** The URL of another database on the same server. */
export function withDatabase(url: string, name: string): string {
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}
