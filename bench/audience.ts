/** Building the audience of a blast, compared with a bare `insert … select` of the same rows. */
import pg from 'pg'
import { HOUR_MS } from '../server/src/lib/times.ts'
import { caller, emailType, listOfAll, makeUsers, pause, peakMemory } from './sending.ts'
import { report, startServer } from './support.ts'

const USERS = Number(process.env.BENCH_USERS ?? 1_000_000)
/** The time zone that is furthest ahead. A blast in the users’ time zones is loaded at its time there, hours before it is sent in Sydney. */
const FIRST_ZONE_MS = 14 * HOUR_MS

export async function audience(): Promise<void> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await makeUsers(db, USERS)
  const call = caller(server)
  const list = await listOfAll(call)
  const subscription_id = await emailType(call)

  const bareStarted = performance.now()
  await db.query(`
    insert into messages (project_id, user_id, campaign_id, channel, cause, priority, state, due_at, created_at)
    select 1, id, 1000000, 'email', 'campaign:1000000', 1, 'queued', now() + interval '1 day', now() from users where project_id = 1`)
  const bare = (performance.now() - bareStarted) / 1000
  await db.query('delete from messages')
  await db.query('vacuum messages')

  const { id } = await call('POST', '/api/client/campaigns', {
    type: 'blast',
    name: 'All users',
    subscription_id,
    list_ids: [list],
    send_in_user_timezone: true,
    send_at: new Date(Date.now() + FIRST_ZONE_MS).toISOString().slice(0, -1),
  })
  await call('PUT', `/api/client/campaigns/${id}/templates/en`, { subject: 'Hello', html: '<p>Hello</p>', from: 'shop@example.com' })
  const started = performance.now()
  await call('PATCH', `/api/client/campaigns/${id}`, { state: 'scheduled' })
  for (;;) {
    const { state, delivery } = await call('GET', `/api/client/campaigns/${id}`)
    if (state === 'running' || state === 'finished') {
      if (delivery.total !== USERS) throw new Error(`Only ${delivery.total} of ${USERS} users are in the audience.`)
      break
    }
    await pause(100)
  }
  const took = (performance.now() - started) / 1000
  report(
    'audience built',
    took / bare,
    `${took.toFixed(1)} s for ${USERS}; bare ${bare.toFixed(1)} s; ${await peakMemory(server)} MB`,
    '≤ 4',
  )
  await db.end()
}
