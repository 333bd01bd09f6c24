/** Blasts over HTTP, for tests that kill the worker that sends them. */
import { request } from 'undici'
import { expect, vi } from 'vitest'
import type { Relay } from '../relay.ts'
import { rowsOf } from '../statements.ts'

const USERS_AT_ONCE = 100

/** Calls the API. Throws if the reply is an error. */
export const caller = (url: string, key: string) => async (method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: unknown) => {
  const reply = await request(`${url}/api/client${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.body.text()
  if (reply.statusCode >= 300) throw new Error(`${method} ${path} returned ${reply.statusCode}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
export type Call = ReturnType<typeof caller>

/** Saves users with addresses in a list, and creates a draft of a campaign for them over a relay. Returns the id of the campaign. */
export async function prepareBlast(call: Call, users: number, relay: Relay): Promise<number> {
  const settings = { host: relay.host, port: relay.port, tls: 'none', connections: 5, default_from: 'shop@example.com' }
  const { id } = await call('POST', '/providers', { name: `Relay ${relay.port}`, kind: 'smtp', channel: 'email', settings })
  return createBlast(
    call,
    Array.from({ length: users }, (_, at) => `person-${at}@example.com`),
    id,
  )
}

/** Saves users with these addresses in a list, each named by what is before the @, and creates a draft of a campaign for them. */
export async function createBlast(call: Call, addresses: string[], provider_id: number): Promise<number> {
  const { id: list } = await call('POST', '/lists', { name: `Users of ${provider_id}`, type: 'static' })
  for (let at = 0; at < addresses.length; at += USERS_AT_ONCE) {
    const some = addresses.slice(at, at + USERS_AT_ONCE).map((email) => ({ external_id: email.slice(0, email.indexOf('@')), email }))
    await call('POST', '/users/batch', some)
    await call('POST', `/lists/${list}/users`, { external_ids: some.map(({ external_id }) => external_id) })
  }
  const types = await call('GET', '/subscriptions')
  const subscription_id = types.results.find(({ channel }: { channel: string }) => channel === 'email').id
  const send_at = new Date().toISOString()
  const { id } = await call('POST', '/campaigns', {
    type: 'blast',
    name: 'Offers',
    subscription_id,
    list_ids: [list],
    provider_id,
    send_at,
  })
  await call('PUT', `/campaigns/${id}/templates/en`, { subject: 'Hello {{ user.external_id }}', html: '<p>Hello</p>' })
  return id
}

export type Outcome = { user: string; state: string; reason: string | null }

/** The state of each message in the database. */
export const outcomesIn = (databaseUrl: string, campaign: number) =>
  rowsOf<Outcome>(
    databaseUrl,
    `select u.external_id as user, m.state, m.reason from messages m join users u on u.id = m.user_id where m.campaign_id = $1 order by m.id`,
    [campaign],
  )

/** The number of emails to each address that the relay accepted. */
export const takenBy = (relay: Relay): Map<string, number> => {
  const taken = new Map<string, number>()
  for (const { to } of relay.mails) for (const address of to) taken.set(address, (taken.get(address) ?? 0) + 1)
  return taken
}

export const finished = (call: Call, campaign: number, timeout: number) =>
  vi.waitFor(async () => expect((await call('GET', `/campaigns/${campaign}`)).state).toBe('finished'), { timeout, interval: 250 })

/** The totals of the API match the database, and the states in the database match the emails that the relay accepted. */
export function expectReconciled(
  rows: Outcome[],
  delivery: { total: number; sent: number },
  taken: Map<string, number>,
  users: number,
): void {
  expect(rows).toHaveLength(users)
  expect(delivery.total).toBe(users)
  expect(delivery.sent).toBe(rows.filter(({ state }) => state === 'sent').length)
  expect([...taken].filter(([, times]) => times > 1)).toEqual([])
  const wrong = rows.filter(({ user, state }) => state !== 'unknown' && (state === 'sent') !== taken.has(`${user}@example.com`))
  expect(wrong).toEqual([])
}
