/** Writes as code for others: the last one is kept as it was sent, and no secret of the API is in what is copied. */
import { readFileSync } from 'node:fs'
import { createClient } from '@carillon/sdk'
import { expect, test } from 'vitest'
import { samplesOf } from '../src/parts/request-code.ts'
import { withoutSecrets } from '../src/parts/secrets.ts'
import { keepingLastWrite, lastWrite, saying, writeOfSaid } from '../src/session/last-write.ts'

type Schema = { writeOnly?: boolean; properties?: Record<string, Schema> }

/** The names of all members of the API that are only written. */
function secretsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { properties = {} } = value as Schema
  const own = Object.entries(properties).flatMap(([name, { writeOnly }]) => (writeOnly ? [name] : []))
  return [...own, ...Object.values(value).flatMap(secretsOf)]
}

const described = JSON.parse(readFileSync(new URL('../../server/openapi.json', import.meta.url), 'utf8'))
const secrets = [...new Set(secretsOf(described))]

test('of a write, everything that the API keeps secret is masked, and credentials in headers', () => {
  expect(secrets.length).toBeGreaterThan(10)
  const names = [...secrets, 'Authorization', 'X-Api-Key']
  const body = {
    name: 'Order hook',
    settings: Object.fromEntries(names.map((name) => [name, `hidden ${name}`])),
    items: [{ password: 'hidden' }],
  }
  const write = { method: 'PATCH', path: '/api/client/providers/{providerId}', params: { providerId: 7 }, body } as const
  const code = samplesOf(withoutSecrets(write), 'https://example.com')
  for (const { text } of code) expect(text).not.toContain('hidden')
  expect(code[0]?.text).toContain('"name": "Order hook"')
})

test('the last write is kept as it was sent, without its idempotency key, and neither reads, failures nor files are', async () => {
  let status = 200
  const headers = { 'content-type': 'application/json', 'service-version': '2026-11-20' }
  const client = keepingLastWrite(createClient({ fetch: async () => new Response('{}', { status, headers }) }))
  const write = {
    method: 'POST',
    path: '/api/client/webhooks/{endpointId}/test',
    params: { endpointId: 3 },
    body: { event_type: 'user.created' },
  }
  await client.post('/api/client/webhooks/{endpointId}/test', {
    path: { endpointId: 3 },
    body: { event_type: 'user.created' } as never,
    idempotencyKey: 'once',
  })
  expect(lastWrite()).toEqual(write)
  await client.get('/api/client/users')
  await client.post('/api/client/users/search', { body: { rule: { attribute: 'email', is_set: true } } })
  status = 422
  await expect(client.delete('/api/client/webhooks/{endpointId}', { path: { endpointId: 3 } })).rejects.toThrow()
  expect(lastWrite()).toEqual(write)
  saying(lastWrite(), () => expect(writeOfSaid()).toEqual(write))
  expect(writeOfSaid()).toBeNull()
  status = 200
  await client.post('/api/client/lists/{listId}/import', { path: { listId: 1 }, body: new Blob(['a,b']) } as never)
  expect(lastWrite()).toBeNull()
})
