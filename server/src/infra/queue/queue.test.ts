import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../postgres/db.ts'
import { type AcceptedRequest, claimEntries, createAppender, lockProject, projectsWithEntries } from './queue.ts'

const request = (w: World, body: Buffer, items = 1): AcceptedRequest => ({
  projectId: w.projectId,
  kind: 'events',
  userId: null,
  requestId: 'req_test',
  receivedAt: w.clock.now(),
  items,
  body,
})

const Row = Type.Object({ body: Type.Unsafe<Buffer>({}) })
const stored = async (w: World) =>
  (await w.db.many(Row, sql`select body from queue_entries where project_id = ${w.projectId} order by position`)).map(({ body }) => body)

test('concurrent requests share commits, and each body is stored unchanged', async () => {
  await using w = await world()
  let commits = 0
  const appender = createAppender(w.db, () => commits++)
  const bodies = Array.from({ length: 300 }, (_, index) => Buffer.from(`[{"name":"é${'x'.repeat(index)}","n":${index}}]`))
  await Promise.all(bodies.map((body) => appender.append(request(w, body))))
  expect(commits).toBeLessThan(20)
  expect(new Set((await stored(w)).map(String))).toEqual(new Set(bodies.map(String)))
})

test('a request that is sent after the reply to another has a later position', async () => {
  await using w = await world()
  const appender = createAppender(w.db, () => undefined)
  const noise = Array.from({ length: 50 }, (_, index) => appender.append(request(w, Buffer.from(`noise ${index}`))))
  for (const name of ['first', 'second', 'third']) await appender.append(request(w, Buffer.from(name)))
  await Promise.all(noise)
  expect((await stored(w)).map(String).filter((body) => !body.startsWith('noise'))).toEqual(['first', 'second', 'third'])
})

test('an appender with too much in memory answers 429, and accepts more after writing', async () => {
  await using w = await world()
  const appender = createAppender(w.db, () => undefined)
  const body = Buffer.alloc(1_048_576, 'x')
  const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => appender.append(request(w, body))))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '1' } })
  expect(await stored(w)).toHaveLength(80 - refused.length)
  await appender.append(request(w, Buffer.from('later')))
})

test('a commit that fails fails every request in it, and the next one works', async () => {
  await using w = await world()
  const appender = createAppender(w.db, () => undefined)
  const wrong = { ...request(w, Buffer.from('x')), kind: 'nonsense' as never }
  await expect(appender.append(wrong)).rejects.toThrow()
  await appender.append(request(w, Buffer.from('fine')))
  expect((await stored(w)).map(String)).toEqual(['fine'])
})

test('a claim takes the oldest entries: at least one, and about as many items as asked for', async () => {
  await using w = await world()
  const appender = createAppender(w.db, () => undefined)
  for (const items of [100, 100, 5000, 1]) await appender.append(request(w, Buffer.from(String(items)), items))
  const claimed = (most: number) =>
    w.db.transaction(async (db) => (await claimEntries({ ...w.ctx, db }, w.projectId, most)).map(({ body }) => String(body)))
  expect(await claimed(1)).toEqual(['100'])
  expect(await claimed(150)).toEqual(['100', '100'])
  expect(await claimed(201)).toEqual(['100', '100', '5000'])
})

test('one consumer at a time locks a project, and every project with entries is found', async () => {
  await using w = await world()
  const other = await w.other()
  const appender = createAppender(w.db, () => undefined)
  await appender.append(request(w, Buffer.from('a')))
  await appender.append({ ...request(w, Buffer.from('b')), projectId: other.projectId })
  expect((await projectsWithEntries(w.ctx)).map(({ project_id }) => project_id)).toEqual(
    expect.arrayContaining([w.projectId, other.projectId]),
  )
  await w.db.transaction(async (db) => {
    expect(await lockProject({ ...w.ctx, db }, w.projectId)).toBe(true)
    await w.db.transaction(async (second) => {
      expect(await lockProject({ ...w.ctx, db: second }, w.projectId)).toBe(false)
      expect(await lockProject({ ...w.ctx, db: second }, other.projectId)).toBe(true)
    })
  })
})

test.each([
  ['at most 500 requests', Array.from({ length: 1202 }, () => Buffer.from('x')), 3],
  ['at most 4 MiB', Array.from({ length: 10 }, () => Buffer.alloc(1_048_576, 'x')), 3],
])('a commit is of %s', async (_, bodies, expected) => {
  await using w = await world()
  let commits = 0
  const appender = createAppender(w.db, () => commits++)
  await Promise.all(bodies.map((body) => appender.append(request(w, body))))
  expect(commits).toBe(expected)
  expect(await stored(w)).toHaveLength(bodies.length)
})
