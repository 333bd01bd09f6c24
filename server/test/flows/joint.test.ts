/** The events of many projects are applied in one transaction, and each still triggers its email exactly once: counted at the relay. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { raw, sql } from '../../src/infra/postgres/db.ts'
import { Count } from '../../src/lib/shapes.ts'
import { openRelay, type Relay } from '../relay.ts'
import { type Tenant, type World, world } from '../world.ts'

const PROJECTS = 12
const EVENTS = 4

let w: World
let relay: Relay
let tenants: Tenant[]

beforeAll(async () => {
  w = await world({ own: true, env: {} })
  relay = await openRelay()
  tenants = []
  for (let count = 0; count < PROJECTS; count++) tenants.push(await withTrigger(await w.other()))
})
afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  await w[Symbol.asyncDispose]()
})
beforeEach(() => {
  relay.mails.length = 0
})

/** A campaign that sends an email over the relay for each order. */
async function withTrigger(tenant: Tenant): Promise<Tenant> {
  const key = { key: tenant.keys.secret }
  const settings = { host: relay.host, port: relay.port, tls: 'none', connections: 5, default_from: 'shop@example.com' }
  const provider = await w.post('/api/client/providers', { name: 'Relay', kind: 'smtp', channel: 'email', settings }, key)
  const types = await w.get('/api/client/subscriptions', key)
  const subscription_id = types.body.results.find(({ channel }: { channel: string }) => channel === 'email').id
  const campaign = { type: 'trigger', name: 'Receipt', subscription_id, event_name: 'order', provider_id: provider.body.id }
  const { body } = await w.post('/api/client/campaigns', campaign, key)
  await w.put(`/api/client/campaigns/${body.id}/templates/en`, { subject: '{{ event.data.number }}', html: '<p>Thank you</p>' }, key)
  expect((await w.patch(`/api/client/campaigns/${body.id}`, { state: 'running' }, key)).status).toBe(200)
  return tenant
}

const addressOf = ({ projectId }: Tenant, number: number) => `user-${projectId}-${number}@example.com`

/** Sends the events of all projects before any is applied. */
async function order(): Promise<void> {
  for (let number = 0; number < EVENTS; number++) {
    for (const tenant of tenants) {
      const email = addressOf(tenant, number)
      const event = { name: 'order', external_id: email, user: { email }, data: { number } }
      expect((await w.post('/api/client/events', [event], { key: tenant.keys.secret })).status).toBe(204)
    }
  }
}

const expected = (of: Tenant[]) => of.flatMap((tenant) => Array.from({ length: EVENTS }, (_, number) => addressOf(tenant, number))).sort()
const received = () => relay.mails.flatMap(({ to }) => to).sort()

/** How many transactions wrote the messages of the campaigns. */
const transactions = () =>
  w.db.value(Count, sql`select count(distinct xmin::text)::int as count from messages where created_at = ${w.clock.now()}`)

test('small backlogs of many projects are applied together, and each event sends one email', async () => {
  w.advance('1 hour')
  await order()
  await w.drain('ingest.apply')
  expect(await transactions()).toBeLessThan(PROJECTS)
  await w.drain()
  expect(received()).toEqual(expected(tenants))
})

test('when the work of one project fails in the end, the others are applied once, and that one as soon as it can', async () => {
  w.advance('1 hour')
  const [broken, ...others] = tenants as [Tenant, ...Tenant[]]
  // Fails at the commit, when all statements of the transaction have run.
  await w.db.run(sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`)
  await w.db.run(sql`
    create constraint trigger refused after insert on messages deferrable initially deferred for each row
    when (new.project_id = ${raw(String(broken.projectId))}) execute function refuse()`)
  await order()
  await expect(w.drain('ingest.apply')).rejects.toThrow('broken')
  await w.drain('messages.send')
  expect(received()).toEqual(expected(others))
  await w.db.run(sql`drop trigger refused on messages`)
  w.advance('1 hour')
  await w.drain()
  expect(received()).toEqual(expected(tenants))
})
