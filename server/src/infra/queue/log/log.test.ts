/** What a log in front of the queue adds: requests are accepted while the database is away, and each is moved to the queue once. */
import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openForwarder } from '../../../../test/forwarder.ts'
import { appendByHand, deleteLog, hasNats, logSettings, type Nats, openNats } from '../../../../test/nats.ts'
import { select } from '../../../../test/select.ts'
import { SOON } from '../../../../test/wait.ts'
import { type World, world } from '../../../../test/world.ts'
import { StartError } from '../../../lib/start-error.ts'
import { openLog } from '../../log/open-log.ts'
import { sql } from '../../postgres/db.ts'
import type { AcceptedLog } from '../../runtime/accepted-log.ts'
import { systemClock } from '../../runtime/clock.ts'
import { readConfig } from '../../runtime/config.ts'
import { inTx } from '../../runtime/ctx.ts'
import { watermark } from '../watermark.ts'
import { logDepth } from './depth.ts'
import { moveAll, moveNext } from './move.ts'
import { storePosition } from './position.ts'

let nats: Nats
beforeAll(async () => {
  if (hasNats) nats = await openNats()
})
afterAll(() => nats?.[Symbol.asyncDispose]())
afterEach(async () => {
  await using w = await world()
  await w.db.run(sql`delete from queue_entries`)
})

const EVENTS = '/api/client/events'
const kim = (name = 'x') => [{ name, external_id: 'kim' }]
const key = (name: string) => ({ headers: { 'idempotency-key': name } })
const logOf = (w: World) => w.ctx.acceptedLog as AcceptedLog

const entries = async (w: World) =>
  (await select(w, 'select request_id from queue_entries where project_id = $1 order by position', [w.projectId])).length
const appliedNames = async (w: World) =>
  (await select(w, `select name from events where project_id = $1 and name like 'n%' order by received_at, name`, [w.projectId])).map(
    ({ name }) => name,
  )

/** Appends requests with events of these names. */
const send = async (w: World, ...names: string[]) => {
  for (const name of names) expect((await w.post(EVENTS, kim(name))).status).toBe(204)
}

describe.runIf(hasNats)('moving to the queue', () => {
  test('goes on after the stored position when the process died before the log forgot what was moved', async () => {
    await using w = await world({ env: logSettings(nats) })
    const log = logOf(w)
    await send(w, 'n1', 'n2')
    expect(await moveNext(w.ctx, { ...log, forget: async () => undefined })).toBe(2)
    expect(await log.extent()).toMatchObject({ first: 1, last: 2, count: 2 })
    expect(await moveNext(w.ctx, { ...log, mover: log.mover })).toBe(0)
    await send(w, 'n3')
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n2', 'n3'])
    expect(await log.extent()).toMatchObject({ count: 0 })
  })

  test('stores neither entries nor the position when another process moved the same ones meanwhile', async () => {
    await using w = await world({ env: logSettings(nats) })
    const log = logOf(w)
    await send(w, 'n1', 'n2')
    const overtaken: AcceptedLog = {
      ...log,
      async readAfter(...args) {
        const read = await log.readAfter(...args)
        await moveNext(w.ctx, log)
        return read
      },
    }
    expect(await moveNext(w.ctx, overtaken)).toBe(1)
    expect(await entries(w)).toBe(2)
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n2'])
  })

  test('is done by one process at a time, and by another when its lease has ended', async () => {
    await using w = await world({ env: logSettings(nats) })
    const log = logOf(w)
    await send(w, 'n1')
    expect(await moveNext(w.ctx, log)).toBe(1)
    await send(w, 'n2')
    expect(await moveNext(w.ctx, { ...log, mover: 'another' })).toBe(0)
    await w.db.run(sql`update log_positions set leased_until = now() - interval '1 second' where log = ${log.id}`)
    expect(await moveNext(w.ctx, { ...log, mover: 'another' })).toBe(1)
    expect(await entries(w)).toBe(2)
  })

  test('undoes the entries when the position cannot be stored', async () => {
    await using w = await world({ env: logSettings(nats) })
    const log = logOf(w)
    await send(w, 'n1')
    await moveNext(w.ctx, log)
    await expect(
      inTx(w.ctx, async (ctx) => {
        await ctx.db.run(sql`delete from queue_entries where project_id = ${w.projectId}`)
        await storePosition(ctx, log.id, { position: 7, stored_at: null }, { to: 8, storedAt: null, completeTo: w.clock.now() })
      }),
    ).rejects.toThrow('Another process')
    expect(await entries(w)).toBe(1)
  })

  test('skips what is no request', async () => {
    const settings = logSettings(nats)
    await using w = await world({ env: settings })
    await send(w, 'n1')
    await appendByHand(settings, 'hello')
    await send(w, 'n2')
    expect(await moveNext(w.ctx, logOf(w))).toBe(3)
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n2'])
  })

  test('waits while the queue is full, and requests are accepted meanwhile', async () => {
    await using w = await world({ env: { ...logSettings(nats), BACKLOG_ITEMS_MAX: '2' } })
    await send(w, 'n1', 'n2')
    await w.drain('ingest.move')
    w.advance('2 seconds')
    await send(w, 'n3')
    expect(await moveNext(w.ctx, logOf(w))).toBe(0)
    expect(await entries(w)).toBe(2)
    await w.drain()
    w.advance('2 seconds')
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n2', 'n3'])
  })

  test('parks the items of a request whose Idempotency-Key another one used while that could not be known', async () => {
    const settings = logSettings(nats)
    await using w = await world({ env: settings })
    await using direct = await world({ own: true })
    const auth = { ...key('k'), key: w.keys.secret }
    await w.post(EVENTS, kim('n1'), key('k'))
    expect((await direct.post(EVENTS, kim('n2'), auth)).status).toBe(204)
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n2'])
    const [parked] = await select(w, 'select item, reason from parked_items where project_id = $1', [w.projectId])
    expect(parked).toEqual({ item: kim('n1')[0], reason: 'The Idempotency-Key was first used with a different request.' })
  })

  test.each([
    ['begins with a byte order mark', (text: string) => `\ufeff${text}`],
    ['has half of a surrogate pair', (text: string) => text.replace('n1', String.raw`n1\ud83d`)],
  ])('parks them also if its body %s, and moves what comes after it', async (_, bodyOf) => {
    await using w = await world({ env: { ...logSettings(nats), LOG_BYTES_MAX: '65536' } })
    await using direct = await world({ own: true })
    const auth = { ...key('k'), key: w.keys.secret }
    expect((await w.post(EVENTS, undefined, { ...key('k'), raw: bodyOf(JSON.stringify(kim('n1'))) })).status).toBe(204)
    expect((await direct.post(EVENTS, kim('n2'), auth)).status).toBe(204)
    await send(w, 'n3')
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n2', 'n3'])
    const [parked] = await select(w, 'select item from parked_items where project_id = $1', [w.projectId])
    expect(parked?.item).toMatchObject({ external_id: 'kim' })
  })

  test.each([
    ['of the first key before a rotation of SECRETS_KEY', null],
    [
      'of an earlier release',
      createHash('sha256').update('POST\n/api/client/events\n[]\n[{"external_id":"kim","name":"n1"}]').digest('hex'),
    ],
  ])('tells a repeat by a record %s from another request', async (_, fingerprint) => {
    const former = `a:${Buffer.alloc(32, 1).toString('base64')}`
    const rotated = `b:${Buffer.alloc(32, 2).toString('base64')},${former}`
    await using w = await world({ env: { ...logSettings(nats), LOG_BYTES_MAX: '65536', SECRETS_KEY: rotated } })
    await using direct = await world({ own: true, env: { SECRETS_KEY: former } })
    const names = ['the same one', 'another one']
    for (const name of names) {
      expect((await w.post(EVENTS, kim(name === 'the same one' ? 'n1' : 'n2'), key(name))).status).toBe(204)
      expect((await direct.post(EVENTS, kim('n1'), { ...key(name), key: w.keys.secret })).status).toBe(204)
    }
    if (fingerprint) {
      await select(w, 'update idempotency_records set fingerprint = $1 where idempotency_key = any($2) returning key_id', [
        fingerprint,
        names,
      ])
    }
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n1'])
    const parked = await select(w, 'select item from parked_items where project_id = $1', [w.projectId])
    expect(parked).toEqual([{ item: kim('n2')[0] }])
  })

  test('begins anew with a stream that was deleted and created again', async () => {
    const settings = logSettings(nats)
    await using w = await world({ env: settings })
    await send(w, 'n1', 'n2')
    await w.drain()
    await deleteLog(settings)
    await using again = await world({ env: settings })
    await send(again, 'n3')
    await again.drain()
    expect(await appliedNames(again)).toEqual(['n3'])
  })

  test('begins anew with such a stream in a process that has moved the former one, and one that began with it moves nothing twice', async () => {
    const settings = logSettings(nats)
    await using w = await world({ env: settings })
    await send(w, 'n1', 'n2', 'n3')
    await w.drain()
    await deleteLog(settings)
    await using again = await world({ env: settings })
    const both = { ...again, projectId: w.projectId }
    await send(w, 'n4', 'n5')
    expect((await logDepth(w.ctx, logOf(w)))?.waiting).toBe(2)
    await w.drain()
    expect(await appliedNames(both)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5'])
    await send(w, 'n6', 'n7')
    await again.drain()
    await w.drain()
    expect(await appliedNames(both)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'])
    expect(await logOf(w).extent()).toMatchObject({ count: 0, last: 4 })
  })

  test('forgets nothing of a stream that was created again while the former one was moved', async () => {
    const settings = logSettings(nats)
    await using w = await world({ env: settings })
    await send(w, 'n1', 'n2', 'n3')
    await using closing = new AsyncDisposableStack()
    const replaced: AcceptedLog = {
      ...logOf(w),
      async forget(...args) {
        await deleteLog(settings)
        closing.use(await world({ env: settings }))
        await send(w, 'n4')
        await logOf(w).forget(...args)
      },
    }
    expect(await moveNext(w.ctx, replaced)).toBe(3)
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n2', 'n3', 'n4'])
  })

  test.each([
    ['before', ['n6']],
    ['up to', ['n6', 'n7']],
    ['beyond', ['n6', 'n7', 'n8']],
  ])(
    'moves what is accepted after a crash that took entries which were moved, %s their positions',
    { timeout: 60_000 },
    async (_, after) => {
      await using own = await openNats()
      await using w = await world({ env: logSettings(own) })
      await send(w, 'n1', 'n2', 'n3')
      await own.kill()
      own.copyFiles()
      await own.restart()
      await send(w, 'n4', 'n5')
      await w.drain()
      await own.kill()
      own.restoreFiles()
      await own.restart()
      await send(w, ...after)
      expect((await logDepth(w.ctx, logOf(w)))?.waiting).toBe(after.length)
      await moveAll(w.ctx)
      expect(await entries(w)).toBe(after.length)
      await w.drain()
      expect(await appliedNames(w)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5', ...after])
      await send(w, 'n9')
      await w.drain()
      expect((await appliedNames(w)).at(-1)).toBe('n9')
      expect(await logOf(w).extent()).toMatchObject({ count: 0 })
    },
  )

  test('moves what is accepted after a crash that took all entries of the stream', { timeout: 60_000 }, async () => {
    await using own = await openNats()
    await using w = await world({ env: logSettings(own) })
    await own.kill()
    own.copyFiles()
    await own.restart()
    await send(w, 'n1', 'n2')
    await w.drain()
    await own.kill()
    own.restoreFiles()
    await own.restart()
    const extent = await vi.waitFor(() => logOf(w).extent(), SOON)
    expect(extent).toMatchObject({ first: 1, last: 0, count: 0 })
    expect((await logDepth(w.ctx, logOf(w)))?.waiting).toBe(0)
    await moveAll(w.ctx)
    await send(w, 'n3')
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n2', 'n3'])
  })

  test('holds timers back until everything that was accepted before them is in the queue', async () => {
    await using w = await world({ env: logSettings(nats) })
    const upTo = () => inTx(w.ctx, (tx) => watermark(tx, w.projectId, [])())
    await w.drain()
    expect(await upTo()).toEqual(w.clock.now())
    const drainedAt = w.clock.now()
    w.advance('1 minute')
    await send(w, 'n1')
    const sentAt = w.clock.now()
    w.advance('1 minute')
    expect(await upTo()).toEqual(drainedAt)
    await moveNext(w.ctx, logOf(w))
    expect(await upTo()).toEqual(sentAt)
    await w.drain()
    expect(await upTo()).toEqual(w.clock.now())
  })

  test('is seen in the metrics', async () => {
    await using w = await world({ env: logSettings(nats) })
    await send(w, 'n1', 'n2')
    const depth = await logDepth(w.ctx, logOf(w))
    expect(depth?.waiting).toBe(2)
    expect(depth?.oldest).toBeInstanceOf(Date)
    expect((await w.get('/metrics')).text).toMatch(/^app_log_up\{log="nats"\} 1$/m)
    await w.drain()
    expect(await logDepth(w.ctx, logOf(w))).toEqual({ waiting: 0, oldest: null })
    const away: AcceptedLog = { ...logOf(w), extent: () => Promise.reject(new Error('away')) }
    expect(await logDepth(w.ctx, away)).toBeUndefined()
    expect((await w.get('/metrics')).text).toMatch(/^app_log_up\{log="nats"\} 0$/m)
  })
})

describe.runIf(hasNats)('accepting', () => {
  test('goes on while the database is away, for keys that were used shortly before', async () => {
    const settings = { ...logSettings(nats), LOG_KEYS_KEPT_S: '60' }
    await using closing = new AsyncDisposableStack()
    const through = async (url: string) => {
      const { hostname, port } = new URL(url)
      forwarder = closing.use(await openForwarder({ host: hostname, port: Number(port) }))
      return Object.assign(new URL(url), { search: '', host: `127.0.0.1:${forwarder.port}` }).href
    }
    let forwarder = null as Awaited<ReturnType<typeof openForwarder>> | null
    await using w = await world({ env: settings, through })
    await using there = await world({ env: settings })
    await send(w, 'n1')
    await forwarder?.cut()
    w.advance('10 seconds')
    expect((await w.post(EVENTS, kim('n2'))).status).toBe(204)
    expect((await w.patch('/api/client/users', [{ external_id: 'kim', data: { plan: 'pro' } }])).status).toBe(204)
    const twice = [await w.post(EVENTS, kim('n3'), key('k')), await w.post(EVENTS, kim('n3'), key('k'))]
    expect(twice.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual([
      [204, undefined],
      [204, 'true'],
    ])
    expect((await w.post(EVENTS, kim(), { key: w.keys.editor })).status, 'a key that was not used before').toBe(503)
    expect((await w.get('/api/client/users')).status).toBe(503)
    w.advance('51 seconds')
    const late = await w.post(EVENTS, kim('n4'))
    expect([late.status, late.headers['retry-after']]).toEqual([503, '5'])
    await there.drain()
    expect(await appliedNames({ ...there, projectId: w.projectId })).toEqual(['n1', 'n2', 'n3'])
  })

  test('answers 503 while the log is full, and stores more when it has room', async () => {
    await using w = await world({ env: { ...logSettings(nats), LOG_BYTES_MAX: '4096' } })
    const replies = [
      await w.post(EVENTS, kim('n1')),
      await w.post(EVENTS, [{ name: 'n2', external_id: 'kim', data: { text: 'x'.repeat(4000) } }]),
    ]
    expect(replies.map(({ status, headers }) => [status, headers['retry-after']])).toEqual([
      [204, undefined],
      [503, '30'],
    ])
    await w.drain()
    await send(w, 'n3')
    await w.drain()
    expect(await appliedNames(w)).toEqual(['n1', 'n3'])
  })

  test('answers 503 while the log is away, and what it had is there afterwards', { timeout: 60_000 }, async () => {
    await using own = await openNats()
    await using w = await world({ env: logSettings(own) })
    await send(w, 'n1')
    await own.kill()
    const reply = await w.post(EVENTS, kim('n2'))
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '5'])
    await own.restart()
    await send(w, 'n3')
    await w.drain()
    expect((await appliedNames(w)).filter((name) => name !== 'n2')).toEqual(['n1', 'n3'])
  })
})

describe('a log that cannot be used', () => {
  const problemOf = (env: Record<string, string>) =>
    openLog(readConfig(env), systemClock).then(
      () => null,
      (error) => ({ isSentence: error instanceof StartError && !error.message.includes('\n'), message: error.message }),
    )

  test('is said to be away, without the password', async () => {
    const { isSentence, message } = (await problemOf({ LOG_URL: 'nats://kim:s3cret@127.0.0.1:1' })) ?? {}
    expect([isSentence, message]).toEqual([true, expect.stringMatching(/^NATS at 127\.0\.0\.1:1 cannot be reached .*correct LOG_URL\.$/)])
    expect(message).not.toContain('s3cret')
  })

  test.runIf(hasNats).each([
    ['without JetStream', ['max_payload: 2097152'], {}, /does not have JetStream enabled\. Start it with `-js`/],
    ['with small messages', ['jetstream { store_dir: "DIR/store" }', 'max_payload: 65536'], {}, /Set its `max_payload` to 1052672 or more/],
    ['alone', undefined, { LOG_REPLICAS: '3' }, /refused the stream “carillon” .* LOG_REPLICAS/],
    [
      'that wants a password',
      ['jetstream { store_dir: "DIR/store" }', 'authorization { user: a, password: b }'],
      {},
      /refused the user or the password\. Correct/,
    ],
  ])('%s', async (_, lines, env, pattern) => {
    await using own = await openNats(lines)
    expect(await problemOf({ LOG_URL: own.url, ...env })).toEqual({ isSentence: true, message: expect.stringMatching(pattern) })
  })
})
