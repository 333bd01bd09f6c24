/** What is read of a callback before its signature is checked takes time linear in the number of its members: anyone can send it. */
import { describe, expect, test } from 'vitest'
import { slowWithMany } from '../../../test/house/adversarial.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import type { Callback, ProviderTools } from './provider.ts'
import { providers } from './registry.ts'

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

describe('a callback without a valid signature', () => {
  const BODIES: [string, (count: number) => string][] = [
    ['a form', (count) => times(count).join('&')],
    [
      'a form of one name',
      (count) =>
        times(count)
          .map((at) => `a=${at}`)
          .join('&'),
    ],
    ['JSON', (count) => JSON.stringify(Object.fromEntries(times(count).map((at) => [`a${at}`, at])))],
    ['a JSON array', (count) => JSON.stringify(times(count).map((at) => ({ a: at })))],
  ]
  // Any setting is a text.
  const settings = new Proxy({}, { get: () => 'secret' })
  const tools = { clock: createTestClock() } as unknown as ProviderTools
  const kinds = Object.entries(providers).flatMap(([kind, { read }]) =>
    read ? BODIES.map(([body, bodyOf]) => ({ kind, body, bodyOf, read })) : [],
  )

  test.each(kinds)('of $kind with $body of many members takes linear time', ({ bodyOf, read }) => {
    const workOf = (count: number) => {
      const headers = {
        'content-type': 'application/json',
        'x-twilio-signature': 'x',
        'x-plivo-signature-v3': 'x',
        'x-plivo-signature-v3-nonce': 'x',
      }
      const callback: Callback = {
        url: 'https://example.com/callbacks/providers/1',
        headers,
        query: new URLSearchParams(),
        body: Buffer.from(bodyOf(count)),
      }
      return async () => {
        try {
          await read(settings as never, callback, tools)
        } catch {
          // Refused.
        }
      }
    }
    expect(slowWithMany(workOf, 65_536)).toBeNull()
  })
})
