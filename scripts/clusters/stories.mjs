// What the scenarios do with a server, over HTTP.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { compare, until } from './programs.mjs'

export const KEY = 'sk_clusters-0123456789abcdef'
const AT_ONCE = 100
const CLIENTS = 8
const REFUSED_WAIT_MS = 50

/** Calls the API. Throws if it refuses. */
export const callerOf = (url) => async (method, path, body) => {
  const headers = { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) }
  const reply = await fetch(`${url}/api/client${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await reply.text()
  if (!reply.ok) throw Object.assign(new Error(`${method} ${path} returned ${reply.status}: ${text}`), { status: reply.status })
  return text === '' ? undefined : JSON.parse(text)
}

const emailType = async (call) => (await call('GET', '/subscriptions')).results.find(({ channel }) => channel === 'email').id

/** The story of the README. Returns the subject of the email that Kim got, and whether Kim is in the list. */
export async function welcomeKim(call) {
  await call('POST', '/users/batch', [{ external_id: 'kim', email: 'kim@example.com', data: { name: 'Kim' } }])
  const subscription_id = await emailType(call)
  const { id } = await call('POST', '/campaigns', { type: 'trigger', name: 'Welcome', event_name: 'signed_up', subscription_id })
  await call('PUT', `/campaigns/${id}/templates/en`, { subject: 'Welcome, {{ user.data.name }}', html: '<p>{{ event.data.plan }}</p>' })
  await call('PATCH', `/campaigns/${id}`, { state: 'running' })
  await call('POST', '/events', [{ name: 'signed_up', external_id: 'kim', data: { plan: 'pro' } }])
  const email = await until('the email to Kim', async () => (await call('GET', '/sandbox/messages')).results[0])
  const rule = { event: 'signed_up', within: '30d', where: [{ attribute: 'data.plan', is: 'pro' }] }
  const list = await call('POST', '/lists', { name: 'New and pro', type: 'dynamic', rule })
  await until('the list', async () => (await call('GET', `/lists/${list.id}`)).state === 'ready')
  const { member } = await call('GET', `/lists/${list.id}/users/kim/explain`)
  return { subject: email.summary, member }
}

/** Starts a blast to that many users over a relay. Returns the id of the campaign. */
export async function startBlast(call, users, relay) {
  const settings = { host: '127.0.0.1', port: relay.port, tls: 'none', connections: 5, default_from: 'shop@example.com' }
  const { id: provider_id } = await call('POST', '/providers', { name: 'Relay', kind: 'smtp', channel: 'email', settings })
  const { id: list } = await call('POST', '/lists', { name: 'Everyone', type: 'static' })
  for (let at = 0; at < users; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, users - at) }, (_, each) => `person-${at + each}`)
    await call(
      'POST',
      '/users/batch',
      some.map((external_id) => ({ external_id, email: `${external_id}@example.com` })),
    )
    await call('POST', `/lists/${list}/users`, { external_ids: some })
  }
  const subscription_id = await emailType(call)
  const draft = { type: 'blast', name: 'Offers', subscription_id, list_ids: [list], provider_id, send_at: new Date().toISOString() }
  const { id } = await call('POST', '/campaigns', draft)
  await call('PUT', `/campaigns/${id}/templates/en`, { subject: 'Hello {{ user.external_id }}', html: '<p>Hello</p>' })
  await call('PATCH', `/campaigns/${id}`, { state: 'scheduled' })
  return id
}

/** Clients that send events one after the other, and keep those that were acknowledged. */
export function startClients(call) {
  const acknowledged = []
  let isOver = false
  let refused = 0
  const send = async () => {
    while (!isOver) {
      const id = randomUUID()
      try {
        await call('POST', '/events', [{ name: 'counted', external_id: `person-${acknowledged.length % 100}`, data: { id } }])
        acknowledged.push(id)
      } catch {
        refused++
        await sleep(REFUSED_WAIT_MS)
      }
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, send))
  const stop = () => {
    isOver = true
    return clients
  }
  return { acknowledged, refused: () => refused, stop }
}

/** Waits until everything was applied, and compares what clients and the relay got with what is stored. */
export async function compareKept({ call, clients, campaign, users, relay, sql }) {
  await until('the queue', async () => (await sql('select 1 from queue_entries limit 1')).length === 0)
  await until('the blast', async () => (await call('GET', `/campaigns/${campaign}`)).state === 'finished')
  const kept = await sql(`select data->>'id' from events where name = 'counted'`)
  const stored = new Set(kept)
  process.stdout.write(`     ${clients.acknowledged.length} events were acknowledged, ${clients.refused()} requests refused meanwhile\n`)
  compare('acknowledged events that are lost', 0, clients.acknowledged.filter((id) => !stored.has(id)).length)
  compare('events that are stored twice', 0, kept.length - stored.size)
  compare('users that the blast reached twice', 0, relay.twice())
  const { delivery } = await call('GET', `/campaigns/${campaign}`)
  process.stdout.write(`     the blast: ${JSON.stringify(delivery)}, ${relay.taken.size} users at the relay\n`)
  compare('the blast has a state for every user', users, delivery.total)
}

/** A relay that counts the emails to each address. */
export async function openRelay() {
  const taken = new Map()
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, { envelope }, done) {
      stream.resume().on('end', () => {
        for (const { address } of envelope.rcptTo) taken.set(address, (taken.get(address) ?? 0) + 1)
        done()
      })
    },
  })
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return {
    port: listening.address().port,
    taken,
    twice: () => [...taken.values()].filter((times) => times > 1).length,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  }
}
