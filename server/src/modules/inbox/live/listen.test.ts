import { describe, expect, test, vi } from 'vitest'
import { deliver, type InboxProcess, OWN, type Stream, type StreamEvent, startInbox, userId } from '../../../../test/inbox.ts'
import { rowsOf } from '../../../../test/statements.ts'
import { SOON } from '../../../../test/wait.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, UserId } from '../../../lib/ids.ts'
import { matches } from '../../../lib/validate.ts'
import { eraseInbox, inboxJobs, mergeInbox } from '../index.ts'
import { InboxMessage } from '../schema.ts'

type Stage = AsyncDisposable & { w: World; closing: AsyncDisposableStack; inbox: InboxProcess; ana: UserId; token: string }

async function stage(): Promise<Stage> {
  const closing = new AsyncDisposableStack()
  const w = closing.use(await world())
  const inbox = await startInbox(w, closing)
  await w.users('ana', 'kim')
  const [ana, token] = [await userId(w, 'ana'), await w.token('ana')]
  return { w, closing, inbox, ana, token, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const listen = async ({ closing, inbox, token }: Stage, options: { headers?: Record<string, string>; path?: string } = {}) =>
  closing.use(await inbox.listen({ token, ...options }))
const beyond = (id: number) => ({ headers: { 'last-event-id': String(id) } })
const messagesIn = (events: StreamEvent[]) => events.filter(({ event }) => event === 'message')
const titlesIn = (events: StreamEvent[]) => messagesIn(events).map(({ data }) => data.title)
const unreadIn = (events: StreamEvent[]) => events.findLast(({ event }) => event === 'unread')?.data.unread
const lastId = ({ events }: Stream) => events.at(-1)?.id as number
const updateReadState = ({ inbox, token }: Stage, id: number, body: object) => inbox.call('PATCH', `${OWN}/${id}`, { token, body })

describe('an inbox stream', () => {
  test('sends the number of unread messages at once, and every message as it comes', async () => {
    await using s = await stage()
    await deliver(s.w, s.ana, { title: 'before' })
    const stream = await listen(s)
    await stream.until((events) => events.length === 1, 'still')
    expect(stream.events).toEqual([{ id: 1, event: 'unread', data: { unread: 1 } }])
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    })
    await deliver(s.w, s.ana, { title: 'after' })
    s.inbox.streams.wake()
    await stream.until((events) => events.length === 3, 'still')
    expect(stream.events.slice(1)).toMatchObject([
      { id: 2, event: 'message', data: { title: 'after', read_at: null } },
      { id: 2, event: 'unread', data: { unread: 2 } },
    ])
    const problem = matches(InboxMessage)
    for (const { data } of messagesIn(stream.events)) expect(problem(data)).toBeNull()
  })

  test('sends changes that the user made elsewhere', async () => {
    await using s = await stage()
    const [id] = (await deliver(s.w, s.ana, {})) as [MessageId]
    const [one, two] = [await listen(s), await listen(s)]
    await one.until(({ length }) => length === 1, 'still')
    await two.until(({ length }) => length === 1, 'still')
    await updateReadState(s, id, { read: true })
    for (const { until } of [one, two]) await until((events) => unreadIn(events) === 0, 'still')
    for (const { events } of [one, two]) expect(messagesIn(events)).toMatchObject([{ data: { id, read_at: expect.any(String) } }])
    await updateReadState(s, id, { read: false })
    await s.inbox.call('POST', `${OWN}/read-all`, { token: s.token })
    for (const { until } of [one, two]) await until((events) => unreadIn(events) === 0 && messagesIn(events).length >= 2)
  })

  test('sends nothing of other users', async () => {
    await using s = await stage()
    const stream = await listen(s)
    await deliver(s.w, await userId(s.w, 'kim'), { title: 'for Kim' })
    await deliver(s.w, s.ana, { title: 'for Ana' })
    await stream.until((events) => events.length === 3)
    expect(titlesIn(stream.events)).toEqual(['for Ana'])
  })

  test('sends the same from every process, whichever made the change', async () => {
    await using s = await stage()
    const other = await startInbox(s.w, s.closing)
    const [here, there] = [await listen(s), await listen({ ...s, inbox: other })]
    const [id] = (await deliver(s.w, s.ana, { title: 'a' })) as [MessageId]
    await here.until((events) => titlesIn(events).length === 1)
    await there.until((events) => titlesIn(events).length === 1)
    await updateReadState({ ...s, inbox: other }, id, { archived: true })
    await here.until((events) => unreadIn(events) === 0)
    await there.until((events) => unreadIn(events) === 0)
    expect(here.events.slice(1)).toEqual(there.events.slice(1))
  })

  test('continues after a lost connection without missing or repeated events', async () => {
    await using s = await stage()
    const other = await startInbox(s.w, s.closing)
    const delivered: number[] = []
    const received: StreamEvent[] = []
    let from = 0
    for (let round = 0; received.length < 60; round++) {
      await using stream = await (round % 2 === 0 ? s.inbox : other).listen({ token: s.token, ...beyond(from) })
      for (let at = 0; at < 4 && delivered.length < 60; at++) delivered.push(...(await deliver(s.w, s.ana, {}, {})))
      const wanted = Math.min(3 + (round % 4), 60 - received.length)
      await stream.until((events) => messagesIn(events).length >= wanted)
      // The connection breaks after some event. Later events are lost.
      const kept = messagesIn(stream.events).slice(0, wanted)
      received.push(...kept)
      from = kept.at(-1)?.id as number
    }
    expect(received.map(({ data }) => data.id)).toEqual(delivered)
    const ids = received.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  })

  test('sends each changed message once, in its current state, after a reconnect', async () => {
    await using s = await stage()
    const first = await listen(s)
    const [a, b] = (await deliver(s.w, s.ana, { title: 'a' }, { title: 'b' })) as [MessageId, MessageId]
    await first.until((events) => messagesIn(events).length === 2)
    await first.close()
    await updateReadState(s, b, { seen: true })
    await updateReadState(s, a, { read: true })
    await updateReadState(s, b, { read: true })
    await deliver(s.w, s.ana, { title: 'c' })
    const second = await listen(s, beyond(lastId(first)))
    await second.until((events) => messagesIn(events).length === 3)
    expect(messagesIn(second.events)).toMatchObject([
      { id: 4, data: { title: 'a', read_at: expect.any(String) } },
      { id: 5, data: { title: 'b', read_at: expect.any(String) } },
      { id: 6, data: { title: 'c', read_at: null } },
    ])
    expect(unreadIn(second.events)).toBe(1)
  })

  test.each([
    ['header', { headers: { 'last-event-id': '2' } }, ['c']],
    ['parameter', { path: `${OWN}/stream?last_event_id=2` }, ['c']],
    ['header before the parameter', { path: `${OWN}/stream?last_event_id=0`, headers: { 'last-event-id': '2' } }, ['c']],
    ['parameter 0 for all messages', { path: `${OWN}/stream?last_event_id=0` }, ['a', 'b', 'c']],
    ['number beyond the last event', { headers: { 'last-event-id': '4000' } }, ['a', 'b', 'c']],
  ])('starts at the position of the %s', async (_, options, expected) => {
    await using s = await stage()
    await deliver(s.w, s.ana, { title: 'a' }, { title: 'b' }, { title: 'c' })
    const stream = await listen(s, options)
    await stream.until((events) => titlesIn(events).length === expected.length, 'still')
    expect(titlesIn(stream.events)).toEqual(expected)
  })

  test.each([
    ['Last-Event-ID', { headers: { 'last-event-id': 'abc' } }],
    ['last_event_id', { path: `${OWN}/stream?last_event_id=-1` }],
  ])('refuses an invalid %s', async (param, options) => {
    await using s = await stage()
    const { path = `${OWN}/stream`, ...call } = options as { path?: string; headers?: Record<string, string> }
    const { status, body } = await s.inbox.call('GET', path, { token: s.token, ...call })
    expect([status, body.error.code, body.error.param]).toEqual([400, 'parameter_invalid_format', param])
  })

  test('sends more changes than one poll returns, in order', async () => {
    await using s = await stage()
    const ids = await deliver(s.w, s.ana, ...Array.from({ length: 90 }, () => ({})))
    const stream = await listen(s, beyond(0))
    await stream.until((events) => messagesIn(events).length === 90, 'still')
    expect(messagesIn(stream.events).map(({ data }) => data.id)).toEqual(ids)
  })

  test('sends a lower unread count when messages expire, and not those messages', async () => {
    await using s = await stage()
    await deliver(s.w, s.ana, { title: 'expires', expires_at: '2026-11-23T09:00:30Z' }, { title: 'stays' })
    const stream = await listen(s)
    s.w.advance('31 seconds')
    for (const { run } of inboxJobs) expect(await run(s.w.ctx, new AbortController().signal)).toBe(1)
    await stream.until((events) => unreadIn(events) === 1)
    const again = await listen(s, beyond(0))
    await again.until((events) => titlesIn(events).length > 0)
    expect(titlesIn(again.events)).toEqual(['stays'])
  })

  test('ends with an event when the token expires, and sends nothing after it', async () => {
    await using s = await stage()
    const stream = await listen(s)
    await stream.until(({ length }) => length === 1)
    s.w.advance('14 minutes')
    s.w.advance('50 seconds')
    const deliverNow = async (title: string) => {
      await deliver(s.w, s.ana, { title })
      s.inbox.streams.wake()
    }
    await deliverNow('in time')
    await stream.until((events) => titlesIn(events).length === 1, 'still')
    s.w.advance('11 seconds')
    await deliverNow('too late')
    await stream.until((events) => events.at(-1)?.event !== 'unread', 'still')
    expect(stream.events.at(-1)).toMatchObject({ data: { reason: 'user_token_expired', message: expect.any(String) } })
    await vi.waitFor(() => expect(stream.isOver()).toBe(true), SOON)
    expect(titlesIn(stream.events)).toEqual(['in time'])
    s.token = await s.w.token('ana')
    const next = await listen(s, beyond(lastId(stream)))
    await next.until((events) => titlesIn(events).length === 1)
    expect(titlesIn(next.events)).toEqual(['too late'])
  })

  test('ends with an event when the key that issued the token is archived', async () => {
    await using s = await stage()
    const key = (await s.w.post('/api/client/keys', { name: 'short-lived', role: 'editor' })).body
    s.token = (await s.w.post('/api/client/users/ana/sessions', undefined, { key: key.value })).body.token
    const stream = await listen(s)
    await stream.until(({ length }) => length === 1)
    expect((await s.w.delete(`/api/client/keys/${key.id}`)).status).toBe(204)
    await stream.until((events) => events.at(-1)?.event === 'expired')
    expect(stream.events.at(-1)?.data.reason).toBe('user_token_invalid')
  })

  test('ends with an event when the user is erased', async () => {
    await using s = await stage()
    const stream = await listen(s)
    await stream.until(({ length }) => length === 1)
    await s.w.delete('/api/client/users/ana')
    await inTx(s.w.ctx, (ctx) => eraseInbox(ctx, [s.ana]))
    s.inbox.streams.wake()
    await stream.until((events) => events.at(-1)?.event === 'expired', 'still')
  })

  test('continues when its user is merged, and misses no message of either user', async () => {
    await using s = await stage()
    await s.w.post('/api/client/users/batch', [{ anonymous_id: 'browser' }])
    const browser = await userId(s.w, 'browser')
    await deliver(s.w, browser, { title: 'v1' })
    await deliver(s.w, s.ana, { title: 'a1' }, { title: 'a2' }, { title: 'a3' })
    const token = await s.w.token('browser')
    const stream = await listen({ ...s, token }, beyond(0))
    const away = await listen({ ...s, token }, beyond(0))
    for (const { until } of [stream, away]) await until((events) => titlesIn(events).length === 1)
    await away.close()
    const merged = await s.w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
    expect(merged.body.results[0].user.id).toBe(s.ana)
    await inTx(s.w.ctx, (ctx) => mergeInbox(ctx, [{ from_id: browser, into_id: s.ana }]))
    await deliver(s.w, s.ana, { title: 'a4' })
    await stream.until((events) => titlesIn(events).includes('a4'))
    const back = await listen({ ...s, token }, beyond(lastId(away)))
    await back.until((events) => titlesIn(events).includes('a4'))
    for (const { events } of [stream, back]) {
      expect(new Set(titlesIn(events))).toEqual(new Set(['v1', 'a1', 'a2', 'a3', 'a4']))
      expect(unreadIn(events)).toBe(5)
    }
  })

  test('continues when its user is merged into a user without an inbox', async () => {
    await using s = await stage()
    await s.w.post('/api/client/users/batch', [{ anonymous_id: 'browser' }])
    const browser = await userId(s.w, 'browser')
    const stream = await listen({ ...s, token: await s.w.token('browser') })
    await stream.until(({ length }) => length === 1)
    await s.w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
    await inTx(s.w.ctx, (ctx) => mergeInbox(ctx, [{ from_id: browser, into_id: s.ana }]))
    await deliver(s.w, s.ana, { title: 'after' })
    await stream.until((events) => titlesIn(events).includes('after'))
  })

  test('continues when the database connections are killed', async () => {
    await using s = await stage()
    const stream = await listen(s)
    await stream.until(({ length }) => length === 1)
    for (let round = 1; round <= 5; round++) {
      s.w.advance(250)
      await rowsOf(
        s.w.databaseUrl,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'carillon inbox' and datname = current_database()`,
      )
      await deliver(s.w, s.ana, { title: `${round}` })
      await stream.until((events) => titlesIn(events).length === round)
    }
    expect(titlesIn(stream.events)).toEqual(['1', '2', '3', '4', '5'])
  })

  test('continues when a poll fails', async () => {
    await using s = await stage()
    const stream = await listen(s)
    await stream.until(({ length }) => length === 1)
    await s.w.db.transaction(async (db) => {
      await db.run(sql`lock table inbox_counters in access exclusive mode`)
      await vi.waitFor(async () => {
        s.w.advance(250)
        const killed = await rowsOf(
          s.w.databaseUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity
             where application_name = 'carillon inbox' and datname = current_database() and wait_event_type = 'Lock'`,
        )
        expect(killed).toHaveLength(1)
      }, SOON)
    })
    await deliver(s.w, s.ana, { title: 'after' })
    await stream.until((events) => titlesIn(events).length === 1)
  })

  test('can be opened five times for each user, and again after one was closed', async () => {
    await using s = await stage()
    const streams = await Promise.all(Array.from({ length: 5 }, () => listen(s)))
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const sixth = await s.inbox.call('GET', `${OWN}/stream`, { token: s.token })
    expect([sixth.status, sixth.body.error.code, sixth.headers.get('retry-after')]).toEqual([429, 'rate_limited', '5'])
    const kim = await listen({ ...s, token: await s.w.token('kim') })
    expect(kim.status).toBe(200)
    await streams[2]?.close()
    const next = await vi.waitFor(async () => {
      const stream = await listen(s)
      expect(stream.status).toBe(200)
      return stream
    }, SOON)
    expect(next.headers.get('content-type')).toContain('text/event-stream')
  })

  test('sends a comment every twenty seconds if nothing changes', async () => {
    await using s = await stage()
    const stream = await listen(s)
    await stream.until(({ length }) => length === 1, 'still')
    for (let count = 1; count <= 3; count++) {
      await vi.waitFor(() => {
        s.w.advance('20 seconds')
        expect(stream.heartbeats()).toBeGreaterThanOrEqual(count)
      }, SOON)
    }
    expect(stream.events).toHaveLength(1)
  })

  test('ends when the server drains', async () => {
    await using s = await stage()
    const streams = [await listen(s), await listen(s)]
    for (const { until } of streams) await until(({ length }) => length === 1, 'still')
    await s.inbox.app.close()
    await vi.waitFor(() => expect(streams.map(({ isOver }) => isOver())).toEqual([true, true]), SOON)
  })
})
