import { createHmac } from 'node:crypto'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { blastTo, listOf, schedule } from '../../../test/blasts.ts'
import { openRelay } from '../../../test/relay.ts'
import { select } from '../../../test/select.ts'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { createSecrets } from '../../infra/runtime/secrets.ts'
import type { MessageId, ProviderId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { connectProvider, hasProvider, type Outgoing, type ProviderConnection, readProviderCallback } from './index.ts'

const PATH = '/api/client/providers'
const resend = { name: 'Resend', kind: 'resend', channel: 'email', settings: { api_key: 're_secret', default_from: 'hello@example.com' } }
const relay = (settings: object = {}) => ({
  name: 'Relay',
  kind: 'smtp',
  channel: 'email',
  settings: { host: '127.0.0.1', port: 2525, tls: 'none', default_from: 'hello@example.com', ...settings },
})

const made = async (w: World, body: object) => {
  const reply = await w.post(PATH, body)
  expect(reply.status).toBe(201)
  return reply.body
}

const message: Outgoing = {
  id: 42 as MessageId,
  key: 'k-42',
  channel: 'email',
  recipient: 'kim@example.org',
  summary: 'Hello',
  content: { to: 'kim@example.org', subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' },
  headers: {},
  devices: [],
}

describe('a provider', () => {
  test('is returned without its secrets, but with their names', async () => {
    await using w = await world()
    const reply = await w.post(PATH, { ...resend, rate: { limit: 10, interval_seconds: 1 } })
    const { id } = reply.body
    expect(reply.headers.location).toBe(`${PATH}/${id}`)
    expect(reply.body).toEqual({
      id: expect.any(Number),
      project_id: w.projectId,
      name: 'Resend',
      kind: 'resend',
      channel: 'email',
      settings: { default_from: 'hello@example.com' },
      has_secrets: ['api_key'],
      is_default: true,
      segment_price: null,
      rate: { limit: 10, interval_seconds: 1 },
      callback_url: `http://carillon.test/callbacks/providers/${id}`,
      created_at: '2026-11-23T09:00:00.000Z',
      updated_at: '2026-11-23T09:00:00.000Z',
    })
    expect((await w.get(`${PATH}/${id}`)).body).toEqual(reply.body)
    expect((await w.get(PATH)).body.results).toEqual([reply.body])
    const stored = await w.db.many(
      Type.Object({ row: Type.String() }),
      sql`select providers::text as row from providers where project_id = ${w.projectId}`,
    )
    expect(stored).toHaveLength(1)
    expect(JSON.stringify(stored)).not.toContain('re_secret')
  })

  test('keeps secrets that a change does not contain, and deletes those that are null', async () => {
    await using w = await world()
    const { id } = await made(w, { ...resend, settings: { ...resend.settings, webhook_secret: 'whsec_MTIzNDU2Nzg5MDEyMzQ1Ng==' } })
    w.advance('1 hour')
    const changed = await w.patch(`${PATH}/${id}`, { settings: { default_from: 'bells@example.com' } })
    expect(changed.body).toMatchObject({
      settings: { default_from: 'bells@example.com' },
      has_secrets: ['api_key', 'webhook_secret'],
      updated_at: '2026-11-23T10:00:00.000Z',
    })
    const without = await w.patch(`${PATH}/${id}`, { settings: { webhook_secret: null } })
    expect(without.body).toMatchObject({ settings: { default_from: 'bells@example.com' }, has_secrets: ['api_key'] })
    expect((await w.patch(`${PATH}/${id}`, { settings: { api_key: null } })).body).toMatchObject({
      code: 'parameter_missing',
      error: { param: 'settings.api_key' },
    })
  })

  test.each([{}, { name: 'Resend' }, { settings: {} }, { settings: { api_key: 're_secret' } }, { rate: null }, { is_default: true }])(
    'is unchanged by %j',
    async (changes) => {
      await using w = await world()
      const before = await made(w, resend)
      w.advance('1 hour')
      expect((await w.patch(`${PATH}/${before.id}`, changes)).body).toEqual(before)
    },
  )

  test('with a new secret has a new `updated_at`', async () => {
    await using w = await world()
    const { id } = await made(w, resend)
    w.advance('1 hour')
    expect((await w.patch(`${PATH}/${id}`, { settings: { api_key: 're_other' } })).body.updated_at).toBe('2026-11-23T10:00:00.000Z')
  })

  test.each<[string, object, string, string]>([
    ['an unknown kind', { ...resend, kind: 'pigeon' }, 'parameter_invalid_format', 'kind'],
    ['a channel that it does not support', { ...resend, channel: 'text' }, 'validation_failed', 'channel'],
    ['a missing setting', { ...resend, settings: {} }, 'parameter_missing', 'settings.api_key'],
    ['an unknown setting', { ...resend, settings: { ...resend.settings, key: 'x' } }, 'parameter_unknown', 'settings.key'],
    ['a setting of another type', { ...resend, settings: { api_key: 1 } }, 'parameter_invalid_format', 'settings.api_key'],
    ['an empty setting', { ...resend, settings: { api_key: ' ' } }, 'parameter_invalid_empty', 'settings.api_key'],
    ['settings that are not an object', { ...resend, settings: [] }, 'parameter_invalid_format', 'settings'],
    ['an invalid port', relay({ port: 0 }), 'validation_failed', 'settings.port'],
    ['an invalid host', relay({ host: 'not a host' }), 'parameter_invalid_format', 'settings.host'],
    ['a user name without a password', relay({ username: 'kim' }), 'validation_failed', 'settings.password'],
    ['an invalid sender', relay({ default_from: 'Carillon' }), 'validation_failed', 'settings.default_from'],
    ['a control character', relay({ default_from: 'a\u0001b@example.com' }), 'parameter_invalid_format', 'settings.default_from'],
    ['a rate of zero', { ...resend, rate: { limit: 0, interval_seconds: 1 } }, 'validation_failed', 'rate.limit'],
    ['an empty name', { ...resend, name: '' }, 'parameter_invalid_empty', 'name'],
  ])('is refused with %s', async (_, body, code, param) => {
    await using w = await world()
    const reply = await w.post(PATH, body)
    expect(reply.body).toMatchObject({ code, error: { param } })
    expect(reply.body.message).toContain(`\`${param}\``)
    expect((await w.get(PATH)).body.results).toEqual([])
  })

  test('of another project does not exist', async () => {
    await using w = await world()
    const { id } = await made(w, resend)
    const { keys } = await w.other()
    for (const [method, path, body] of [
      ['GET', `${PATH}/${id}`, undefined],
      ['PATCH', `${PATH}/${id}`, { name: 'Mine' }],
      ['DELETE', `${PATH}/${id}`, undefined],
      ['POST', `${PATH}/${id}/test`, undefined],
    ] as const) {
      expect((await w.request(method, path, body, { key: keys.secret })).status).toBe(404)
    }
    expect((await w.get(PATH, { key: keys.secret })).body.results).toEqual([])
  })
})

describe('the default of a channel', () => {
  const defaults = async (w: World) =>
    (await w.get(`${PATH}?direction=asc`)).body.results.map(({ is_default }: { is_default: boolean }) => is_default)

  test('is its first provider, until another one is set', async () => {
    await using w = await world()
    await made(w, resend)
    const second = await made(w, relay())
    expect(await defaults(w)).toEqual([true, false])
    await w.patch(`${PATH}/${second.id}`, { is_default: true })
    expect(await defaults(w)).toEqual([false, true])
    await made(w, { ...resend, is_default: true })
    expect(await defaults(w)).toEqual([false, false, true])
    await made(w, { name: 'Sandbox', kind: 'sandbox', channel: 'text', settings: {} })
    expect(await defaults(w)).toEqual([false, false, true, true])
  })

  test('is only one, even if several are set at the same time', async () => {
    await using w = await world()
    const replies = await Promise.all(Array.from({ length: 8 }, () => w.post(PATH, { ...resend, is_default: true })))
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201))
    expect((await defaults(w)).filter(Boolean)).toHaveLength(1)
    const ids = replies.map(({ body }) => body.id)
    await Promise.all(ids.map((id) => w.patch(`${PATH}/${id}`, { is_default: true })))
    expect((await defaults(w)).filter(Boolean)).toHaveLength(1)
  })

  test('can be removed', async () => {
    await using w = await world()
    const { id } = await made(w, resend)
    await w.patch(`${PATH}/${id}`, { is_default: false })
    expect(await defaults(w)).toEqual([false])
    expect(await connectProvider(w.ctx, 'email', null)).toMatchObject({ provider: 'sandbox' })
  })
})

describe('the provider of a message', () => {
  const connection = (w: World, channel: Channel, id: number | null): Promise<ProviderConnection> =>
    connectProvider(w.ctx, channel, id as ProviderId | null)

  test('is the given one, or else the default of the channel, or else the sandbox', async () => {
    await using w = await world()
    expect(await connection(w, 'email', null)).toMatchObject({ provider: 'sandbox', providerId: null, repeatable: true, rate: null })
    const first = await made(w, { ...resend, rate: { limit: 5, interval_seconds: 2 } })
    const second = await made(w, relay())
    expect(await connection(w, 'email', null)).toMatchObject({
      provider: 'resend',
      providerId: first.id,
      repeatable: false,
      idempotent: true,
      rate: { limit: 5, interval_ms: 2000 },
    })
    expect(await connection(w, 'email', second.id)).toMatchObject({
      provider: 'smtp',
      providerId: second.id,
      idempotent: false,
      rate: null,
    })
    expect(await connection(w, 'text', second.id)).toMatchObject({ provider: 'sandbox' })
    await w.delete(`${PATH}/${second.id}`)
    expect(await connection(w, 'email', second.id)).toMatchObject({ provider: 'resend' })
    await w.delete(`${PATH}/${first.id}`)
    expect(await connection(w, 'email', null)).toMatchObject({ provider: 'sandbox' })
  })

  test('is never one of another project', async () => {
    await using w = await world()
    const { id } = await made(w, resend)
    const other = await w.other()
    expect(await connectProvider(other.ctx, 'email', id)).toMatchObject({ provider: 'sandbox' })
  })

  test('sends with its current settings', async () => {
    await using w = await world({ own: true })
    await using server = await openRelay({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, authOptional: false })
    const { id } = await made(w, relay({ port: server.port, username: 'kim', password: 'wrong' }))
    const send = async () => (await (await connection(w, 'email', null)).send(message)).outcome
    expect(await send()).toMatchObject({ is: 'deferred', code: '5.7.8' })
    await w.patch(`${PATH}/${id}`, { settings: { password: 'secret' } })
    expect(await send()).toMatchObject({ is: 'accepted', reference: '<k-42@example.com>' })
    expect(server.mails).toMatchObject([{ from: 'hello@example.com', to: ['kim@example.org'], user: 'kim' }])
    const { text } = await w.get('/metrics', { key: null })
    expect(text).toContain('app_messages_total{channel="email",provider="smtp",outcome="accepted"} 1')
  })

  test('defers messages if its secrets cannot be decrypted', async () => {
    await using w = await world()
    const { id } = await made(w, resend)
    const ctx = { ...w.ctx, secrets: createSecrets([`other:${Buffer.alloc(32, 8).toString('base64')}`]) }
    // Decrypted secrets are cached by their ciphertext, so this uses one that was never decrypted.
    await w.patch(`${PATH}/${id}`, { settings: { api_key: 're_never_opened' } })
    const lost = await connectProvider(ctx, 'email', null)
    expect((await lost.send(message)).outcome).toMatchObject({ is: 'deferred', code: 'secrets' })
  })

  test('counts as a provider of the project, unless it is the sandbox', async () => {
    await using w = await world()
    expect(await hasProvider(w.ctx, w.projectId)).toBe(false)
    await made(w, { name: 'Sandbox', kind: 'sandbox', channel: 'email', settings: {} })
    expect(await hasProvider(w.ctx, w.projectId)).toBe(false)
    const { id } = await made(w, resend)
    expect(await hasProvider(w.ctx, w.projectId)).toBe(true)
    await w.delete(`${PATH}/${id}`)
    expect(await hasProvider(w.ctx, w.projectId)).toBe(false)
  })
})

describe('a provider test', () => {
  test.each<[string, object, object]>([
    ['the right password', { username: 'kim', password: 'secret' }, { works: true }],
    ['a wrong password', { username: 'kim', password: 'wrong' }, { works: false, message: 'The relay replied: 535 5.7.8 Wrong password' }],
  ])('reports if it works, with %s', async (_, login, expected) => {
    await using w = await world()
    await using server = await openRelay({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, authOptional: false })
    const { id } = await made(w, relay({ port: server.port, ...login }))
    expect(await w.post(`${PATH}/${id}/test`)).toMatchObject({ status: 200, body: expected })
    expect(server.mails).toEqual([])
  })

  test('applies the egress policy', async () => {
    await using w = await world()
    const { id } = await made(w, relay({ host: '10.0.0.1' }))
    expect((await w.post(`${PATH}/${id}/test`)).body).toEqual({
      works: false,
      message: 'The relay has no address that this server may connect to.',
    })
  })
})

test('the schemas of settings have write-only secrets and none of our own keywords', async () => {
  await using w = await world()
  const { results } = (await w.get(`${PATH}/meta`)).body
  expect(results.map(({ name }: { name: string }) => name)).toContain('sandbox')
  expect(results.find(({ name }: { name: string }) => name === 'resend')).toMatchObject({
    label: 'Resend',
    channels: ['email'],
    has_callbacks: true,
    settings: {
      type: 'object',
      required: ['api_key'],
      properties: { api_key: { type: 'string', title: 'API key', writeOnly: true }, default_from: { type: 'string', title: 'Sender' } },
    },
  })
  expect(JSON.stringify(results)).not.toMatch(/"(trim|notBlank|problem)"/)
})

describe('a provider callback', () => {
  const secret = Buffer.from('a secret of the webhook')
  const body = JSON.stringify({
    type: 'email.delivered',
    created_at: '2026-11-23T08:59:00Z',
    data: { email_id: 'r-1', tags: { message_id: '42' } },
  })
  const signed = (now: Date, text = body) => {
    const time = String(now.getTime() / 1000)
    const signature = createHmac('sha256', secret).update(`msg_1.${time}.${text}`).digest('base64')
    return { 'svix-id': 'msg_1', 'svix-timestamp': time, 'svix-signature': `v1,${signature}` }
  }
  const call = (w: World, path: string, headers: Record<string, string>, method = 'POST') =>
    w.request(method, path, undefined, { key: null, headers, ...(method === 'POST' && { raw: body }) })

  /** Creates a provider, and records the reports. */
  async function configured(w: World) {
    const { id } = await made(w, { ...resend, settings: { ...resend.settings, webhook_secret: `whsec_${secret.toString('base64')}` } })
    return { id, path: `/callbacks/providers/${id}` }
  }

  test('is only accepted with a valid signature', async () => {
    await using w = await world()
    const { path } = await configured(w)
    expect((await call(w, path, signed(w.clock.now()))).status).toBe(204)
    const forged = await call(w, path, { ...signed(w.clock.now()), 'svix-signature': 'v1,AAAA' })
    expect(forged).toMatchObject({ status: 400, body: { code: 'webhook_signature_invalid', status: 'error' } })
    expect((await call(w, path, signed(w.clock.now()), 'GET')).body).toMatchObject({ code: 'webhook_signature_invalid' })
  })

  test('is answered with 503 while the secrets of the provider cannot be decrypted, so that it is repeated', async () => {
    await using w = await world()
    const { id, path } = await configured(w)
    const sealed = (text: string) => sql`update providers set sealed = ${text} where project_id = ${w.projectId} and id = ${id}`
    const before = await w.db.value(Type.String(), sql`select sealed from providers where project_id = ${w.projectId} and id = ${id}`)
    await w.db.run(sealed(`${before}x`))
    expect((await call(w, path, signed(w.clock.now()))).status).toBe(503)
    await w.db.run(sealed(before))
    expect((await call(w, path, signed(w.clock.now()))).status).toBe(204)
  })

  test.each(['999999', '0', 'x'])('is refused for the provider %s', async (id) => {
    await using w = await world()
    const { status } = await call(w, `/callbacks/providers/${id}`, signed(w.clock.now()))
    expect(status).toBe(id === 'x' ? 400 : 404)
  })

  test('is refused for a provider that was deleted or has no callbacks', async () => {
    await using w = await world()
    const { id, path } = await configured(w)
    const mute = await made(w, relay())
    expect(mute.callback_url).toBeNull()
    expect((await call(w, `/callbacks/providers/${mute.id}`, signed(w.clock.now()))).status).toBe(404)
    await w.delete(`${PATH}/${id}`)
    expect((await call(w, path, signed(w.clock.now()))).status).toBe(404)
  })

  test.each([
    ['U+0000 in its text', 'r-1', 'No \0 such user'],
    ['U+0000 in its id', 'r-1\0', 'No such user'],
    ['a half of a surrogate pair in its text', 'r-1', 'No \ud83d such user'],
  ])('with %s is applied', async (_, email_id, message) => {
    await using w = await world()
    const receiver = await w.receiver()
    await w.post('/api/client/webhooks', { name: 'Bounces', url: receiver.url, event_types: ['delivery.dsn-perm-fail'] })
    await schedule(w, await blastTo(w, [await listOf(w, 'ana')]))
    await w.drain()
    const [sent] = await select(w, 'select id::int, campaign_id from messages where project_id = $1', [w.projectId])
    const { id, path } = await configured(w)
    // As if that had sent it.
    await w.db.run(sql`update messages set provider_id = ${id} where project_id = ${w.projectId}`)
    const data = { email_id, to: ['ana@example.com'], tags: { message_id: String(sent?.id) }, bounce: { type: 'Permanent', message } }
    const raw = JSON.stringify({ type: 'email.bounced', created_at: '2026-11-23T08:59:00Z', data })
    expect((await w.request('POST', path, undefined, { key: null, headers: signed(w.clock.now(), raw), raw })).status).toBe(204)
    await w.drain()
    expect(receiver.requests.map(({ json }) => json.data)).toMatchObject([
      { message_id: sent?.id, to: 'ana@example.com', suppressed: true },
    ])
    expect((await w.get('/api/client/suppressions')).body.results).toMatchObject([{ address: 'ana@example.com', reason: 'hard_bounce' }])
  })

  test('is handled in the project of the provider', async () => {
    await using w = await world()
    const { id, path } = await configured(w)
    const rest = { query: new URLSearchParams(), url: path, method: 'POST', address: '192.0.2.1', requestId: 'req_1' }
    const { projectId: _, project: __, caller: ___, ...ctx } = w.ctx
    const callback = await readProviderCallback(ctx, {
      ...rest,
      params: { providerId: String(id) },
      headers: signed(w.clock.now()),
      body: Buffer.from(body),
    })
    expect(callback).toMatchObject({ providerId: id, reply: { status: 204 }, ctx: { projectId: w.projectId } })
    expect(callback.reports).toEqual([{ what: 'delivered', messageId: 42, reference: 'r-1', at: new Date('2026-11-23T08:59:00Z') }])
  })
})
