/** A worker is killed between two batches of an import: each row is imported once. */
import { request } from 'undici'
import { expect, test, vi } from 'vitest'
import { holdAt } from '../fault-points.ts'
import { rowsOf } from '../statements.ts'
import { caller } from './blast.ts'
import { startGroup } from './group.ts'
import { allApplied, WAIT } from './load.ts'

const ROWS = 1200
const FILE = `external_id,email\n${Array.from({ length: ROWS }, (_, at) => `user-${at},user-${at}@example.com`).join('\n')}\n`

test('a worker killed in the second batch of an import: the first batch is kept, and each user is imported and counted once', {
  timeout: 180_000,
}, async () => {
  await using group = await startGroup(['api'])
  const [url = ''] = group.urls
  const call = caller(url, group.key)
  const list = await call('POST', '/lists', { name: 'Imported', type: 'static' })
  const reply = await request(`${url}/api/client/lists/${list.id}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${group.key}`, 'content-type': 'text/csv' },
    body: FILE,
  })
  const { id } = (await reply.body.json()) as { id: number }
  const progress = () => call('GET', `/lists/${list.id}/imports/${id}`)
  {
    await using held = await holdAt(group.databaseUrl, 'between batches of an import')
    await using worker = await group.start('worker')
    await held.reached()
    await worker.end('SIGKILL')
  }
  expect(await progress()).toMatchObject({ state: 'running', rows: 500, created: 500, added: 500 })
  await using _ = await group.start('worker')
  const done = { state: 'finished', rows: ROWS, created: ROWS, updated: 0, unchanged: 0, failed: 0, added: ROWS }
  await vi.waitFor(async () => expect(await progress()).toMatchObject(done), WAIT)
  await allApplied(group.databaseUrl)
  expect(await call('GET', `/lists/${list.id}`)).toMatchObject({ users_count: ROWS })
  const entered = `select count(*)::int as all, count(distinct user_id)::int as different from events where name = 'list_entered'`
  expect(await rowsOf(group.databaseUrl, entered)).toEqual([{ all: ROWS, different: ROWS }])
})
