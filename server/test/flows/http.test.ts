/** The HTTP contract of all endpoints (D-HTTP, D-ERR, D-VAL, D-VER, D-RATE). */
import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createRateLimits } from '../../src/infra/http/rate-limits.ts'
import { sql } from '../../src/infra/postgres/db.ts'
import { ERROR_STATUS } from '../../src/lib/errors.ts'
import { HOUR_MS } from '../../src/lib/times.ts'
import { type Reply, type RequestOptions, type World, world } from '../world.ts'

const USERS = '/api/client/users'
const BATCH = '/api/client/users/batch'
const JSON_LIMIT = 1_048_576
const FORM_LIMIT = 262_144

/** The status and the reason, member or code of an error. */
const errorOf = ({ status, body }: { status: number; body: any }) => [status, body?.error.reason ?? body?.error.param ?? body?.code]

const json = (raw: string | Buffer, headers: Record<string, string> = {}): RequestOptions => ({
  raw,
  headers: { 'content-type': 'application/json', ...headers },
})

test.each(['Bearer', 'Bearer ', 'bearer   '])('the header `%s` is told that its key is empty', async (authorization) => {
  await using w = await world()
  const reply = await w.get(USERS, { key: null, headers: { authorization } })
  expect(reply).toMatchObject({ status: 401, body: { error: { reason: 'key_missing' } } })
  expect(reply.body.message).toContain('no key after `Bearer`')
})

test('several faults of one code are summed up by it', async () => {
  await using w = await world()
  const missing = await w.post('/api/client/subscriptions', {})
  expect(missing.body).toMatchObject({ code: 'parameter_missing', message: '2 parameters are missing.' })
  const unknown = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', colour: 'red', size: 1 })
  expect(unknown.body).toMatchObject({ code: 'parameter_unknown', message: '2 parameters are not recognised.' })
  const mixed = await w.post('/api/client/subscriptions', { colour: 'red' })
  expect(mixed.body).toMatchObject({ code: 'validation_failed', message: '3 parameters are invalid.' })
})

describe('of several errors in a request, the reply reports (D-HTTP-1)', () => {
  type Case = [string, (w: World) => Promise<unknown>, unknown[]]
  const version = { 'service-version': '2019-01-01' }
  const cases: Case[] = [
    ['an unknown path before the missing key', async (w) => errorOf(await w.get('/api/client/nothing', { key: null })), [404, 'route']],
    ['a wrong method before the missing key', async (w) => errorOf(await w.put(USERS, {}, { key: null })), [405, 'method']],
    [
      'the missing key before an invalid body',
      async (w) => errorOf(await w.post(BATCH, undefined, { key: null, ...json('{') })),
      [401, 'key_missing'],
    ],
    [
      'the missing key before an invalid version',
      async (w) => errorOf(await w.get(USERS, { key: null, headers: version })),
      [401, 'key_missing'],
    ],
    [
      'an invalid version before the wrong kind of key',
      async (w) => errorOf(await w.get(USERS, { key: w.keys.public, headers: version })),
      [400, 'Service-Version'],
    ],
    [
      'the wrong kind of key before an invalid body',
      async (w) => errorOf(await w.post(BATCH, undefined, { key: w.keys.public, ...json('{') })),
      [403, 'not_publishable'],
    ],
    ['the role before an invalid batch', async (w) => errorOf(await w.post(BATCH, [], { key: w.keys.support })), [403, 'role']],
    [
      'the role before the media type',
      async (w) => errorOf(await w.post(BATCH, undefined, { key: w.keys.support, raw: 'x', headers: { 'content-type': 'text/plain' } })),
      [403, 'role'],
    ],
    [
      'the missing user token before an invalid body',
      async (w) => errorOf(await w.patch('/api/client/users/me/subscriptions', 'x', { key: w.keys.public })),
      [401, 'user_token_missing'],
    ],
    [
      'the media type before an invalid Idempotency-Key',
      async (w) => errorOf(await w.post(BATCH, undefined, { raw: 'x', headers: { 'content-type': 'text/plain', 'idempotency-key': '' } })),
      [415, 'media_type'],
    ],
    [
      'the media type before the size',
      async (w) => errorOf(await w.post(BATCH, undefined, { raw: 'x'.repeat(JSON_LIMIT + 1), headers: { 'content-type': 'text/plain' } })),
      [415, 'media_type'],
    ],
    [
      'the media type before the compression',
      async (w) =>
        errorOf(await w.post(BATCH, undefined, { raw: 'x', headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' } })),
      [415, 'media_type'],
    ],
    [
      'the size before the syntax',
      async (w) => errorOf(await w.post(BATCH, undefined, json('x'.repeat(JSON_LIMIT + 1)))),
      [413, 'body_too_large'],
    ],
    [
      'the syntax before an invalid Idempotency-Key',
      async (w) => errorOf(await w.post(BATCH, undefined, json('{', { 'idempotency-key': '' }))),
      [400, 'body'],
    ],
    [
      'an invalid Idempotency-Key before the validation',
      async (w) => errorOf(await w.post(BATCH, [], { headers: { 'idempotency-key': '' } })),
      [400, 'Idempotency-Key'],
    ],
    [
      'the validation before the missing resource',
      async (w) => errorOf(await w.patch('/api/client/journeys/999', { name: 1 })),
      [400, 'name'],
    ],
    [
      'the missing resource last',
      async (w) => errorOf(await w.patch('/api/client/journeys/999', { name: 'x' })),
      [404, 'resource_missing'],
    ],
  ]
  test.each(cases)('%s', async (_, ask, expected) => {
    await using w = await world()
    expect(await ask(w)).toEqual(expected)
  })

  test('the rate limit before the version, the kind of key and the body', async () => {
    await using w = await world({ env: { RATE_WRITE: '1' } })
    for (let call = 0; call < 10; call++) await w.post(BATCH, [], { key: w.keys.support })
    expect(errorOf(await w.post(BATCH, undefined, { key: w.keys.support, ...json('{', version) }))).toEqual([429, 'rate_limited'])
  })
})

describe('successful replies (D-HTTP-2)', () => {
  test('a new resource is 201 with its Location', async () => {
    await using w = await world()
    const created = await Promise.all([
      w.post('/api/client/projects', { name: 'New', locale: 'en', timezone: 'UTC' }, { key: w.keys.organisation }),
      w.post('/api/client/journeys', { name: 'New' }),
      w.post('/api/client/webhooks', { name: 'New', url: 'https://hooks.example.com/in', event_types: ['delivery.completed'] }),
      w.post('/api/client/keys', { name: 'New' }),
      w.post('/api/client/subscriptions', { name: 'New', channel: 'email' }),
      w.post('/api/client/campaigns', {
        type: 'trigger',
        name: 'New',
        subscription_id: (await w.get('/api/client/subscriptions')).body.results[0].id,
      }),
    ])
    for (const { status, headers, body } of created) {
      expect(status).toBe(201)
      const read = await w.get(headers.location ?? '', {
        key: headers.location?.includes('/projects/') ? w.keys.organisation : w.keys.secret,
      })
      expect([read.status, read.body.id]).toEqual([200, body.id])
    }
  })

  test('a user token is 201 without a Location', async () => {
    await using w = await world()
    await w.users('kim')
    const { status, headers } = await w.post('/api/client/users/kim/sessions')
    expect([status, headers.location, headers['cache-control']]).toEqual([201, undefined, 'no-store'])
  })

  test('204 has no body and no media type', async () => {
    await using w = await world()
    for (const reply of [
      await w.patch(USERS, [{ external_id: 'kim' }]),
      await w.post('/api/client/events', [{ external_id: 'kim', name: 'x' }]),
    ]) {
      expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([204, '', undefined])
      expect(reply.headers['content-length'] ?? '0').toBe('0')
    }
  })

  test('a batch is 200 even when every item fails', async () => {
    await using w = await world()
    const { status, body } = await w.post(BATCH, [{}, 1])
    expect([status, body.succeeded, body.failed]).toEqual([200, 0, 2])
  })

  test('deleting a resource again is 404', async () => {
    await using w = await world()
    const { headers } = await w.post('/api/client/journeys', { name: 'Short' })
    const path = headers.location ?? ''
    expect([(await w.delete(path)).status, (await w.delete(path)).status, (await w.get(path)).status]).toEqual([204, 404, 404])
  })
})

describe('request bodies (D-HTTP-3)', () => {
  const one = '[{"external_id":"kim"}]'

  test.each([
    ['application/json', 200],
    ['APPLICATION/JSON', 200],
    ['application/json; charset=utf-8', 200],
    ['application/json; charset="UTF-8"', 200],
    ['application/vnd.api+json', 200],
    ['', 200],
    ['application/json; charset=latin1', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['text/json', 415],
    ['application/jsonp', 415],
    ['not a media type', 415],
  ])('Content-Type %j is %i', async (type, expected) => {
    await using w = await world()
    const reply = await w.post(BATCH, undefined, { raw: one, headers: { 'content-type': type } })
    expect(reply.status).toBe(expected)
    if (expected === 415) {
      expect(reply.body).toMatchObject({ code: 'parameter_invalid_format', error: { param: 'Content-Type', reason: 'media_type' } })
      expect(reply.headers['accept-post']).toBe('application/json')
    }
  })

  test.each<[string, string | Buffer]>([
    ['only a bracket', '['],
    ['text after the end', `${one} x`],
    ['two documents', `${one}${one}`],
    ['a comma at the end', '[{"external_id":"kim",}]'],
    ['single quotes', "[{'external_id':'kim'}]"],
    ['invalid UTF-8', Buffer.concat([Buffer.from('[{"external_id":"'), Buffer.from([0xff]), Buffer.from('"}]')])],
    ['part of a character', Buffer.concat([Buffer.from('[{"external_id":"'), Buffer.from([0xc3]), Buffer.from('"}]')])],
    ['UTF-16', Buffer.from(one, 'utf16le')],
    ['a number that is too large', '[{"external_id":"kim","data":{"n":1e999}}]'],
    ['33 levels', '['.repeat(33) + ']'.repeat(33)],
    ['20 000 levels', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['U+0000 in a value', '[{"external_id":"k\\u0000m"}]'],
    ['U+0000 in a key', '[{"external_id":"kim","data":{"a\\u0000":1}}]'],
    ['an object instead of an array', '{"external_id":"kim"}'],
    ['a string instead of an array', '"kim"'],
    ['null instead of an array', 'null'],
  ])('%s is 400 with the param `body`, and the body is not in the reply', async (_, raw) => {
    await using w = await world()
    const reply = await w.post(BATCH, undefined, json(raw))
    expect([reply.status, reply.body.code, reply.body.error.param]).toEqual([400, 'parameter_invalid_format', 'body'])
    expect(reply.text).not.toContain('kim')
  })

  test('malformed JSON is reported with line and column', async () => {
    await using w = await world()
    expect((await w.post(BATCH, undefined, json('[\n {"a" 1}]'))).body.message).toContain('line 2, column 7')
  })

  test('an array instead of an object is 400 with the param `body`', async () => {
    await using w = await world()
    expect(errorOf(await w.post('/api/client/journeys', []))).toEqual([400, 'body'])
  })

  test('a required body that is missing is `parameter_missing`', async () => {
    await using w = await world()
    expect((await w.post(BATCH)).body).toMatchObject({ code: 'parameter_missing', error: { param: 'body' } })
    expect((await w.post('/api/client/journeys', undefined, json(''))).body).toMatchObject({
      code: 'parameter_missing',
      error: { param: 'body' },
    })
  })

  test('an endpoint without a body accepts none and {}, and refuses members', async () => {
    await using w = await world()
    await w.users('kim')
    const sessions = '/api/client/users/kim/sessions'
    expect([(await w.post(sessions)).status, (await w.post(sessions, {})).status, errorOf(await w.post(sessions, { ttl: 1 }))]).toEqual([
      201,
      201,
      [400, 'ttl'],
    ])
  })

  test('a byte order mark is skipped, and the last of several members with one name counts', async () => {
    await using w = await world()
    const { body } = await w.post(BATCH, undefined, json('\ufeff[{"external_id":"kim","email":"a@example.com","email":"b@example.com"}]'))
    expect(body.results[0].user.email).toBe('b@example.com')
  })

  test('a lone surrogate becomes a replacement character, in values and in keys', async () => {
    await using w = await world()
    const { body } = await w.post(BATCH, undefined, json('[{"external_id":"kim","data":{"a\\ud800":"b\\udfff","c":"\\ud83d\\ude00"}}]'))
    expect(body.results[0].user.data).toEqual({ 'a\ufffd': 'b\ufffd', c: '😀' })
  })

  test('`__proto__` and `constructor` are ordinary keys of data', async () => {
    await using w = await world()
    const data = '{"__proto__":{"admin":true},"constructor":1,"a\\ud800":1}'
    const saved = await w.post(BATCH, undefined, json(`[{"external_id":"kim","data":${data}}]`))
    expect(Object.keys(saved.body.results[0].user.data).sort()).toEqual(['__proto__', 'a\ufffd', 'constructor'])
    await w.patch(USERS, undefined, json('[{"external_id":"kim","data":{"__proto__":null}}]'))
    await w.drain()
    expect(Object.keys((await w.get('/api/client/users/kim')).body.data)).not.toContain('__proto__')
    expect(({} as { admin?: true }).admin).toBeUndefined()
  })

  test('a body at the size limit is read, and one byte more is 413', async () => {
    await using w = await world()
    const padded = (bytes: number) => one + ' '.repeat(bytes - one.length)
    expect((await w.post(BATCH, undefined, json(padded(JSON_LIMIT)))).status).toBe(200)
    expect((await w.post(BATCH, undefined, json(padded(JSON_LIMIT + 1)))).body).toMatchObject({
      code: 'validation_failed',
      error: { reason: 'body_too_large' },
    })
    const form = async (bytes: number) => {
      const raw = 'count=1&seed='.padEnd(bytes, 'a')
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return errorOf(await w.post('/api/ext/generic/data/generate/food', undefined, { raw, headers }))
    }
    expect([await form(FORM_LIMIT), await form(FORM_LIMIT + 1)]).toEqual([
      [422, 'seed'],
      [413, 'body_too_large'],
    ])
  })

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('a body in %s is decompressed, and its limit applies to the decompressed size', async (encoding, compress) => {
    await using w = await world()
    const send = (text: string) => w.post(BATCH, undefined, json(compress(Buffer.from(text)), { 'content-encoding': encoding }))
    expect((await send(one)).body.succeeded).toBe(1)
    expect(errorOf(await send(one + ' '.repeat(JSON_LIMIT)))).toEqual([413, 'body_too_large'])
    const broken = compress(Buffer.from(one)).subarray(0, -4)
    expect(errorOf(await w.post(BATCH, undefined, json(broken, { 'content-encoding': encoding })))).toEqual([400, 'body'])
  })

  test('an unknown encoding is 415', async () => {
    await using w = await world()
    expect((await w.post(BATCH, undefined, json(one, { 'content-encoding': 'zstd' }))).body).toMatchObject({
      error: { param: 'Content-Encoding', reason: 'media_type' },
    })
  })

  test.each([
    ['an unknown member', { name: 'x', limit_wrap: 1 }, 'limit_wrap', 'parameter_unknown'],
    ['text instead of a boolean', { link_wrap_email: 'true' }, 'link_wrap_email', 'parameter_invalid_format'],
    ['a number instead of a boolean', { link_wrap_email: 1 }, 'link_wrap_email', 'parameter_invalid_format'],
    ['a number instead of text', { name: 123 }, 'name', 'parameter_invalid_format'],
  ])('nothing is coerced or dropped: %s is refused', async (_, body, param, code) => {
    await using w = await world()
    const reply = await w.patch(`/api/client/projects/${w.projectId}`, body, { key: w.keys.organisation })
    expect([reply.body.code, reply.body.error.param]).toEqual([code, param])
  })
})

describe('methods and paths (D-HTTP-4)', () => {
  test('an unsupported method is 405, and Allow lists the others', async () => {
    await using w = await world()
    const reply = await w.delete(USERS)
    expect([reply.status, reply.headers.allow?.split(', ').sort()]).toEqual([405, ['GET', 'HEAD', 'OPTIONS', 'PATCH']])
  })

  test.each(['QUERY', 'TRACE', 'PROPFIND', 'COPY', 'PURGE'])(
    '%s is 405 on a known path and 404 on an unknown one, with any body',
    async (method) => {
      await using w = await world()
      for (const path of [USERS, `${USERS}/`, `${USERS}/kim/subscriptions?x=1`, '/api/client/journeys/1']) {
        const replies = [
          await w.request(method, path),
          await w.request(method, path, {}),
          await w.request(method, path, undefined, { key: null }),
        ]
        expect(replies.map(errorOf)).toEqual(replies.map(() => [405, 'method']))
        expect(replies[0]?.headers.allow).toContain('OPTIONS')
      }
      for (const path of ['/api/client/nothing', `${USERS}//subscriptions`, '/nothing']) {
        expect(errorOf(await w.request(method, path))).toEqual([404, 'route'])
      }
      expect((await w.request(method, `${USERS}/search`)).headers.allow).toBe((await w.request('DELETE', BATCH)).headers.allow)
    },
  )

  test.each(['/api/client/events', BATCH, `${USERS}/search`, '/api/client/lists/preview'])(
    'HEAD of %s, which has no GET, is 405',
    async (path) => {
      await using w = await world()
      await w.users('batch', 'search')
      const reply = await w.request('HEAD', path)
      expect([reply.status, reply.headers.allow, reply.text]).toEqual([405, 'POST, OPTIONS', ''])
    },
  )

  test('an empty segment makes a path that does not exist, also for a name and without a key', async () => {
    await using w = await world()
    const replies = [
      await w.put('/api/client/attributes//', {}),
      await w.delete('/api/client/keys//'),
      await w.post('/api/client/keys//'),
      await w.get('/api/client/keys//', { key: null }),
    ]
    expect(replies.map(errorOf)).toEqual(replies.map(() => [404, 'route']))
  })

  test.each([
    ['/api/client/users/', 200],
    ['/api/client/users//', 404],
    ['/api/client/keys//', 404],
    ['/api/client/journeys//steps', 404],
    ['/api/client/webhooks//deliveries', 404],
    ['//api/client/users', 404],
    ['/api//client/users', 404],
    ['/API/client/users', 404],
    ['/api/client/Users', 404],
    ['/api/client/users?limit=1', 200],
    ['/', 404],
  ])('%s is %i', async (path, expected) => {
    await using w = await world()
    expect((await w.get(path)).status).toBe(expected)
  })

  test.each([
    '/api/client/users/%zz',
    '/api/client/users/%',
    '/api/client/users/%ff',
    '/api/client/users?q=%zz',
    '/api/client/users?%=1',
    '/api/client/users?q=%00',
  ])('%s is 400', async (path) => {
    await using w = await world()
    expect((await w.get(path)).body).toMatchObject({ code: 'parameter_invalid_format' })
  })

  test.each([256, 4096, 4097, 10_000])('a user id of %i characters is 404', async (length) => {
    await using w = await world()
    const { status, body } = await w.get(`${USERS}/${'x'.repeat(length)}`)
    expect([status, body.code]).toEqual([404, 'resource_missing'])
  })

  test.each([
    ['abc', 400],
    ['1.0', 400],
    ['-1', 400],
    ['1e3', 400],
    ['%31', 404],
    ['0', 404],
    ['007', 404],
    ['9007199254740993', 404],
    ['9223372036854775807', 404],
    ['9223372036854775808', 404],
    ['9999999999999999999', 404],
  ])('the integer id %s is %i', async (id, expected) => {
    await using w = await world()
    const { status, body } = await w.get(`/api/client/journeys/${id}`)
    expect([status, body.code]).toEqual([expected, expected === 400 ? 'parameter_invalid_format' : 'resource_missing'])
  })

  test.each(['a/b', 'a@b.c', 'a+b', 'a b', '100%', 'ü', '😀', '..', '?', '#', 'me ', '名前', 'x'.repeat(255), '😀'.repeat(255)])(
    'the user id %j is found by its percent-encoded path',
    async (id) => {
      await using w = await world()
      expect((await w.post(BATCH, [{ external_id: id }])).body.succeeded).toBe(1)
      const encoded = id === '..' ? '%2E%2E' : encodeURIComponent(id)
      expect((await w.get(`${USERS}/${encoded}`)).body?.external_id).toBe(id === '..' ? undefined : id)
      expect((await w.get(`${USERS}?q=${encodeURIComponent(id)}`)).body.results).toHaveLength(1)
    },
  )

  test('a plus in a path is a plus; a user id of more than 255 characters is 404', async () => {
    await using w = await world()
    await w.post(BATCH, [{ external_id: 'a+b' }])
    expect((await w.get(`${USERS}/a+b`)).status).toBe(200)
    expect((await w.get(`${USERS}/${'x'.repeat(256)}`)).status).toBe(404)
  })

  test('unknown and repeated query parameters are refused', async () => {
    await using w = await world()
    expect((await w.get(`${USERS}?lmit=1`)).body).toMatchObject({ code: 'parameter_unknown', error: { param: 'lmit' } })
    expect((await w.get('/api/client/users/kim?x=1')).body).toMatchObject({ code: 'parameter_unknown', error: { param: 'x' } })
    expect((await w.get(`${USERS}?limit=1&limit=2`)).body).toMatchObject({ code: 'parameter_invalid_format', error: { param: 'limit' } })
  })

  test('every reply has the common headers, errors too', async () => {
    await using w = await world()
    for (const reply of [
      await w.get(USERS),
      await w.get(USERS, { key: null }),
      await w.get('/nothing'),
      await w.put(USERS),
      await w.post(BATCH, []),
      await w.post('/api/client/events', [{ external_id: 'k', name: 'x' }]),
    ]) {
      expect(reply.headers).toMatchObject({
        'x-request-id': expect.stringMatching(/^req_[0-9A-HJKMNP-TV-Z]{26}$/),
        'service-version': '2026-11-20',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        vary: 'Origin, Accept-Encoding',
      })
      if (reply.status !== 204) expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(reply.headers.etag).toBeUndefined()
    }
  })

  test('large replies are compressed if the client accepts that; small ones are not', async () => {
    await using w = await world()
    await w.users(...Array.from({ length: 20 }, (_, at) => `person-${at}`))
    const read = async (accept: string, path = USERS) => {
      const headers = { authorization: `Bearer ${w.keys.secret}`, 'accept-encoding': accept }
      const { rawPayload, headers: replied } = await w.app.inject({ url: path, headers })
      const unpack = { gzip: gunzipSync, br: brotliDecompressSync }[String(replied['content-encoding'])] ?? ((bytes: Buffer) => bytes)
      return [replied['content-encoding'], JSON.parse(unpack(rawPayload).toString()).results.length]
    }
    expect(await read('gzip')).toEqual(['gzip', 20])
    expect(await read('br, gzip')).toEqual(['br', 20])
    expect(await read('br;q=0, gzip')).toEqual(['gzip', 20])
    expect(await read('identity')).toEqual([undefined, 20])
    expect(await read('gzip', `${USERS}?limit=1`)).toEqual([undefined, 1])
  })

  test.each(['text/html', 'application/xml;q=1', 'nonsense', '*/*;q=0'])('Accept: %s is ignored', async (accept) => {
    await using w = await world()
    const { status, headers } = await w.get(USERS, { headers: { accept } })
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  })
})

describe('values (D-HTTP-5) and request ids (D-HTTP-6)', () => {
  test('times have three decimals and end in Z; ids are numbers; absent optional text is left out; nullable members are null', async () => {
    await using w = await world()
    const { body: journey } = await w.post('/api/client/journeys', { name: 'x' })
    expect(journey.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect([typeof journey.id, 'description' in journey, 'stats_at' in journey]).toEqual(['number', false, false])
    await w.users('kim')
    expect((await w.get('/api/client/users/kim')).body).toMatchObject({ phone: null, timezone: null, locale: null, anonymous_id: null })
    expect((await w.get(`/api/client/projects/${w.projectId}`, { key: w.keys.organisation })).body).toMatchObject({
      description: null,
      website_url: null,
      deeplink_mirror_url: '',
      test_recipients: [],
    })
  })

  test('a request id is generated by the server, different for each request, and the same in header and body', async () => {
    await using w = await world()
    const headers = { 'x-request-id': 'req_MINE' }
    const [first, second] = [await w.get('/nothing', { headers }), await w.get('/nothing', { headers })]
    expect(first.body.request_id).toBe(first.headers['x-request-id'])
    expect(new Set([first.body.request_id, second.body.request_id, 'req_MINE']).size).toBe(3)
  })

  test('a request id that a client sends is logged too, shortened', async () => {
    const lines: string[] = []
    await using w = await world({ log: { write: (line) => lines.push(line) } })
    const { headers } = await w.get(USERS, { headers: { 'x-request-id': `theirs-${'x'.repeat(5000)}` } })
    const logged = lines.map((line) => JSON.parse(line)).find(({ request_id }) => request_id === headers['x-request-id'])
    expect(logged.client_request_id).toMatch(/^theirs-x{193}$/)
  })
})

describe('browsers (D-HTTP-7)', () => {
  const OPEN = { '/api/client/events': 'POST', '/api/client/users/me': 'GET', '/api/client/users/me/subscriptions': 'GET, PATCH' }

  test.each(Object.entries(OPEN))('%s accepts a preflight for %s without a key', async (path, methods) => {
    await using w = await world()
    const { status, headers, text } = await w.request('OPTIONS', path, undefined, {
      key: null,
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    })
    expect([status, text]).toEqual([204, ''])
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'authorization, content-type, x-service-user-token, idempotency-key, service-version, last-event-id',
      'access-control-max-age': '7200',
      vary: 'Origin, Accept-Encoding',
    })
    expect(headers['access-control-allow-credentials']).toBeUndefined()
  })

  test('their replies can be read by browsers, errors too', async () => {
    await using w = await world()
    for (const reply of [
      await w.get('/api/client/users/me', { key: null }),
      await w.get('/api/client/users/me', { key: w.keys.public }),
      await w.post('/api/client/events', 1, { key: w.keys.public }),
    ]) {
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.headers['access-control-allow-origin']).toBe('*')
      expect(reply.headers['access-control-expose-headers']).toBe(
        'X-Request-Id, Service-Version, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed',
      )
    }
  })

  test('no other route is open to browsers', async () => {
    await using w = await world()
    const preflight = await w.request('OPTIONS', USERS, undefined, {
      key: null,
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
    })
    expect(preflight.status).toBe(204)
    for (const { headers } of [preflight, await w.get(USERS), await w.get(USERS, { key: null })])
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  test('OPTIONS without a preflight lists the allowed methods', async () => {
    await using w = await world()
    const { status, headers } = await w.request('OPTIONS', USERS, undefined, { key: null })
    expect([status, headers.allow?.split(', ').sort()]).toEqual([204, ['GET', 'HEAD', 'OPTIONS', 'PATCH']])
  })
})

describe('health (D-HTTP-8)', () => {
  test.each(['/healthz', '/livez', '/readyz'])('%s needs no key', async (path) => {
    await using w = await world()
    expect(await w.get(path, { key: null })).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

describe('errors (D-ERR-1, D-VAL)', () => {
  test('the envelope has exactly the documented members', async () => {
    await using w = await world()
    const { body, headers } = await w.post('/api/client/journeys', {})
    const message = body.message
    expect(body).toEqual({
      status: 'error',
      code: 'parameter_missing',
      message,
      error: {
        code: 'parameter_missing',
        message,
        param: 'name',
        errors: [{ code: 'parameter_missing', param: 'name', message }],
        doc_url: 'http://carillon.test/docs/errors#parameter_missing',
      },
      request_id: headers['x-request-id'],
    })
    expect(message).toMatch(/`name`.*\.$/)
    expect(headers['content-language']).toBe('en-AU')
  })

  // `$&` in a replacement stands for what is replaced.
  const NAME = '00'.padEnd(400, '$&')
  test.each([
    ['POST', '/api/client/events', [{ name: 'x', anonymous_id: 'a', [NAME]: 1 }]],
    ['POST', '/api/client/events', [{ name: 'x', user: { [NAME]: 1 } }]],
    ['PATCH', '/api/client/users', [{ external_id: 'a', [NAME]: 1 }]],
    ['POST', '/api/client/lists', { name: 'x', type: 'dynamic', rule: { list: 1, [NAME]: 1 } }],
    ['POST', '/api/client/messages', { user: { external_id: 'a', [`data..${NAME.slice(0, 200)}`]: 1 }, campaign: 'x' }],
  ])('%s %s: a message about a name of the caller has at most 500 characters, and the name as it is', async (method, path, payload) => {
    await using w = await world()
    const { body } = await w.request(method, path, payload)
    const messages: string[] = body.error.errors.map(({ message }: { message: string }) => message)
    expect(messages.filter((message) => message.length > 500)).toEqual([])
    expect(messages.join()).toContain(NAME.slice(0, 180))
  })

  test('the utilities use the same envelope', async () => {
    await using w = await world()
    expect((await w.form('/api/ext/generic/data/generate/food', { count: '0' })).body).toMatchObject({
      status: 'error',
      code: 'validation_failed',
      error: { param: 'count' },
    })
  })

  test('several errors with one code have that code; with different codes, the code is `validation_failed`', async () => {
    await using w = await world()
    const same = await w.post('/api/client/webhooks', {})
    expect([same.status, same.body.code, same.body.error.param, same.body.error.errors.length]).toEqual([
      400,
      'parameter_missing',
      undefined,
      3,
    ])
    const mixed = await w.post('/api/client/webhooks', { name: '', surplus: 1, event_types: ['delivery.completed', 'nothing'] })
    expect([mixed.status, mixed.body.code, mixed.body.error.param]).toEqual([422, 'validation_failed', undefined])
    expect(mixed.body.error.errors.map(({ code, param }: any) => `${param}: ${code}`).sort()).toEqual([
      'event_types[1]: parameter_invalid_format',
      'name: parameter_invalid_empty',
      'surplus: parameter_unknown',
      'url: parameter_missing',
    ])
  })

  test('errors of the query and of the body are reported together', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/journeys?surplus=1', { name: 1 })
    expect(body.error.errors.map(({ param }: any) => param)).toEqual(['surplus', 'name'])
  })

  test.each<[number, string, (w: World) => Promise<Reply>]>([
    [400, 'the encoding of the path', (w) => w.get(`${USERS}/%zz`)],
    [400, 'the encoding of the query', (w) => w.get(`${USERS}?q=%zz`)],
    [412, 'a version', async (w) => w.patch(await newList(w), { name: 'b' }, { headers: { 'if-match': '"x"' } })],
    [413, 'the size', (w) => w.post(BATCH, undefined, json('x'.repeat(JSON_LIMIT + 1)))],
    [415, 'the media type', (w) => w.post(BATCH, undefined, { raw: 'x', headers: { 'content-type': 'text/plain' } })],
    [422, 'a list in use', (w) => deleteListInUse(w)],
  ])('a reply %i about %s lists its one error', async (status, _, ask) => {
    await using w = await world()
    const reply = await ask(w)
    const { code, message, error } = reply.body
    const { param } = error
    expect([reply.status, error.errors]).toEqual([status, [{ code, ...(param !== undefined && { param }), message }]])
  })

  const newList = async (w: World) => `/api/client/lists/${(await w.post('/api/client/lists', { name: 'a', type: 'static' })).body.id}`

  const deleteListInUse = async (w: World) => {
    const path = await newList(w)
    await w.post('/api/client/lists', { name: 'b', type: 'dynamic', rule: { list: Number(path.split('/').at(-1)) } })
    return w.delete(path)
  }

  test('at most 100 errors are reported', async () => {
    await using w = await world()
    const { body } = await w.patch(
      USERS,
      Array.from({ length: 100 }, () => ({ a: 1, b: 2 })),
    )
    expect(body.error.errors).toHaveLength(100)
  })

  test('an error in an array is reported with its index', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/events', [
      { name: 'x', external_id: 'k' },
      { name: 'x', external_id: 'k', user: { email: 'no' } },
    ])
    expect(body.error.param).toBe('[1].user.email')
  })

  test.each<[string, object, string, string]>([
    ['null for a member that cannot be null', { name: null }, 'name', 'parameter_invalid_format'],
    ['only white space', { name: ' \u00a0\u2003' }, 'name', 'parameter_invalid_empty'],
    ['256 characters', { name: '😀'.repeat(256) }, 'name', 'validation_failed'],
    ['an unknown choice', { name: 'x', status: 'on' }, 'status', 'parameter_invalid_format'],
    ['a read-only member', { name: 'x', id: 1 }, 'id', 'parameter_unknown'],
    ['`__proto__` as a member', JSON.parse('{"name":"x","__proto__":1}'), '__proto__', 'parameter_unknown'],
  ])('%s', async (_, body, param, code) => {
    await using w = await world()
    const reply = await w.post('/api/client/journeys', body)
    expect([reply.body.code, reply.body.error.param, reply.status]).toEqual([code, param, ERROR_STATUS[code as keyof typeof ERROR_STATUS]])
  })

  test('length is checked before format: a time zone of 51 characters is too long, not unknown', async () => {
    await using w = await world()
    const [long, unknown] = [
      await w.patch(USERS, [{ external_id: 'k', timezone: 'x'.repeat(51) }]),
      await w.patch(USERS, [{ external_id: 'k', timezone: 'Mars/Base' }]),
    ]
    expect([errorOf(long), long.body.code, unknown.body.code]).toEqual([
      [422, '[0].timezone'],
      'validation_failed',
      'parameter_invalid_format',
    ])
  })

  test('characters are counted as code points, after trimming', async () => {
    await using w = await world()
    expect((await w.post('/api/client/journeys', { name: ` ${'😀'.repeat(255)}\n` })).body.name).toBe('😀'.repeat(255))
  })

  test('an empty PATCH changes nothing, not even `updated_at`', async () => {
    await using w = await world()
    const { headers, body } = await w.post('/api/client/journeys', { name: 'x' })
    w.advance('1 hour')
    expect(await w.patch(headers.location ?? '', {})).toMatchObject({ status: 200, body })
  })

  test('an internal error is 500 without details, and is logged with its request id and its stack', async () => {
    const lines: string[] = []
    await using w = await world({ log: { write: (line) => lines.push(line) } })
    await w.db.run(sql`alter table journeys rename to journeys_renamed`)
    const reply = await w.get('/api/client/journeys')
    await w.db.run(sql`alter table journeys_renamed rename to journeys`)
    expect([reply.status, reply.body?.code]).toEqual([500, 'internal_error'])
    expect(reply.text).not.toMatch(/journeys|relation|select|\.ts/)
    const [line] = lines.filter((line) => line.includes(reply.headers['x-request-id'] as string) && line.includes('"level":"error"'))
    expect(line).toMatch(/"stack":.*journeys\/service\.ts/)
  })
})

describe('versions (D-VER-1)', () => {
  test.each([
    [undefined, 200, undefined],
    ['2026-11-20', 200, undefined],
    ['', 400, 'version_required'],
    ['  ', 400, 'version_required'],
    ['2019-01-01', 400, 'version_unsupported'],
    ['2099-01-01', 400, 'version_unsupported'],
    ['latest', 400, 'parameter_invalid_format'],
    ['2026-13-01', 400, 'parameter_invalid_format'],
    ['2026-11-20T00:00:00Z', 400, 'parameter_invalid_format'],
  ])('Service-Version %j is %i %s', async (version, status, code) => {
    await using w = await world()
    const reply = await w.get(USERS, { headers: version === undefined ? {} : { 'service-version': version } })
    expect([reply.status, reply.body.code, reply.headers['service-version']]).toEqual([status, code, '2026-11-20'])
    if (code) expect(reply.body.error.param).toBe('Service-Version')
  })

  test('the utilities accept the same header', async () => {
    await using w = await world()
    expect((await w.form('/api/ext/generic/data/generate/food', {}, { headers: { 'service-version': '2019-01-01' } })).body.code).toBe(
      'version_unsupported',
    )
  })

  test('with REQUIRE_API_VERSION, requests without the header are refused', async () => {
    await using w = await world({ env: { REQUIRE_API_VERSION: 'true' } })
    expect((await w.get(USERS)).body.code).toBe('version_required')
    expect((await w.get(USERS, { headers: { 'service-version': '2026-11-20' } })).status).toBe(200)
    expect((await w.get('/healthz', { key: null })).status).toBe(200)
  })
})

describe('rate limits (D-RATE-1, D-RATE-2)', () => {
  const statuses = async (times: number, call: () => Promise<{ status: number }>) => {
    const found: number[] = []
    for (let time = 0; time < times; time++) found.push((await call()).status)
    return found
  }
  const times = (count: number, status: number) => Array.from({ length: count }, () => status)

  test('a burst of ten seconds’ requests is accepted, and then one request a second', async () => {
    await using w = await world({ env: { RATE_READ: '1' } })
    const read = () => w.get(USERS)
    expect(await statuses(12, read)).toEqual([...times(10, 200), 429, 429])
    w.advance('1 second')
    expect(await statuses(2, read)).toEqual([200, 429])
    w.advance('10 minutes')
    expect(await statuses(11, read)).toEqual([...times(10, 200), 429])
  })

  test('every reply has the remaining requests, and a 429 has Retry-After', async () => {
    await using w = await world({ env: { RATE_READ: '1' } })
    const first = await w.get(USERS)
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"read";q=10;w=10',
      ratelimit: '"read";r=9;t=1',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': '1',
    })
    await statuses(9, () => w.get(USERS))
    w.advance(300)
    const refused = await w.get(USERS)
    expect(refused.body).toMatchObject({ code: 'rate_limited' })
    expect(refused.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"read";r=0;t=1', 'x-ratelimit-remaining': '0' })
  })

  test('errors count too; failed authentications do not count for the key', async () => {
    await using w = await world({ env: { RATE_READ: '1' } })
    await statuses(20, () => w.get(USERS, { key: `${w.keys.secret}x` }))
    expect(await statuses(11, () => w.get(`${USERS}?surplus=1`))).toEqual([...times(10, 400), 429])
  })

  test('reads and writes, and each key, have separate limits', async () => {
    await using w = await world({ env: { RATE_READ: '1', RATE_WRITE: '1' } })
    expect(await statuses(11, () => w.get(USERS))).toEqual([...times(10, 200), 429])
    expect(await statuses(11, () => w.post(BATCH, [{ external_id: 'k' }]))).toEqual([...times(10, 200), 429])
    expect((await w.get(USERS, { key: w.keys.editor })).status).toBe(200)
  })

  test('`limit=-1` has an additional limit, and the stricter one is listed first', async () => {
    await using w = await world({ env: { RATE_READ: '100', RATE_ALL_PER_MIN: '2' } })
    expect((await w.get(`${USERS}?limit=-1`)).headers).toMatchObject({
      'ratelimit-policy': '"all";q=2;w=60, "read";q=1000;w=10',
      'x-ratelimit-limit': '2',
    })
    expect(await statuses(2, () => w.get(`${USERS}?q=a&limit=-1`))).toEqual([200, 429])
    expect((await w.get(`${USERS}?limit=1`)).status).toBe(200)
    w.advance('30 seconds')
    expect((await w.get(`${USERS}?limit=-1`)).status).toBe(200)
  })

  test('a limit of less than one request a minute lets one through, and the next when it has been saved up', async () => {
    await using w = await world({ env: { RATE_ALL_PER_MIN: '0.5' } })
    const all = () => w.get(`${USERS}?limit=-1`)
    expect(await statuses(2, all)).toEqual([200, 429])
    w.advance('119 seconds')
    expect(await statuses(1, all)).toEqual([429])
    w.advance('1 second')
    expect(await statuses(2, all)).toEqual([200, 429])
  })

  test.each(['limit=%2D1', '%6Cimit=-1', 'limit=-01', 'q=%zz&limit=-1', '&limit=-001'])('`%s` has that limit too', async (query) => {
    await using w = await world({ env: { RATE_ALL_PER_MIN: '1' } })
    const status = query.includes('%zz') ? 400 : 200
    expect(await statuses(2, () => w.get(`${USERS}?${query}`))).toEqual([status, 429])
  })

  test('the utilities have a separate limit, and those that open connections another one', async () => {
    await using w = await world({ env: { RATE_EXT: '1', RATE_EGRESS_PER_MIN: '1', RATE_WRITE: '1' } })
    expect(await statuses(11, () => w.form('/api/ext/generic/text/sentiment-score', { text: 'good' }))).toEqual([...times(10, 200), 429])
    const out = () => w.form('/api/ext/generic/dns/tcp-verifier', { domain_ip: '127.0.0.1', port: '0' })
    expect(await statuses(2, out)).toEqual([422, 429])
    expect((await w.post(BATCH, [{ external_id: 'k' }])).status).toBe(200)
  })

  test.each([
    ['/api/client/sandbox/messages/1/release', { to: 'kim@example.com' }],
    ['/api/client/campaigns/1/test', { to: 'kim@example.com' }],
    ['/api/client/providers/1/test', undefined],
    ['/api/client/domains/1/verify', undefined],
  ])('POST %s, which leaves the server at once, shares that limit', async (path, body) => {
    await using w = await world({ env: { RATE_EGRESS_PER_MIN: '3', RATE_WRITE: '1' } })
    const send = () => w.post(path, body)
    expect(await statuses(3, send)).not.toContain(429)
    const refused = await send()
    expect([refused.status, refused.headers['ratelimit-policy']]).toEqual([429, '"egress";q=3;w=60'])
    expect((await w.form('/api/ext/generic/dns/tcp-verifier', { domain_ip: '127.0.0.1', port: '0' })).status).toBe(429)
    expect((await w.post(BATCH, [{ external_id: 'k' }])).status).toBe(200)
  })

  test('a user token has an additional limit besides that of the key', async () => {
    await using w = await world({ env: { RATE_USER: '1' } })
    await w.users('kim', 'lee')
    const me = async (name: string) => {
      const headers = { 'x-service-user-token': await w.token(name) }
      return () => w.get('/api/client/users/me', { key: w.keys.public, headers })
    }
    expect(await statuses(11, await me('kim'))).toEqual([...times(10, 200), 429])
    expect(await statuses(1, await me('lee'))).toEqual([200])
  })

  test.each([
    [{ RATE_READ: '100', RATE_PUBLISHABLE: '50', RATE_USER: '1' }, '"user";q=10;w=10, "address";q=500;w=10, "read";q=1000;w=10', '10'],
    [{ RATE_READ: '1', RATE_PUBLISHABLE: '50', RATE_USER: '20' }, '"read";q=10;w=10, "user";q=200;w=10, "address";q=500;w=10', '10'],
    [{ RATE_READ: '100', RATE_PUBLISHABLE: '2', RATE_USER: '0' }, '"address";q=20;w=10, "read";q=1000;w=10', '20'],
  ])('with %j a user token has the fields of all its limits, the tightest first', async (env, policy, limit) => {
    await using w = await world({ env })
    await w.users('kim')
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    const { headers } = await w.get('/api/client/users/me', options)
    expect([headers['ratelimit-policy'], headers['x-ratelimit-limit']]).toEqual([policy, limit])
  })

  test('a refusal has the fields of the limits before it too', async () => {
    await using w = await world({ env: { RATE_READ: '100', RATE_PUBLISHABLE: '0.1', RATE_USER: '20' } })
    await w.users('kim')
    const options = { key: w.keys.public, headers: { 'x-service-user-token': await w.token('kim') } }
    expect(await statuses(1, () => w.get('/api/client/users/me', options))).toEqual([200])
    const { status, headers } = await w.get('/api/client/users/me', options)
    expect([status, headers.ratelimit]).toEqual([429, '"address";r=0;t=10, "read";r=998;t=1'])
  })

  test('after too many failed authentications, an address gets 429 for further failures only', async () => {
    await using w = await world({ env: { RATE_AUTH_FAIL_PER_MIN: '3' } })
    expect(await statuses(5, () => w.get(USERS, { key: null }))).toEqual([401, 401, 401, 429, 429])
    expect((await w.get(USERS)).status).toBe(200)
    w.advance('20 seconds')
    expect(await statuses(2, () => w.get(USERS, { key: 'sk_0000000000000000' }))).toEqual([401, 429])
  })

  test('the addresses of a /64 network of IPv6 share the limits of failed authentications and of pages', async () => {
    await using w = await world({ env: { RATE_AUTH_FAIL_PER_MIN: '1', RATE_PAGE: '0.1', TRUST_PROXY: '127.0.0.1' } })
    const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']
    const from = async (path: string) => {
      const statuses: number[] = []
      for (const address of addresses) statuses.push((await w.get(path, { key: null, headers: { 'x-forwarded-for': address } })).status)
      return statuses
    }
    expect(await from(USERS)).toEqual([401, 429, 401])
    expect(await from('/s/p/token')).toEqual([404, 429, 404])
  })

  test('many clients of one limit do not make the others forget', async () => {
    await using w = await world()
    const limits = createRateLimits({ ...w.ctx.config, RATE_SIGN_IN_PER_MIN: 1, RATE_PAGE: 1 })
    const nowMs = w.clock.now().getTime()
    limits.spend(['sign-in'], '192.0.2.1', nowMs)
    for (let client = 0; client <= 100_000; client++) limits.spend(['page'], String(client), nowMs)
    expect(() => limits.spend(['sign-in'], '192.0.2.1', nowMs)).toThrow('Too many requests.')
  })

  test('if the clock is set back, the limit stays the same', async () => {
    await using w = await world({ env: { RATE_READ: '1' } })
    await statuses(10, () => w.get(USERS))
    w.clock.set(new Date(w.clock.now().getTime() - HOUR_MS))
    expect((await w.get(USERS)).status).toBe(429)
    w.advance('1 second')
    expect((await w.get(USERS)).status).toBe(200)
  })
})
