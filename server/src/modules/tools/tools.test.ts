import { describe, expect, test } from 'vitest'
import { world } from '../../../test/world.ts'

const food = '/api/ext/generic/data/generate/food'

describe('the utilities over HTTP', () => {
  test.each<[string, string, string | Buffer, number, Record<string, unknown>]>([
    [
      'the same records for the same seed',
      food,
      'count=1&method=fruit&seed=12345',
      200,
      { status: 'success', data: { generated: 1, seed: 12_345, method: 'fruit' } },
    ],
    ['an empty form', food, '', 200, { data: { generated: 10, locale: 'en', method: 'profile' }, performance: { itemsGenerated: 10 } }],
    ['an unknown field', food, 'colour=red', 400, { status: 'error', code: 'parameter_unknown', error: { param: 'colour' } }],
    ['a repeated field', food, 'count=1&count=2', 400, { code: 'parameter_invalid_format', error: { param: 'count' } }],
    ['an empty field', food, 'count=', 400, { code: 'parameter_invalid_empty', error: { param: 'count' } }],
    ['a sign', food, 'count=-1', 400, { code: 'parameter_invalid_format', error: { param: 'count' } }],
    ['out of range', food, 'count=101', 422, { code: 'validation_failed', error: { param: 'count' } }],
    ['seven digits', food, 'count=1000000', 422, { code: 'validation_failed', error: { param: 'count' } }],
    ['very many digits', food, `count=${'9'.repeat(400)}`, 422, { code: 'validation_failed', error: { param: 'count' } }],
    ['an empty symbol', '/api/ext/generic/data/generate/commerce', 'count=1&method=price&priceSymbol=', 200, { data: { generated: 1 } }],
    [
      'a plus that was not encoded',
      '/api/ext/generic/sms/phone-mobile-syntax-validator',
      'phone=+61412345678',
      200,
      { data: { isValid: true, phoneNumber: '+61412345678' } },
    ],
    [
      'bytes that are not UTF-8',
      '/api/ext/generic/text/sentiment-score',
      Buffer.from('text=caf\xe9', 'latin1'),
      400,
      { error: { param: 'body' } },
    ],
    ['blank text', '/api/ext/generic/text/sentiment-score', 'text=%20', 400, { code: 'parameter_invalid_empty' }],
    [
      'a port that accepts no connections',
      '/api/ext/generic/dns/tcp-verifier',
      'domain_ip=127.0.0.1&port=1',
      200,
      { data: { connection: 'refused' } },
    ],
    ['a private address', '/api/ext/generic/dns/tcp-verifier', 'domain_ip=10.0.0.1&port=25', 200, { data: { connection: 'blocked' } }],
    ['a number for a host', '/api/ext/generic/dns/tcp-verifier', 'domain_ip=2130706433&port=25', 400, { code: 'parameter_invalid_format' }],
  ])('%s', async (_, path, form, status, body) => {
    await using w = await world()
    const reply = await w.post(path, undefined, { raw: form, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    expect(reply.status).toBe(status)
    expect(reply.body).toMatchObject(body)
  })

  test('a long text is scored like a short one, also for a key of an organisation', async () => {
    await using w = await world()
    const path = '/api/ext/generic/text/sentiment-score'
    for (const key of [w.keys.support, w.keys.member]) {
      const { status, body } = await w.form(path, { text: 'no '.repeat(33_333) }, { key })
      expect([status, body.data.score, body.data.tokens.length]).toEqual([200, -33_333, 33_333])
    }
  })

  test('only forms with POST are accepted, not JSON or query parameters', async () => {
    await using w = await world()
    expect((await w.post(food, { count: '1' })).status).toBe(415)
    expect((await w.form(`${food}?count=1`, {})).body.code).toBe('parameter_unknown')
    expect((await w.get(food)).headers.allow).toBe('POST, OPTIONS')
  })

  test('secret keys of every role but smtpproxy and organisation keys may call them, and publishable keys may not', async () => {
    await using w = await world()
    for (const key of [w.keys.support, w.keys.member]) expect((await w.form(food, { count: '1' }, { key })).status).toBe(200)
    expect((await w.form(food, { count: '1' }, { key: w.keys.smtpproxy })).body.error.reason).toBe('role')
    expect((await w.form(food, { count: '1' }, { key: w.keys.public })).body.error.reason).toBe('not_publishable')
  })

  test('the monthly quota is enforced and renewed each month', async () => {
    await using w = await world({ env: { QUOTA_EXT_CALLS_MONTH: '2' } })
    const call = () => w.form(food, { count: '1' })
    expect([(await call()).status, (await call()).status]).toEqual([200, 200])
    const refused = await call()
    expect([refused.status, refused.body.code]).toEqual([429, 'quota_exceeded'])
    w.advance(Number(refused.headers['retry-after']) * 1000)
    expect((await call()).status).toBe(200)
  })

  test('they have their own rate limit: a burst of ten seconds, then 429 with the seconds to wait', async () => {
    await using w = await world({ env: { RATE_EXT: '1' } })
    const replies = []
    for (let at = 0; at < 11; at++) replies.push(await w.form(food, { count: '1' }))
    expect(replies.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    expect(replies.at(-1)?.headers['retry-after']).toBe('1')
  })
})
