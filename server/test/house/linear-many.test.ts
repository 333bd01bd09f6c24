/** Whatever is done with many members, items, steps or ids of a caller takes time linear in their number. `linear.test.ts` does the same with a long text. */
import { describe, expect, test } from 'vitest'
import type { JourneyId, UserId } from '../../src/lib/ids.ts'
import type { Callback, ProviderTools } from '../../src/modules/channels/provider.ts'
import { providers } from '../../src/modules/channels/registry.ts'
import { linkFaults } from '../../src/modules/journeys/publishable.ts'
import type { Step } from '../../src/modules/journeys/schema.ts'
import { applyProfile, noUsers, type UserRecord, type Users } from '../../src/modules/users/identity.ts'
import { createTestClock } from '../test-clock.ts'
import { slowWithMany } from './adversarial.ts'

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

describe('identity', () => {
  const NOW = new Date('2026-11-23T12:00:00.000Z')
  const apply = (users: Users, external_id: string, anonymous_id: string) =>
    applyProfile(users, { external_id, anonymous_id }, NOW, () => null)

  test('of a user with many anonymous ids takes linear time', () => {
    const workOf = (count: number) => () => {
      const users = noUsers()
      for (const at of times(count)) apply(users, 'undefined', `visitor-${at}`)
      const [owner] = users.created as Set<UserRecord>
      expect(owner?.aliases.size).toBe(count)
    }
    expect(slowWithMany(workOf, 65_536)).toBeNull()
  })

  test('of many merges takes linear time', () => {
    const workOf = (count: number) => {
      const users = noUsers()
      for (const at of times(count)) {
        applyProfile(users, { anonymous_id: `visitor-${at}` }, NOW, () => null)
        applyProfile(users, { external_id: `user-${at}` }, NOW, () => null)
      }
      for (const [at, user] of [...users.created].entries()) user.id = (at + 1) as UserId
      return () => {
        for (const at of times(count)) apply(users, `user-${at}`, `visitor-${at}`)
        expect(users.merges).toHaveLength(count)
      }
    }
    expect(slowWithMany(workOf, 16_384)).toBeNull()
  })
})

test('a graph with many links to its own journey is checked in linear time', () => {
  const step = (external_id: string, type: string, data: object, ...to: string[]) =>
    ({ external_id, type, data, children: to.map((external_id) => ({ external_id })) }) as unknown as Step
  const ENTRANCES = 10
  const workOf = (count: number) => {
    const links = times(count).map((at) => step(`link-${at}`, 'link', { journey_id: 1 }))
    const entrances = times(ENTRANCES).map((at) => step(`entrance-${at}`, 'entrance', {}, ...links.map(({ external_id }) => external_id)))
    return () => expect(linkFaults(1 as JourneyId, [...entrances, ...links], () => [])).toHaveLength(count)
  }
  expect(slowWithMany(workOf, 16_384)).toBeNull()
})
