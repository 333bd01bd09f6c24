import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { select } from '../../../test/select.ts'
import { type Reply, type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { readFailures } from './failures.queries.ts'

const staticList = async (w: World, key = w.keys.editor): Promise<number> =>
  (await w.post('/api/client/lists', { name: 'Imported', type: 'static' }, { key })).body.id

const FILE = 'external_id,email\nkim,kim@example.com\n'

const send = (
  w: World,
  list: number | string,
  raw: string | Buffer | undefined,
  headers: Record<string, string> = {},
  query = '',
): Promise<Reply> =>
  w.post(`/api/client/lists/${list}/import${query}`, undefined, {
    ...(raw !== undefined && { raw }),
    headers: { 'content-type': 'text/csv', ...headers },
  })

/** The stored imports and chunks of the project. */
const stored = (w: World) =>
  select(w, 'select i.state, c.no from imports i left join import_chunks c on c.import_id = i.id where i.project_id = $1', [w.projectId])

describe('nothing is stored of a file', () => {
  test.each([
    ['of another media type', FILE, { 'content-type': 'application/json' }, 415, 'parameter_invalid_format', 'Content-Type'],
    ['in another charset', FILE, { 'content-type': 'text/csv; charset=koi8-r' }, 415, 'parameter_invalid_format', 'Content-Type'],
    ['in another encoding', FILE, { 'content-encoding': 'zstd' }, 415, 'parameter_invalid_format', 'Content-Encoding'],
    ['that is not gzip', FILE, { 'content-encoding': 'gzip' }, 400, 'parameter_invalid_format', 'body'],
    [
      'that is truncated',
      gzipSync(FILE.repeat(50)).subarray(0, 60),
      { 'content-encoding': 'gzip' },
      400,
      'parameter_invalid_format',
      'body',
    ],
    ['that is too large', `external_id\n${'x\n'.repeat(300_000)}`, {}, 413, 'validation_failed', 'body'],
    [
      'that is too large when decompressed',
      gzipSync(`external_id\n${'x\n'.repeat(300_000)}`),
      { 'content-encoding': 'gzip' },
      413,
      'validation_failed',
      'body',
    ],
    [
      'in damaged UTF-8',
      Buffer.concat([Buffer.from('external_id,name\nkim,Zoë\nana,Chloë\n'), Buffer.from([0xeb, 10])]),
      {},
      400,
      'parameter_invalid_format',
      'body',
    ],
    [
      'in two encodings',
      Buffer.concat([Buffer.from(`external_id\nZoë\n${'x\n'.repeat(200_000)}`), Buffer.from([0xeb, 10])]),
      {},
      400,
      'parameter_invalid_format',
      'body',
    ],
    ['that is an XLSX workbook', Buffer.from('PK\x03\x04\x14\0\x06\0', 'latin1'), {}, 400, 'parameter_invalid_format', 'body'],
    ['that is an XLS workbook', Buffer.from('d0cf11e0a1b11ae10000', 'hex'), {}, 400, 'parameter_invalid_format', 'body'],
    ['that ends inside a character', Buffer.from('external_id\nZoë').subarray(0, -1), {}, 400, 'parameter_invalid_format', 'body'],
    ['of blank lines', '\n\n\n', {}, 400, 'parameter_invalid_format', 'body'],
    ['with an endless header', `external_id,"${'x'.repeat(300_000)}`, {}, 400, 'parameter_invalid_format', 'body'],
    ['with two equal headers', 'external_id,a,a\n1,2,3', {}, 422, 'validation_failed', 'body'],
    ['without a column that identifies users', 'locale\nen-AU', {}, 422, 'validation_failed', 'mapping'],
  ])('%s', async (_, file, headers, status, code, param) => {
    await using w = await world({ env: { IMPORT_BYTES_MAX: '512KiB' } })
    const reply = await send(w, await staticList(w), file, headers)
    expect(reply).toMatchObject({ status, body: { code, error: { param } } })
    expect(await stored(w)).toEqual([])
  })

  test.each([
    ['?mapping=%7B', 400, 'parameter_invalid_format', 'mapping'],
    ['?mapping=%5B%5D', 400, 'parameter_invalid_format', 'mapping'],
    ['?mapping=%7B%22email%22%3A1%7D', 400, 'parameter_invalid_format', 'mapping'],
    ['?mapping=%7B%22phone%22%3A%22phone%22%7D', 422, 'validation_failed', 'mapping'],
    ['?delimiter=x', 400, 'parameter_invalid_format', 'delimiter'],
    ['?dry_run=1', 400, 'parameter_invalid_format', 'dry_run'],
    ['?subscription_ids=a&consent_source=x', 400, 'parameter_invalid_format', 'subscription_ids'],
    [`?consent_source=${'x'.repeat(256)}`, 422, 'validation_failed', 'consent_source'],
    ['?dryrun=true', 400, 'parameter_unknown', 'dryrun'],
  ])('with %s', async (query, status, code, param) => {
    await using w = await world()
    expect(await send(w, await staticList(w), FILE, {}, query)).toMatchObject({ status, body: { code, error: { param } } })
    expect(await stored(w)).toEqual([])
  })

  test('of a workbook, and the reply says how to save it', async () => {
    await using w = await world()
    const { body } = await send(w, await staticList(w), Buffer.from('PK\x03\x04\x14\0\x06\0', 'latin1'))
    expect(body.message).toContain('choose “Save as” and “CSV UTF-8”')
  })

  test('for an unknown list or a dynamic one', async () => {
    await using w = await world()
    const rule = { attribute: 'email', is_set: true }
    const { body: dynamic } = await w.post('/api/client/lists', { name: 'By rule', type: 'dynamic', rule })
    expect(await send(w, 999_999, FILE)).toMatchObject({ status: 404, body: { code: 'resource_missing' } })
    expect(await send(w, 'x', FILE)).toMatchObject({ status: 400, body: { error: { param: 'listId' } } })
    expect(await send(w, dynamic.id, FILE)).toMatchObject({ status: 422, body: { error: { param: 'listId' } } })
    const theirs = await staticList(w, (await w.other()).keys.editor)
    expect(await send(w, theirs, FILE)).toMatchObject({ status: 404 })
    expect(await stored(w)).toEqual([])
  })

  test('without content; a missing media type means CSV', async () => {
    await using w = await world()
    const list = await staticList(w)
    expect(await send(w, list, undefined)).toMatchObject({ status: 400, body: { code: 'parameter_missing', error: { param: 'body' } } })
    expect(await send(w, list, FILE, { 'content-type': '' })).toMatchObject({ status: 202 })
  })

  test('when too many imports wait', async () => {
    await using w = await world()
    const list = await staticList(w)
    for (let index = 0; index < 20; index++) expect(await send(w, list, FILE)).toMatchObject({ status: 202 })
    expect(await send(w, list, FILE)).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } })
    expect(await stored(w)).toHaveLength(20)
  })
})

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'once' }

  test('creates one import for a file that is sent twice', async () => {
    await using w = await world()
    const list = await staticList(w)
    const first = await send(w, list, FILE, key)
    const again = await send(w, list, gzipSync(FILE), { ...key, 'content-encoding': 'gzip' })
    expect(again).toMatchObject({
      status: 202,
      body: first.body,
      headers: { 'idempotent-replayed': 'true', location: first.headers.location },
    })
    expect(await stored(w)).toEqual([{ state: 'queued', no: 0 }])
  })

  test('belongs to one file with its options', async () => {
    await using w = await world()
    const list = await staticList(w)
    expect(await send(w, list, FILE, key)).toMatchObject({ status: 202 })
    for (const other of [
      await send(w, list, `${FILE}ana,\n`, key),
      await send(w, list, FILE, key, '?dry_run=true'),
      await send(w, await staticList(w), FILE, key),
    ]) {
      expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_key_mismatch', error: { reason: 'different_request' } } })
    }
    expect(await stored(w)).toEqual([{ state: 'queued', no: 0 }])
  })

  test('can be used again after a refusal', async () => {
    await using w = await world()
    const list = await staticList(w)
    expect(await send(w, list, 'locale\n', key)).toMatchObject({ status: 422 })
    expect((await send(w, list, FILE, key)).headers['idempotent-replayed']).toBeUndefined()
    expect(await stored(w)).toHaveLength(1)
  })

  test('creates one import for files that are sent concurrently', async () => {
    await using w = await world()
    const list = await staticList(w)
    const replies = await Promise.all(Array.from({ length: 4 }, () => send(w, list, FILE, key)))
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
    expect(await stored(w)).toEqual([{ state: 'queued', no: 0 }])
  })
})

describe('the file of refused rows', () => {
  test('has the common headers, and is compressed on request', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, `external_id,email\n${'kim,nowhere\n'.repeat(1200)}`)
    await w.drain()
    const path = `/api/client/lists/${list}/imports/${body.id}/errors`
    const plain = await w.get(path)
    expect(plain).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="import-${body.id}-errors.csv"`,
        'x-request-id': expect.stringMatching(/^req_/),
        'service-version': '2026-11-20',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    })
    expect(plain.text.split('\n')).toHaveLength(1 + 1200 + 1)
    for (const encoding of ['gzip', 'br']) {
      const packed = await w.get(path, { headers: { 'accept-encoding': encoding } })
      expect(packed.headers['content-encoding']).toBe(encoding)
      expect(packed.text.length).toBeLessThan(plain.text.length)
    }
    expect(await w.request('HEAD', path)).toMatchObject({ status: 200, text: '', headers: { 'content-type': 'text/csv; charset=utf-8' } })
  })

  test('is read a few large rows at a time', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, `external_id,email,note\n${`kim,nowhere,${'x'.repeat(250_000)}\n`.repeat(12)}`)
    await w.drain()
    const pages = [await readFailures(w.ctx, body.id, 0, { rowsMax: 100, bytesMax: 1024 ** 2 })]
    for (let last = pages[0]?.at(-1); last; last = pages.at(-1)?.at(-1))
      pages.push(await readFailures(w.ctx, body.id, last.line, { rowsMax: 100, bytesMax: 1024 ** 2 }))
    expect(pages.map((page) => page.length)).toEqual([5, 5, 2, 0])
    const { text } = await w.get(`/api/client/lists/${list}/imports/${body.id}/errors`)
    expect(text.trimEnd().split('\n')).toHaveLength(1 + 12)
  })

  test('is 404 if the import does not exist', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, FILE)
    for (const path of [`${list}/imports/999999/errors`, `${await staticList(w)}/imports/${body.id}/errors`]) {
      expect(await w.get(`/api/client/lists/${path}`)).toMatchObject({ status: 404, body: { code: 'resource_missing' } })
    }
  })
})

describe('over a real connection', () => {
  type UploadReply = { status: number; text: string }

  /** Sends the chunks of the source as it yields them. Resolves with the reply. */
  async function upload(
    w: World,
    path: string,
    source: Iterable<Buffer> | AsyncIterable<Buffer>,
    headers: Record<string, string> = {},
  ): Promise<UploadReply> {
    if (!w.app.server.listening) await w.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = w.app.server.address() as AddressInfo
    return new Promise((resolve, reject) => {
      const sent = request({
        port,
        path,
        method: 'POST',
        headers: { 'content-type': 'text/csv', authorization: `Bearer ${w.keys.editor}`, ...headers },
      })
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      Readable.from(source)
        .on('error', () => sent.destroy())
        .pipe(sent)
    })
  }

  const FILLER = 'x'.repeat(2000)
  const MEBIBYTE = 1_048_576
  const Stored = Type.Object({ bytes: Type.Integer() })

  /** Rows of about 2 kB each, in chunks of a hundred. */
  function* rowsOf(count: number): Generator<Buffer> {
    yield Buffer.from('external_id,filler\n')
    for (let from = 0; from < count; from += 100) {
      yield Buffer.from(Array.from({ length: 100 }, (_, index) => `p${from + index},${FILLER}\n`).join(''))
    }
  }

  test('a large file is stored while it is received, and little of it is in memory', { timeout: 60_000 }, async () => {
    await using w = await world()
    const list = await staticList(w)
    let sent = 0
    let mostUnstored = 0
    async function* watched() {
      for (const part of rowsOf(20_000)) {
        sent += part.length
        yield part
        if (sent % (4 * MEBIBYTE) > part.length) continue
        const row = await w.db.first(Stored, sql`select coalesce(sum(length(bytes)), 0)::bigint as bytes from import_chunks`)
        mostUnstored = Math.max(mostUnstored, sent - (row?.bytes ?? 0))
      }
    }
    const { status, text } = await upload(w, `/api/client/lists/${list}/import`, watched())
    expect(status, text).toBe(202)
    expect(JSON.parse(text).bytes).toBe(sent)
    expect(sent).toBeGreaterThan(40 * MEBIBYTE * 0.9)
    // This includes the buffers of the connection on both ends.
    expect(mostUnstored).toBeLessThan(16 * MEBIBYTE)
  })

  test('nothing is stored of an upload that breaks off', async () => {
    await using w = await world()
    const list = await staticList(w)
    function* interrupted() {
      yield* rowsOf(2000)
      throw new Error('aborted')
    }
    await expect(upload(w, `/api/client/lists/${list}/import`, interrupted())).rejects.toThrow()
    await expect.poll(() => stored(w)).toEqual([])
  })

  test.each([
    ['that is too large', {}, 413],
    ['that is not gzip', { 'content-encoding': 'gzip' }, 400],
  ])('a file %s is refused while it is still being received', async (_, headers, status) => {
    await using w = await world({ env: { IMPORT_BYTES_MAX: '2MiB' } })
    const list = await staticList(w)
    expect(await upload(w, `/api/client/lists/${list}/import`, rowsOf(8000), headers)).toMatchObject({ status })
    await expect.poll(() => stored(w)).toEqual([])
  })

  test('a large file for an unknown list is refused', async () => {
    await using w = await world()
    expect(await upload(w, '/api/client/lists/999999/import', rowsOf(8000))).toMatchObject({ status: 404 })
  })
})
