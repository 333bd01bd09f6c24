/** A project that is deleted does nothing more from the reply on, and nothing of it is left when the jobs have run (D-PROJ-5). */
import { expect, test } from 'vitest'
import { bootstrap } from '../../src/bootstrap.ts'
import { deleteRows } from '../../src/infra/postgres/project-rows.ts'
import { SEND_JOBS } from '../../src/modules/messages/index.ts'
import { eraseNextProject } from '../../src/modules/projects/index.ts'
import { eraseProjects } from '../../src/project-deletion.ts'
import { queueDepths } from '../../src/workers.ts'
import { run } from '../blasts.ts'
import { failSaves } from '../failing-saves.ts'
import { createJourney } from '../journeys.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const pathOf = ({ projectId }: Pick<World, 'projectId'>) => `/api/client/projects/${projectId}`

const remove = (w: World, name = 'Test') => w.request('DELETE', pathOf(w), { name }, { key: w.keys.organisation })

const usersLeft = async (w: World) =>
  Number((await select(w, 'select count(*) as n from users where project_id = $1', [w.projectId]))[0]?.n)

const actions = async (w: World): Promise<string[]> =>
  (await w.get('/api/client/audit', { key: w.keys.organisation })).body.results.map(({ action }: { action: string }) => action)

test('another name deletes nothing; what would be erased is counted before', async () => {
  await using w = await world()
  await w.users('kim', 'lee')
  await answerOrders(w)
  expect((await w.get(`${pathOf(w)}/size`, { key: w.keys.organisation })).body).toEqual({
    users: 2,
    messages: 0,
    waiting_messages: 0,
    campaigns: 1,
    journeys: 0,
    lists: 0,
    keys: 6,
  })
  const { status, body } = await remove(w, 'test')
  expect([status, body.error.param]).toEqual([422, 'name'])
  expect((await w.get('/api/client/users')).body.results).toHaveLength(2)
})

test('from the reply on its keys are refused, it is not found, and nothing that waits is sent', async () => {
  await using w = await world()
  await using relay = await openRelay()
  const receiver = await w.receiver()
  await sendOver(w, relay)
  await w.users('kim')
  const endpoint = { name: 'All', url: receiver.url, event_types: ['delivery.delivered'] }
  const { id } = (await w.post('/api/client/webhooks', endpoint)).body
  await answerOrders(w)
  await order(w, 'kim')
  await run(w, 'ingest.apply')
  expect((await w.post(`/api/client/webhooks/${id}/test`)).status).toBe(202)
  await select(
    w,
    `insert into journey_calls (project_id, user_id, entrance_id, visit, journey_id, host, request, created_at, due_at)
     values ($1, 1, 1, 1, 1, 'example.com', '{}', now(), now())`,
    [w.projectId],
  )

  expect((await remove(w)).status).toBe(204)
  for (const key of [w.keys.secret, w.keys.public]) expect((await w.get('/api/client/users', { key })).status).toBe(401)
  expect((await w.get(pathOf(w), { key: w.keys.organisation })).status).toBe(404)
  expect((await w.get('/api/client/projects', { key: w.keys.organisation })).body.results).toEqual([])
  expect((await remove(w)).status).toBe(404)
  // Before anything was erased.
  await w.drain(...Object.values(SEND_JOBS).map(({ name }) => name), 'webhooks.dispatch', 'webhooks.deliver')
  expect([recipientsOf(relay), receiver.requests]).toEqual([[], []])
  expect(await usersLeft(w)).toBe(1)
  expect(await select(w, 'select scope from mail_pauses where project_id = $1', [w.projectId])).toEqual([{ scope: 'project' }])
  expect(await select(w, 'select journey_id from journey_calls where project_id = $1', [w.projectId])).toEqual([])
  await w.drain()
  expect([recipientsOf(relay), receiver.requests, await usersLeft(w)]).toEqual([[], [], 0])
})

test('the users in its journeys go no further, and their timers are not late', async () => {
  await using w = await world({ own: true })
  const receiver = await w.receiver()
  await w.users('kim')
  const at = { x: 0, y: 0 }
  await createJourney(
    w,
    { status: 'live' },
    {
      start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'cart' }, children: [{ external_id: 'hour' }] },
      hour: { type: 'delay', ...at, data: { hours: 1 }, children: [{ external_id: 'call' }] },
      call: { type: 'webhook', ...at, data: { url: receiver.url } },
    },
  )
  await w.post('/api/client/events', [{ name: 'cart', external_id: 'kim' }])
  await w.drain('ingest.apply')
  expect((await remove(w)).status).toBe(204)
  w.advance('2 hours')
  // Before anything was erased.
  await queueDepths(w.ctx)
  expect((await w.get('/metrics', { key: null })).text).toMatch(/^app_journey_timer_lag_seconds 0$/m)
  await w.drain('ingest.apply', 'journeys.call')
  expect(receiver.requests).toEqual([])
  expect(await eraseProjects(w.ctx, 1)).toBe(1)
  expect(await select(w, 'select from journey_timers where project_id = $1', [w.projectId])).toEqual([])
  await w.drain()
  expect([receiver.requests, await usersLeft(w)]).toEqual([[], 0])
})

test('a batch that was cut off is done again, and what arrives late is erased too; the audit log keeps what happened', async () => {
  await using w = await world()
  await w.users('kim', 'lee', 'max', 'noa')
  const before = await actions(w)
  await remove(w)
  const cut = eraseNextProject(
    w.ctx,
    async (ctx) => {
      expect(await deleteRows(ctx, 'users', 3)).toBe(3)
      throw Object.assign(new Error('The process has ended.'), { code: 'ECONNRESET' })
    },
    async () => {},
  )
  await expect(cut).rejects.toThrow()
  expect(await usersLeft(w)).toBe(4)
  while ((await usersLeft(w)) > 2) expect(await eraseProjects(w.ctx, 2)).toBeGreaterThan(0)
  await w.drain()
  expect(await usersLeft(w)).toBe(0)
  expect(await actions(w)).toEqual(['project.deleted', ...before])

  w.advance('10 minutes')
  await w.drain()
  expect(await actions(w)).toEqual(['project.erased', 'project.deleted', ...before])
  const { results } = (await w.get('/api/client/audit?action=project.deleted', { key: w.keys.organisation })).body
  expect(results[0]).toMatchObject({ project_id: w.projectId, object: { name: 'Test' }, details: { size: { users: 4, keys: 6 } } })

  await select(w, "insert into event_ids (project_id, event_id, received_at) values ($1, 'late', now())", [w.projectId])
  w.advance('1 day')
  await w.drain()
  expect(await select(w, 'select event_id from event_ids where project_id = $1', [w.projectId])).toEqual([])
})

test('a project that cannot be erased keeps no other from being erased, and is erased when it can be', async () => {
  const lines: string[] = []
  await using w = await world({ log: { write: (line) => lines.push(line) } })
  const other = { ...w, ...(await w.other()) }
  for (const each of [w, other]) {
    await w.post('/api/client/users/batch', [{ external_id: 'kim' }], { key: each.keys.secret })
    await w.drain('ingest.apply')
    expect((await w.request('DELETE', pathOf(each), { name: 'Test' }, { key: each.keys.organisation })).status).toBe(204)
    w.advance('1 second')
  }
  {
    await using _ = await failSaves(w, { table: 'users', on: 'delete', when: 'true' })
    while ((await eraseProjects(w.ctx)) > 0);
    expect([await usersLeft(w), await usersLeft(other)]).toEqual([1, 0])
    expect(lines.filter((line) => line.includes('a piece of the work of a job failed'))).toHaveLength(1)
  }
  w.advance('1 minute')
  while ((await eraseProjects(w.ctx)) > 0);
  expect(await usersLeft(w)).toBe(0)
})

test('the next start creates neither a key of the configuration again nor another organisation', async () => {
  await using w = await world({ own: true })
  const config = { ...w.ctx.config, BOOTSTRAP_SECRET_KEY: w.keys.secret, BOOTSTRAP_PUBLIC_KEY: `pk_${'x'.repeat(40)}` }
  await remove(w)
  // Those of other tests too: no project is left.
  await select(w, 'update projects set deleted_at = now() where deleted_at is null')
  const stored = () => select(w, 'select (select count(*) from organisations) as organisations, (select count(*) from api_keys) as keys')
  const before = await stored()
  expect(await bootstrap({ ...w.ctx, config }, async () => {})).toBe(null)
  expect(await stored()).toEqual(before)
  expect((await w.get('/api/client/users')).status).toBe(401)
})
