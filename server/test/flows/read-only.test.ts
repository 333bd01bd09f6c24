import { expect, test } from 'vitest'
import { embeddedUrl, someSecretKey, startChild, temporaryDir } from '../child-server.ts'
import { rowsOf } from '../statements.ts'

const backends = async (url: string) =>
  (await rowsOf<{ pid: number }>(url, `select pid from pg_stat_activity where application_name = 'carillon api'`)).map(({ pid }) => pid)

test('a database that becomes read-only: 503 with Retry-After, not ready, and new connections', { timeout: 90_000 }, async () => {
  await using place = await temporaryDir()
  const key = someSecretKey()
  await using server = await startChild({ dataDir: place.path, env: { BOOTSTRAP_SECRET_KEY: key, LOG_LEVEL: 'silent' } })
  const url = embeddedUrl(place.path)
  const send = () =>
    fetch(`${server.url}/api/client/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify([{ name: 'opened', external_id: 'kim' }]),
    })
  const create = () =>
    fetch(`${server.url}/api/client/journeys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Welcome' }),
    })
  const setReadOnly = async (value: 'on' | 'off') => {
    await rowsOf(`${url}&options=-c%20default_transaction_read_only%3Doff`, `alter system set default_transaction_read_only = ${value}`)
    await rowsOf(url, 'select pg_reload_conf()')
  }
  // Several connections at once, so that some are idle afterwards.
  expect((await Promise.all(Array.from({ length: 8 }, create))).map(({ status }) => status)).toEqual(Array(8).fill(201))
  expect([(await send()).status, (await fetch(`${server.url}/readyz`)).status]).toEqual([204, 200])
  const before = await backends(url)

  await setReadOnly('on')
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 5000 }).toBe(503)
  expect(await (await fetch(`${server.url}/readyz`)).json()).toMatchObject({ checks: { database: 'read-only' } })
  for (const request of [send, create, send, create]) {
    const reply = await request()
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5'])
  }

  await setReadOnly('off')
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 5000 }).toBe(200)
  expect((await Promise.all(Array.from({ length: 8 }, create))).map(({ status }) => status)).toEqual(Array(8).fill(201))
  expect((await send()).status).toBe(204)
  const after = await backends(url)
  expect(after.filter((pid) => before.includes(pid))).toEqual([])
})
