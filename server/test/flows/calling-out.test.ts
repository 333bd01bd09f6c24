/** Operations that wait for other servers hold no database connection meanwhile (D-IDEM-4). */
import { describe, expect, test } from 'vitest'
import { routes } from '../all-routes.ts'
import { blastTo, listOf, pathOf } from '../blasts.ts'
import { sendOver } from '../mailing.ts'
import { openSilentHost } from '../silent-host.ts'
import { type World, world } from '../world.ts'

/** More than the connections of a world. */
const CALLS = 50

/** Operations that wait for other servers. Utilities do too; they ignore the Idempotency-Key. */
const CALLING_OUT = [
  'POST /api/client/campaigns/{campaignId}/test',
  'POST /api/client/domains/{domainId}/verify',
  'POST /api/client/providers/{providerId}/test',
  'POST /api/client/sandbox/messages/{messageId}/release',
]

const testsOf: Record<string, (w: World, providerId: number) => Promise<{ path: string; body?: object; connections: number }>> = {
  'a test of a provider': async (_, id) => ({ path: `/api/client/providers/${id}/test`, connections: CALLS }),
  'a test of a campaign': async (w, provider_id) => {
    const campaign = await blastTo(w, [await listOf(w, 'ana')], { provider_id })
    return { path: `${pathOf(campaign)}/test`, body: { to: ['kim@example.com'] }, connections: 1 }
  },
}

describe('while 50 requests wait for a host that says nothing', () => {
  test.each(Object.keys(testsOf).flatMap((what) => [[what, 'with'] as const, [what, 'without'] as const]))(
    'with %s, %s an Idempotency-Key, others are answered',
    async (what, keyed) => {
      await using silent = await openSilentHost()
      await using w = await world({ own: true })
      const { path, body, connections } = await (testsOf[what] as (typeof testsOf)[string])(w, await sendOver(w, silent))
      let answered = 0
      const calls = Array.from({ length: CALLS }, async (_, index) => {
        const reply = await w.post(path, body, { headers: keyed === 'with' ? { 'idempotency-key': `call ${index}` } : {} })
        answered++
        return reply.status
      })
      await silent.reached(connections)
      const others = await Promise.all([
        w.get('/api/client/users'),
        w.post('/api/client/users/batch', [{ external_id: 'kim' }]),
        w.post('/api/client/journeys', { name: 'Meanwhile' }, { headers: { 'idempotency-key': 'meanwhile' } }),
        w.post('/api/client/events', [{ name: 'x', external_id: 'kim' }]),
      ])
      expect([others.map(({ status }) => status), answered]).toEqual([[200, 200, 201, 204], 0])
      silent.release()
      expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
    },
  )
})

test('the operations that wait for other servers are these', () => {
  const found = routes.filter(({ records }) => records === 'around_call').map(({ method, path }) => `${method} ${path}`)
  expect(found.sort()).toEqual(CALLING_OUT)
})
