import { defineConfig } from 'vitest/config'
import { LongestFirst } from './server/test/longest-first.ts'

/**
 * Files that drop, lock or alter tables, start two servers at once or collect the garbage of the whole process: each in a process and on a
 * database of its own.
 */
const ALONE = [
  'server/test/disasters/{import-killed,journeys,journeys-underneath,slow-claims}.test.ts',
  'server/test/flows/first-start.test.ts',
  'server/src/infra/outgoing/safe-fetch.test.ts',
  'server/src/lib/liquid/cache.test.ts',
  'server/src/infra/postgres/*embedded-postgres.test.ts',
  'server/src/infra/postgres/migrate.test.ts',
  'server/src/modules/events/retention.test.ts',
]

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default defineConfig({
  test: {
    // Node loads the sources itself, as in production, from its compile cache.
    server: { deps: { external: [/server\/src\/(?!.*\.test\.ts$)/] } },
    globalSetup: ['server/test/database.ts'],
    // What a test waits for may take a while on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Where a whole change waits for the result, a test that failed is run once more, and listed with `retry x1`: that is a fault to mend.
    retry: process.env.CI ? 1 : 0,
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      // All others share a few processes: to load the server anew for each file takes longer than most files run.
      {
        extends: true,
        test: { name: 'together', include: ['server/**/*.test.ts', 'console/test/*.test.ts'], exclude: ALONE, isolate: false },
      },
    ],
  },
})
