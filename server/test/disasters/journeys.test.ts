/** Journeys while processes, the database and the clock fail. “Once” is counted at a relay. */
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/infra/runtime/clock.ts'
import { embeddedUrl, postgresProcesses, someSecretKey, startChild, temporaryDir } from '../child-server.ts'
import { type FaultPointName, holdAt } from '../fault-points.ts'
import { openRelay, type Relay } from '../relay.ts'
import { rowsOf } from '../statements.ts'
import { type Call, caller, takenBy } from './blast.ts'
import { startGroup } from './group.ts'

const USERS = 80
/** Users who wait beside them. */
const DUE = Number(process.env.JOURNEYS_DUE ?? 800)
const names = Array.from({ length: USERS }, (_, at) => `person-${at}`)

/** A live journey: users enter by an event, wait until the instant in it, and get an email over the relay. */
async function prepare(call: Call, relay: Relay): Promise<number> {
  for (let at = 0; at < USERS; at += 100) {
    const some = names.slice(at, at + 100)
    await call(
      'POST',
      '/users/batch',
      some.map((name) => ({ external_id: name, email: `${name}@example.com` })),
    )
  }
  const settings = { host: relay.host, port: relay.port, tls: 'none', connections: 5, default_from: 'shop@example.com' }
  const { id: provider_id } = await call('POST', '/providers', { name: 'Relay', kind: 'smtp', channel: 'email', settings })
  const types = await call('GET', '/subscriptions')
  const subscription_id = types.results.find(({ channel }: { channel: string }) => channel === 'email').id
  const shared = { type: 'trigger', channel: 'email', subscription_id, provider_id, event_name: 'never' }
  const { id: campaign } = await call('POST', '/campaigns', { ...shared, name: 'Reminder' })
  await call('PUT', `/campaigns/${campaign}/templates/en`, { subject: 'Hello {{ user.external_id }}', html: '<p>Hello</p>' })
  await call('PATCH', `/campaigns/${campaign}`, { state: 'running' })
  const { id } = await call('POST', '/journeys', { name: 'Reminders', status: 'live' })
  const at = { x: 0, y: 0 }
  await call('PUT', `/journeys/${id}/steps`, {
    start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'cart', multiple: true }, children: [{ external_id: 'wait' }] },
    wait: {
      type: 'delay',
      ...at,
      data: { format: 'date', date: '{{ event.data.at }}' },
      children: [{ external_id: 'send' }, { path: 'past', external_id: 'send' }],
    },
    send: { type: 'action', ...at, data: { campaign_id: campaign }, children: [{ external_id: 'end' }] },
    end: { type: 'exit', ...at },
  })
  return id
}

const enterAll = async (call: Call, at: Date) => {
  for (let from = 0; from < USERS; from += 100)
    await call(
      'POST',
      '/events',
      names.slice(from, from + 100).map((name) => ({ name: 'cart', external_id: name, data: { at: at.toISOString() } })),
    )
}

/** All users left the journey, each with one email. */
async function expectOnce(databaseUrl: string, relay: Relay, times = 1, others = 0): Promise<void> {
  await vi.waitFor(
    async () => {
      const [row] = await rowsOf(
        databaseUrl,
        `select (select count(*)::int from journey_past) as past, (select count(*)::int from journey_entrances) as inside`,
      )
      expect(row).toEqual({ past: USERS * times + others, inside: 0 })
    },
    { timeout: 60_000 + others * 5, interval: 100 },
  )
  const taken = takenBy(relay)
  expect(taken.size).toBe(USERS)
  expect([...taken.values()].filter((count) => count !== times)).toEqual([])
  const timers = await rowsOf(databaseUrl, 'select count(*)::int as timers from journey_timers')
  expect(timers).toEqual([{ timers: 0 }])
  const [counts] = await rowsOf(
    databaseUrl,
    `select sum(users) filter (where what = 'entered')::int as entered, sum(users) filter (where what = 'completed')::int as completed from journey_counts`,
  )
  expect(counts).toEqual({ entered: USERS * times, completed: USERS * times + others })
}

const inMs = (ms: number) => new Date(systemClock.now().getTime() + ms)
const soon = () => inMs(-1000)

test.each<FaultPointName>(['between decision and message', 'while timers are applied'])(
  'a worker killed %s: every user gets the email once',
  { timeout: 180_000 },
  async (point) => {
    await using group = await startGroup(['api'])
    await using relay = await openRelay()
    const call = caller(group.urls[0] as string, group.key)
    await prepare(call, relay)
    await enterAll(call, point === 'while timers are applied' ? inMs(4000) : soon())
    for (let kill = 0; kill < 2; kill++) {
      const held = await holdAt(group.databaseUrl, point)
      await using worker = await group.start('worker')
      await held.reached()
      await worker.end('SIGKILL')
      await held.release()
    }
    await using _ = await group.start('worker')
    await expectOnce(group.databaseUrl, relay)
  },
)

test('two processes with all the work between them: every user gets each email once', { timeout: 180_000 }, async () => {
  await using group = await startGroup(['api', 'worker', 'worker'])
  await using relay = await openRelay()
  const call = caller(group.urls[0] as string, group.key)
  await prepare(call, relay)
  await enterAll(call, inMs(2000))
  await enterAll(call, soon())
  const [{ inside }] = (await rowsOf(group.databaseUrl, 'select count(*)::int as inside from journey_entrances')) as [{ inside: number }]
  expect(inside).toBeLessThanOrEqual(USERS)
  await expectOnce(group.databaseUrl, relay)
})

/** Puts users inside a second journey, past the engine: they wait until an instant and leave. */
async function putWaiting(call: Call, databaseUrl: string, until: Date): Promise<void> {
  const at = { x: 0, y: 0 }
  const { id } = await call('POST', '/journeys', { name: 'Waiting', status: 'live' })
  await call('PUT', `/journeys/${id}/steps`, {
    start: { type: 'entrance', ...at, data: { trigger: 'none', multiple: true }, children: [{ external_id: 'wait' }] },
    wait: { type: 'delay', ...at, data: { minutes: 1 }, children: [{ external_id: 'end' }] },
    end: { type: 'exit', ...at },
  })
  await rowsOf(
    databaseUrl,
    `with made as (
       insert into users (project_id, external_id, data, created_at, updated_at)
       select j.project_id, 'waiting-' || n, '{}', now(), now() from journeys j, generate_series(1, ${DUE}) n where j.id = ${id}
       returning project_id, id),
     placed as (
       insert into journey_entrances (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at,
                                      acted_at, due_at, slot, cause, trail)
       select m.project_id, m.id, m.id, s.journey_id, s.id, 1, 2, 0, t.at, t.at, t.at, $1, '', 'api:' || m.id,
              json_build_array(json_build_array('wait', 2, (extract(epoch from t.at) * 1000)::bigint))
       from made m join journey_steps s on s.project_id = m.project_id and s.journey_id = ${id} and s.external_id = 'wait',
            (select $1::timestamptz - interval '1 minute' as at) t
       returning project_id, journey_id, user_id, entrance_id, entered_at, due_at),
     counted as (
       insert into journey_users (project_id, user_id, journey_id, entered, active, first_entered_at, last_entered_at)
       select project_id, user_id, journey_id, 1, 1, entered_at, entered_at from placed)
     insert into journey_timers (project_id, journey_id, due_at, user_id, entrance_id, visit)
     select project_id, journey_id, due_at, user_id, entrance_id, 2 from placed`,
    [until],
  )
}

test('the database is killed with due timers: every user gets the email once after the restart', { timeout: 600_000 }, async () => {
  await using dir = await temporaryDir()
  await using relay = await openRelay()
  const key = someSecretKey()
  const start = () => startChild({ dataDir: dir.path, env: { BOOTSTRAP_SECRET_KEY: key } })
  {
    await using server = await start()
    const call = caller(server.url, key)
    await prepare(call, relay)
    await enterAll(call, inMs(8000))
    await putWaiting(call, embeddedUrl(dir.path), inMs(8000))
    await vi.waitFor(
      async () =>
        expect(await rowsOf(embeddedUrl(dir.path), 'select count(*)::int as timers from journey_timers')).toEqual([
          { timers: USERS + DUE },
        ]),
      { timeout: 20_000, interval: 50 },
    )
    const database = postgresProcesses(dir.path)
    await server.end('SIGKILL')
    for (const pid of database) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  await using _ = await start()
  await expectOnce(embeddedUrl(dir.path), relay, 1, DUE)
})
