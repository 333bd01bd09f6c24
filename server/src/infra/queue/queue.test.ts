import { expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { type AcceptedRequest, createAppender } from './append.ts'
import { claimEntries, lockProject, projectsWithEntries } from './queue.ts'

const request = (w: World, body: Buffer, items = 1): AcceptedRequest => ({
  projectId: w.projectId,
  kind: 'events',
  userId: null,
  requestId: 'req_test',
  receivedAt: w.clock.now(),
  items,
  body,
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
