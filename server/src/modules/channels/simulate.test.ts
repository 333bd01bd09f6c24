import { afterAll, beforeAll, expect, test } from 'vitest'
import { providerOf } from '../../../test/mailing.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { type World, world } from '../../../test/world.ts'
import type { MessageId } from '../../lib/ids.ts'
import { connectProvider } from './connections.ts'
import { email } from './kinds.ts'
import type { ProviderResponse } from './provider.ts'
import * as recordings from './providers/recorded/index.ts'
import { PROVIDER_NAMES, providers } from './registry.ts'
import { simulate, simulatedFor } from './simulate.ts'

test('a slow address is accepted after ten seconds', async () => {
  const clock = createTestClock()
  const accepted: ProviderResponse = { is: 'accepted', delivered: true }
  let calls = 0
  const response = simulate('slow', { clock }, async () => {
    calls += 1
    return accepted
  })
  clock.advance('9 seconds')
  await Promise.resolve()
  expect(calls).toBe(0)
  clock.advance('1 second')
  expect(await response).toEqual(accepted)
  expect(calls).toBe(1)
})

test('only addresses of email are simulated', () => {
  expect(simulatedFor({ channel: 'webhook', recipient: 'bounce@simulator.carillon.example' })).toBeNull()
  expect(simulatedFor({ channel: 'email', recipient: 'bounce@simulator.carillon.example' })).toBe('bounce')
})

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

const recorded = { ...recordings }
const OF_EMAIL = PROVIDER_NAMES.filter((name) => providers[name].channels.includes('email'))

test.each(OF_EMAIL)('every address of the simulator acts out its outcome with the provider %s, which sends nothing', async (kind) => {
  const recording = recorded[kind]
  const settings = recording && 'settings' in recording ? recording.settings({ host: '127.0.0.1', port: 1 }) : {}
  const connection = await connectProvider(w.ctx, 'email', await providerOf(w, { kind, channel: 'email', settings }))
  expect(connection.provider).toBe(kind)
  const send = async (name: string) => {
    const recipient = `${name}@simulator.carillon.example`
    const content = { ...email.sample.content, to: recipient }
    const message = { id: 1 as MessageId, key: 'k', channel: 'email' as const, summary: '', recipient, content, headers: {}, devices: [] }
    return (await connection.send(message)).outcome
  }
  expect(await send('bounce')).toMatchObject({ is: 'rejected', bounced: true, code: '5.1.1' })
  expect(await send('complaint')).toMatchObject({ is: 'accepted', complained: true })
  expect(await send('deferred')).toMatchObject({ is: 'deferred', code: '4.7.1' })
  expect(await send('ana')).toMatchObject({ is: 'accepted', delivered: true })
  const slow = send('slow')
  await Promise.resolve()
  w.advance('10 seconds')
  expect(await slow).toMatchObject({ is: 'accepted', delivered: true })
})
