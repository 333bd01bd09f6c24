import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { SOON } from '../../../test/wait.ts'
import { systemClock } from '../runtime/clock.ts'
import { keepEmbeddedPostgres } from './keep-embedded-postgres.ts'

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
    return (await client.query('select 1')).rowCount === 1
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

test('a PostgreSQL that was killed is restarted on the same port', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-kept-'))
  const log = { info: () => undefined, warn: () => undefined }
  {
    await using kept = await keepEmbeddedPostgres({ dataDir, log, durable: false }, systemClock)
    const pid = Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(async () => expect(await answers(kept.url)).toBe(false), SOON)
    await vi.waitFor(async () => expect(await answers(kept.url)).toBe(true), { ...SOON, interval: 100 })
  }
  await rm(dataDir, { recursive: true })
})
