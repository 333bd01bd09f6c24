/** What journeys cost a batch, and what they report. Statements are counted at the driver. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { queueDepths } from '../../src/workers.ts'
import { createJourney } from '../journeys.ts'
import { type World, world } from '../world.ts'

const at = { x: 0, y: 0 }
const to = (external_id: string, path?: string) => ({ external_id, ...(path !== undefined && { path }) })
const USER_TABLES = /\bjourney_(entrances|timers|users|past|keys|counts|calls)\b/
/** What a batch asks whatever is in it: which versions are published, and which timers are due. */
const PROBES = /^with recursive|q\.until|journey_versions/

type Statements = { reads: string[]; writes: string[] }

/** Has the connections that are opened from now on recorded, and returns the statements about these tables while something runs. */
function recordStatements(tables = USER_TABLES): Disposable & { of(work: () => Promise<unknown>): Promise<Statements> } {
  let texts: string[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [first] = given
    texts.push((typeof first === 'string' ? first : ((first as { text?: string } | undefined)?.text ?? '')).trim())
    return (query as (...args: unknown[]) => unknown).apply(this, given)
  } as typeof query
  const isRead = (text: string) => /^select/i.test(text)
  return {
    async of(work) {
      texts = []
      await work()
      expect(texts.some((text) => PROBES.test(text))).toBe(true)
      const own = texts.filter((text) => tables.test(text) && !PROBES.test(text))
      return { reads: own.filter(isRead), writes: own.filter((text) => !isRead(text)) }
    },
    [Symbol.dispose]() {
      pg.Client.prototype.query = query
    },
  }
}

const names = (count: number) => Array.from({ length: count }, (_, number) => `user-${number}`)

async function liveJourney(w: World) {
  return createJourney(
    w,
    { status: 'live' },
    {
      start: {
        type: 'entrance',
        ...at,
        data: { trigger: 'event', event_name: 'cart', multiple: true, rule: { attribute: 'data.plan', is_set: false } },
        children: [to('gate')],
      },
      gate: { type: 'gate', ...at, data: { rule: { attribute: 'data.plan', is: 'pro' } }, children: [to('end', 'yes'), to('wait', 'no')] },
      wait: {
        type: 'wait_until',
        ...at,
        data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '1d' },
        children: [to('end', 'bought'), to('end', 'timeout')],
      },
      end: { type: 'exit', ...at },
    },
  )
}

const sendAndApply = (w: World, name: string, users: string[]): Promise<void> =>
  sendAndApplyAll(
    w,
    users.map((external_id) => ({ name, external_id })),
  )

async function sendAndApplyAll(w: World, events: object[]): Promise<void> {
  for (let from = 0; from < events.length; from += 100) await w.post('/api/client/events', events.slice(from, from + 100))
  await w.drain('ingest.apply')
}

test('a batch that no journey watches costs no statement about users, and others cost as many for few users as for many', async () => {
  using statements = recordStatements()
  await using w = await world({ own: true })
  await w.users(...names(100))
  await w.drain()
  await liveJourney(w)
  await sendAndApply(w, 'cart', ['user-99'])
  expect(await statements.of(() => sendAndApply(w, 'page_viewed', names(90)))).toEqual({ reads: [], writes: [] })
  for (const [name, reads, writes] of [
    ['cart', 5, 12],
    ['purchase', 5, 12],
  ] as const) {
    const few = await statements.of(() => sendAndApply(w, name, names(5)))
    const many = await statements.of(() => sendAndApply(w, name, names(90).slice(5)))
    expect(many.reads.length, many.reads.join('\n')).toBeLessThanOrEqual(reads)
    expect(many.writes.length, many.writes.join('\n')).toBeLessThanOrEqual(writes)
    expect([many.reads.length, many.writes.length]).toEqual([few.reads.length, few.writes.length])
  }
})

test('a step that changes a subscription costs as many statements for few users as for many', async () => {
  using statements = recordStatements(/\b(user_subscriptions|consent_entries|confirmations|users)\b/)
  await using w = await world({ own: true })
  await w.users(...names(100))
  const { id: subscription_id } = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body
  await createJourney(
    w,
    { status: 'live' },
    {
      start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'cart' }, children: [to('unsubscribe')] },
      unsubscribe: { type: 'subscription', ...at, data: { subscription_id, state: 0 }, children: [to('end')] },
      end: { type: 'exit', ...at },
    },
  )
  await sendAndApply(w, 'cart', ['user-99'])
  const few = await statements.of(() => sendAndApply(w, 'cart', names(5)))
  const many = await statements.of(() => sendAndApply(w, 'cart', names(90).slice(5)))
  expect([many.reads.length, many.writes.length], many.writes.join('\n')).toEqual([few.reads.length, few.writes.length])
  const { results } = (await w.get('/api/client/users/user-89/consents')).body
  expect(results).toMatchObject([
    { state: 0, source: 'journey', proof: { journey_id: expect.any(Number), entrance_id: expect.any(Number) } },
  ])
})

test('a batch that merges users costs no statement about users of journeys in a project without journeys', async () => {
  using statements = recordStatements()
  await using w = await world({ own: true })
  await w.users('ana')
  await w.post('/api/client/events', [{ name: 'viewed', anonymous_id: 'visitor' }])
  await w.drain()
  const merging = statements.of(() => sendAndApplyAll(w, [{ name: 'viewed', external_id: 'ana', anonymous_id: 'visitor' }]))
  expect(await merging).toEqual({ reads: [], writes: [] })
  expect((await w.get('/api/client/users/ana')).body).toMatchObject({ anonymous_id: 'visitor' })
})

test('metrics tell how late the oldest timer is, whichever process applies it, and that none is late any more', async () => {
  await using w = await world({ own: true })
  await w.users('ana')
  await createJourney(
    w,
    { status: 'live' },
    {
      start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'cart' }, children: [to('hour')] },
      hour: { type: 'delay', ...at, data: { hours: 1 } },
    },
  )
  await sendAndApply(w, 'cart', ['ana'])
  const lag = async () => {
    await queueDepths(w.ctx)
    return Number(/^app_journey_timer_lag_seconds (\d+)/m.exec((await w.get('/metrics', { key: null })).text)?.[1])
  }
  expect(await lag()).toBe(0)
  w.advance('70 minutes')
  const late = await lag()
  expect([late > 590, late <= 600]).toEqual([true, true])
  await w.drain()
  expect(await lag()).toBe(0)
})

test('metrics tell how many users are parked and how many calls have no answer, and count decisions', async () => {
  await using w = await world({ own: true })
  await w.users('ana')
  await createJourney(
    w,
    { status: 'live' },
    {
      start: { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'cart' }, children: [to('call')] },
      call: { type: 'webhook', ...at, data: { url: 'https://example.com/hook' } },
    },
  )
  await sendAndApply(w, 'cart', ['ana'])
  await queueDepths(w.ctx)
  const { text } = await w.get('/metrics', { key: null })
  expect(text).toContain('app_journey_waiting{what="calls"} 1')
  expect(text).toContain('app_journey_waiting{what="parked"} 0')
  expect(text).toMatch(/app_journey_rounds_total\{what="decisions"\} [1-9]/)
})
