/** A server in production connects only to addresses that its operator allows, whichever endpoint causes the connection. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/infra/runtime/config.ts'
import { caller } from '../disasters/blast.ts'
import { cloneTemplate } from '../ground.ts'
import { openListener } from '../listener.ts'

const KEY = 'sk_chosen_by_the_operator'
const LOOPBACK = '127.0.0.1'

async function place() {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-egress-'))
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: await cloneTemplate(),
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'silent',
    SECRETS_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    SESSION_JWT_KEYS: 'test:a-secret-that-is-only-for-tests-0123456789',
    BOOTSTRAP_SECRET_KEY: KEY,
  }
  return { env, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }) }
}

/** Makes a server connect to a loopback port in each possible way. Returns the results. */
async function callsOf(url: string, port: number): Promise<Record<'relay' | 'endpoint' | 'check', unknown>> {
  const call = caller(url, KEY)
  const settings = { host: LOOPBACK, port, tls: 'none', default_from: 'shop@example.com' }
  const relay = await call('POST', '/providers', { name: 'Relay', kind: 'smtp', channel: 'email', settings })
  await call('POST', '/providers', { name: 'HTTP', kind: 'http', channel: 'webhook', settings: {} })
  const { results: types } = await call('GET', '/subscriptions')
  const subscription_id = types.find(({ channel }: { channel: string }) => channel === 'webhook').id
  const campaign = await call('POST', '/campaigns', { type: 'trigger', name: 'Call', subscription_id, event_name: 'order' })
  await call('PUT', `/campaigns/${campaign.id}/templates/en`, { endpoint: `http://${LOOPBACK}:${port}/`, body: '{}' })
  await call('POST', '/users/batch', [{ external_id: 'ana' }])
  const { results } = await call('POST', `/campaigns/${campaign.id}/test`, { to: ['ana'] })
  const checked = await request(`${url}/api/ext/generic/dns/tcp-verifier`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ domain_ip: LOOPBACK, port: String(port) })),
  })
  const { data } = (await checked.body.json()) as { data: { connection: string } }
  return {
    relay: (await call('POST', `/providers/${relay.id}/test`)).works,
    endpoint: results[0].outcome,
    check: data.connection,
  }
}

test.each([
  ['closed', {}, { relay: false, endpoint: 'rejected', check: 'blocked' }],
  // The listener closes each connection at once.
  ['open', { EGRESS_ALLOW_CIDRS: `${LOOPBACK}/32` }, { relay: false, endpoint: 'uncertain', check: 'success' }],
])('loopback is %s to relays, endpoints of campaigns and TCP checks', async (is, allowed, expected) => {
  await using at = await place()
  await using listener = await openListener(LOOPBACK)
  await using app = await startApp(readConfig({ ...at.env, ...allowed }), 'api')
  expect(await callsOf(app.url as string, listener.port)).toEqual(expected)
  const connections = await listener.connections()
  if (is === 'closed') expect(connections).toBe(0)
  else expect(connections).toBeGreaterThanOrEqual(Object.keys(expected).length)
})
