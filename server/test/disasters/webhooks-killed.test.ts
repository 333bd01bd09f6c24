/** A worker that is killed while it delivers webhook events. Observed at the receiver. */
import { cp } from 'node:fs/promises'
import { expect, inject, test, vi } from 'vitest'
import { temporaryDir } from '../child-server.ts'
import { openReceiver } from '../receiver.ts'
import { rowsOf } from '../statements.ts'
import { caller } from './blast.ts'
import { startGroup } from './group.ts'

const DELIVERIES = 60

test('a worker killed with the oldest deliveries of an endpoint: another sends the others at once, and these when the lease ends', {
  timeout: 120_000,
}, async () => {
  await using dir = await temporaryDir()
  await using receiver = await openReceiver()
  // The servers trust the authority that issued the certificate of the receiver.
  await cp(inject('authorityDir'), dir.path, { recursive: true, filter: (path) => !path.endsWith('/postgres') })
  await using group = await startGroup(['api'], { env: { DATA_DIR: dir.path } })
  const call = caller(group.urls[0] as string, group.key)
  const endpoint = await call('POST', '/webhooks', { name: 'Depot', url: receiver.url, event_types: ['delivery.failed'] })
  for (let sent = 0; sent < DELIVERIES; sent++) await call('POST', `/webhooks/${endpoint.id}/test`)
  receiver.answer('hang')
  const killed = await group.start('worker')
  const received = () => receiver.requests.map(({ json }) => json.id as string)
  await vi.waitFor(() => expect(received().length).toBeGreaterThanOrEqual(10), { timeout: 30_000 })
  await killed.end('SIGKILL')
  const leased = (
    await rowsOf<{ event_id: string }>(group.databaseUrl, 'select event_id from webhook_deliveries where lease_until > now() order by id')
  ).map(({ event_id }) => event_id)
  expect(leased.length).toBeGreaterThanOrEqual(10)

  receiver.answer(200)
  receiver.requests.length = 0
  await using _ = await group.start('worker')
  await vi.waitFor(() => expect(new Set(received()).size).toBe(DELIVERIES), { timeout: 50_000 })
  // All others came before the first of those that the dead worker had leased.
  expect(received().findIndex((id) => leased.includes(id))).toBe(DELIVERIES - leased.length)
})
