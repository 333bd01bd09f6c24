import { describe, expect, test } from 'vitest'
import type { MessageId } from '../../lib/ids.ts'
import { CHANNELS } from '../../lib/shapes.ts'
import type { Outgoing, Provider, ProviderTools } from './provider.ts'
import * as providers from './providers/index.ts'

describe('providers', () => {
  const registered: [string, Provider][] = Object.entries(providers)

  test('the sandbox supports every channel', () => expect(providers.sandbox.channels).toEqual(CHANNELS))

  test.each(CHANNELS)('%s has one besides the sandbox', (channel) => {
    expect(registered.filter(([name, { channels }]) => name !== 'sandbox' && channels.includes(channel))).not.toEqual([])
  })

  test('only those that do not leave the database are repeatable', () => {
    expect(registered.filter(([, { repeatable }]) => repeatable).map(([name]) => name)).toEqual(['discard', 'inbox', 'mta', 'sandbox'])
  })

  test.each([
    ['sandbox', providers.sandbox, 'sandbox'],
    ['inbox', providers.inbox, 'inbox'],
  ])('the %s stores no device token', async (_, provider, member) => {
    const kept = { channel: 'in_app' as const, recipient: 'ana', summary: 'Hello', content: { title: 'Hello' } }
    const devices = [{ device_id: 'phone', os: 'iOS', token: 'secret' }]
    const message: Outgoing = { ...kept, id: 1 as MessageId, key: 'k', headers: { 'X-A': 'b' }, devices }
    expect(await provider.send({}, message, {} as ProviderTools)).toEqual({ is: 'accepted', delivered: true, [member]: kept })
    expect(await provider.test({}, {} as ProviderTools)).toEqual({ works: true })
  })
})
