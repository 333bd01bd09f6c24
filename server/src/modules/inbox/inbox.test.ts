import { describe, expect, test } from 'vitest'
import { deliver, type InboxProcess, OWN, startInbox, userId } from '../../../test/inbox.ts'
import { rowsOf } from '../../../test/statements.ts'
import { type World, world } from '../../../test/world.ts'
import { runToEnd } from '../../infra/queue/jobs.ts'
import { inTx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId, UserId } from '../../lib/ids.ts'
import { deliverToInbox, eraseInbox, inboxJobs, mergeInbox } from './index.ts'

type Stage = AsyncDisposable & { w: World; inbox: InboxProcess; ana: UserId; kim: UserId; token: string }

async function stage(): Promise<Stage> {
  const closing = new AsyncDisposableStack()
  const w = closing.use(await world())
  const inbox = await startInbox(w, closing)
  await w.users('ana', 'kim')
  const [ana, kim, token] = [await userId(w, 'ana'), await userId(w, 'kim'), await w.token('ana')]
  return { w, inbox, ana, kim, token, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

const list = async ({ inbox, token }: Stage, query = '') => (await inbox.call('GET', `${OWN}${query}`, { token })).body
const titles = async (s: Stage, query = '') => (await list(s, query)).results.map(({ title }: { title: string }) => title)
const unread = async ({ inbox, token }: Stage) => (await inbox.call('GET', `${OWN}/unread-count`, { token })).body.unread
const updateReadState = async ({ inbox, token }: Stage, id: number, body: unknown) => inbox.call('PATCH', `${OWN}/${id}`, { token, body })
const readAll = async ({ inbox, token }: Stage) => (await inbox.call('POST', `${OWN}/read-all`, { token })).body
const purge = async ({ w }: Stage) => {
  for (const job of inboxJobs) while ((await runToEnd(job, w.ctx, new AbortController().signal)) > 0);
}
const contentOf = (id: number, user: UserId, title: string) => ({
  id: id as MessageId,
  user_id: user,
  campaign_id: 7 as CampaignId,
  content: { type: 'inbox', title, body: '' },
})

/** Compares the counters of all users with their messages. */
async function expectExact({ w }: Stage): Promise<void> {
  const rows = await rowsOf<Record<string, number>>(
    w.databaseUrl,
    `select c.unread, c.seq, count(m.id) filter (where m.read_at is null and m.archived_at is null) as counted,
            coalesce(max(m.seq), 0) as highest, count(m.seq) - count(distinct m.seq) as twice
     from inbox_counters c left join inbox_messages m using (project_id, user_id) group by c.project_id, c.user_id`,
  )
  for (const { unread, seq, counted, highest, twice } of rows) {
    expect([unread, twice]).toEqual([counted, 0])
    expect(seq).toBeGreaterThanOrEqual(highest as number)
  }
}

describe('an inbox', () => {
  test('has the delivered messages, newest first, as they were composed', async () => {
    await using s = await stage()
    const [first] = await deliver(s.w, s.ana, { title: 'First', html: '<b>Hi</b>', action_url: 'https://example.com/a' })
    s.w.advance('1 minute')
    await deliver(s.w, s.ana, { title: 'Second', type: 'modal', image: 'https://example.com/a.png', expires_at: '2026-12-24' })
    await deliver(s.w, s.kim, { title: 'For Kim' })
    const { results } = await list(s)
    expect(results.map(({ title }: { title: string }) => title)).toEqual(['Second', 'First'])
    expect(results[0]).toMatchObject({ type: 'modal', image: 'https://example.com/a.png', expires_at: '2026-12-24T00:00:00.000Z' })
    expect(results[1]).toEqual({
      id: first,
      campaign_id: 7,
      type: 'inbox',
      title: 'First',
      body: 'World',
      html: '<b>Hi</b>',
      image: null,
      action_url: 'https://example.com/a',
      created_at: '2026-11-23T09:00:00.000Z',
      expires_at: null,
      seen_at: null,
      read_at: null,
      clicked_at: null,
      archived_at: null,
    })
    expect(await unread(s)).toBe(2)
  })

  test('has each message once, even if it is delivered repeatedly and concurrently', async () => {
    await using s = await stage()
    const put = (contents: ReturnType<typeof contentOf>[]) => inTx(s.w.ctx, (ctx) => deliverToInbox(ctx, contents))
    for (let id = 1001; id < 1030; id += 3) {
      const all = [contentOf(id, s.ana, 'a'), contentOf(id + 1, s.kim, 'b'), contentOf(id + 2, s.ana, 'c')]
      await Promise.all([put(all), put(all.toReversed()), put(all.slice(1)), put(all), put([all[2] as (typeof all)[0]])])
    }
    await put([contentOf(1001, s.ana, 'a'), contentOf(2001, s.ana, 'd')])
    await put([])
    expect([(await titles(s)).toSorted().join(''), await unread(s)]).toEqual([`${'a'.repeat(10)}${'c'.repeat(10)}d`, 21])
    await expectExact(s)
  })

  test('accepts characters that the database cannot store, and an invalid expiry', async () => {
    await using s = await stage()
    await deliver(s.w, s.ana, { title: 'a\0b\ud800', expires_at: 'soon' })
    expect((await list(s)).results[0]).toMatchObject({ title: 'ab\ufffd', expires_at: null })
  })

  test.each([
    ['', ['unread', 'read']],
    ['?status=unread', ['unread']],
    ['?status=read', ['read']],
    ['?status=archived', ['archived', 'archived unread']],
    ['?status=all', ['unread', 'read', 'archived', 'archived unread']],
    ['?status=all&q=ARCHIVED', ['archived', 'archived unread']],
    ['?status=all&direction=asc&limit=1', ['archived unread']],
  ])('is listed with the query “%s” as %j', async (query, expected) => {
    await using s = await stage()
    const [archivedUnread, archived, read] = await deliver(
      s.w,
      s.ana,
      ...['archived unread', 'archived', 'read', 'unread'].map((title) => ({ title })),
    )
    await updateReadState(s, archivedUnread as number, { archived: true })
    await updateReadState(s, archived as number, { read: true, archived: true })
    await updateReadState(s, read as number, { read: true })
    expect(await titles(s, query)).toEqual(expected)
  })

  test('is paged without missing or duplicate messages', async () => {
    await using s = await stage()
    await deliver(s.w, s.ana, ...Array.from({ length: 7 }, (_, at) => ({ title: `${at}` })))
    const listed: string[] = []
    for (let cursor = ''; ; ) {
      const { results, nextCursor } = await list(s, `?limit=3${cursor && `&cursor=${cursor}`}`)
      listed.push(...results.map(({ title }: { title: string }) => title))
      if (nextCursor === null) break
      cursor = nextCursor
    }
    expect(listed).toEqual(['6', '5', '4', '3', '2', '1', '0'])
  })

  test('keeps the times of first actions, and reports each first action once', async () => {
    await using s = await stage()
    const [id] = (await deliver(s.w, s.ana, {})) as [MessageId]
    const at = s.w.clock.now()
    expect((await updateReadState(s, id, {})).body).toMatchObject({ seen_at: null, read_at: null })
    expect((await updateReadState(s, id, { seen: true })).body).toMatchObject({ seen_at: at.toISOString(), read_at: null })
    expect(await unread(s)).toBe(1)
    s.w.advance('1 minute')
    const later = s.w.clock.now()
    const clicked = (await updateReadState(s, id, { clicked: true })).body
    expect(clicked).toMatchObject({ seen_at: at.toISOString(), read_at: later.toISOString(), clicked_at: later.toISOString() })
    s.w.advance('1 minute')
    expect((await updateReadState(s, id, { clicked: true, read: true, seen: true })).body).toEqual(clicked)
    expect((await list(s)).results).toEqual([clicked])
    expect((await updateReadState(s, id, { read: false })).body).toMatchObject({ read_at: null, clicked_at: later.toISOString() })
    expect(await unread(s)).toBe(1)
    expect(s.inbox.seen).toEqual([
      { user_id: s.ana, message_id: id, what: 'opened', at },
      { user_id: s.ana, message_id: id, what: 'clicked', at: later },
    ])
  })

  test('a request that is repeated with its idempotency key reports an action once', async () => {
    await using s = await stage()
    const [id] = (await deliver(s.w, s.ana, {})) as [MessageId]
    const headers = { 'idempotency-key': 'once' }
    const first = await s.inbox.call('PATCH', `${OWN}/${id}`, { token: s.token, body: { read: true }, headers })
    const again = await s.inbox.call('PATCH', `${OWN}/${id}`, { token: s.token, body: { read: true }, headers })
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true'])
    expect(s.inbox.seen).toHaveLength(1)
  })

  test('a message does not become read if the action cannot be recorded', async () => {
    await using closing = new AsyncDisposableStack()
    const w = closing.use(await world())
    const inbox = await startInbox(w, closing, () => {
      throw new Error('Recording failed.')
    })
    await w.users('ana')
    const token = await w.token('ana')
    const [id] = await deliver(w, await userId(w, 'ana'), {})
    expect((await inbox.call('PATCH', `${OWN}/${id}`, { token, body: { read: true } })).status).toBe(500)
    expect((await inbox.call('POST', `${OWN}/read-all`, { token })).status).toBe(500)
    expect((await inbox.call('GET', `${OWN}?status=unread`, { token })).body.results).toHaveLength(1)
    expect((await inbox.call('GET', `${OWN}/unread-count`, { token })).body).toEqual({ unread: 1 })
  })

  test.each([
    [{ seen: false }, 400, 'parameter_invalid_format'],
    [{ clicked: 'yes' }, 400, 'parameter_invalid_format'],
    [{ read: null }, 400, 'parameter_invalid_format'],
    [{ opened: true }, 400, 'parameter_unknown'],
    [[], 400, 'parameter_invalid_format'],
  ])('the change %j of a message is refused', async (body, status, code) => {
    await using s = await stage()
    const [id] = (await deliver(s.w, s.ana, {})) as [MessageId]
    const reply = await updateReadState(s, id, body)
    expect([reply.status, reply.body.error.code]).toEqual([status, code])
  })

  test('all messages can be marked as read at once, except archived ones', async () => {
    await using s = await stage()
    const [archived, seen] = (await deliver(s.w, s.ana, ...['archived', 'seen', 'new'].map((title) => ({ title })))) as [
      MessageId,
      MessageId,
    ]
    await updateReadState(s, archived, { archived: true })
    await updateReadState(s, seen, { seen: true })
    s.inbox.seen.length = 0
    s.w.advance('1 minute')
    expect(await readAll(s)).toEqual({ changed: 2, unread: 0 })
    expect(s.inbox.seen).toHaveLength(1)
    expect(await readAll(s)).toEqual({ changed: 0, unread: 0 })
    expect(await titles(s, '?status=read')).toEqual(['new', 'seen'])
    expect((await list(s, '?status=archived')).results[0].read_at).toBeNull()
    await updateReadState(s, archived, { archived: false })
    expect(await unread(s)).toBe(1)
    await expectExact(s)
  })

  test('does not have a message from the instant of its expiry, in any reply', async () => {
    await using s = await stage()
    const [expiring] = (await deliver(s.w, s.ana, { title: 'expires', expires_at: '2026-11-23T09:10:00Z' }, { title: 'stays' })) as [
      MessageId,
    ]
    s.w.advance('9 minutes')
    expect([await titles(s), await unread(s)]).toEqual([['stays', 'expires'], 2])
    s.w.advance('1 minute')
    const everywhere = async () => [
      await titles(s, '?status=all'),
      await unread(s),
      (await updateReadState(s, expiring, { read: true })).status,
    ]
    expect(await everywhere()).toEqual([['stays'], 1, 404])
    await purge(s)
    expect(await everywhere()).toEqual([['stays'], 1, 404])
    expect(await readAll(s)).toEqual({ changed: 1, unread: 0 })
    await expectExact(s)
  })

  test('has an exact number of unread messages after concurrent changes', async () => {
    await using s = await stage()
    const ids = (await deliver(
      s.w,
      s.ana,
      ...Array.from({ length: 12 }, () => ({ expires_at: '2026-11-23T09:05:00Z' })),
      {},
      {},
    )) as number[]
    s.w.advance('5 minutes')
    const kept = ids.slice(12)
    const work = Array.from({ length: 30 }, (_, at) => {
      const id = kept[at % 2] as number
      if (at % 5 === 0) return deliver(s.w, s.ana, {}, {})
      if (at % 7 === 0) return readAll(s)
      if (at % 3 === 0) return updateReadState(s, id, { archived: at % 2 === 0 })
      if (at === 4 || at === 8) return purge(s)
      return updateReadState(s, id, { read: at % 4 !== 0 })
    })
    for (const reply of await Promise.all(work)) if (typeof reply === 'object' && 'status' in reply) expect(reply.status).toBe(200)
    await purge(s)
    await expectExact(s)
    expect(await unread(s)).toBe((await titles(s, '?status=unread&limit=100')).length)
  })

  test('of a merged user moves to the remaining user', async () => {
    await using s = await stage()
    const [read] = (await deliver(s.w, s.ana, { title: 'read' }, { title: 'a' })) as [MessageId]
    await updateReadState(s, read, { read: true })
    await deliver(s.w, s.kim, { title: 'k' })
    await inTx(s.w.ctx, (ctx) => mergeInbox(ctx, [{ from_id: s.kim, into_id: s.ana }]))
    expect([await titles(s), await unread(s)]).toEqual([['k', 'a', 'read'], 2])
    await inTx(s.w.ctx, (ctx) => mergeInbox(ctx, [{ from_id: s.kim, into_id: s.ana }]))
    expect(await titles(s)).toEqual(['k', 'a', 'read'])
    await expectExact(s)
  })

  test('several are merged at once, also for a user without an inbox', async () => {
    await using s = await stage()
    await s.w.users('lou', 'max')
    const [lou, max] = [await userId(s.w, 'lou'), await userId(s.w, 'max')]
    await deliver(s.w, lou, { title: 'l1' }, { title: 'l2' })
    await deliver(s.w, s.kim, { title: 'k' })
    await inTx(s.w.ctx, (ctx) =>
      mergeInbox(ctx, [
        { from_id: lou, into_id: s.ana },
        { from_id: s.kim, into_id: s.ana },
        { from_id: max, into_id: s.ana },
      ]),
    )
    expect([await titles(s), await unread(s)]).toEqual([['k', 'l2', 'l1'], 3])
    await expectExact(s)
  })

  test('of an erased user is deleted, and the deleted rows are counted', async () => {
    await using s = await stage()
    await deliver(s.w, s.ana, {}, {})
    await deliver(s.w, s.kim, {})
    expect(await inTx(s.w.ctx, (ctx) => eraseInbox(ctx, [s.ana, 999 as UserId]))).toEqual({ inbox_messages: 2, inbox_counters: 1 })
    expect([await titles(s), await unread(s)]).toEqual([[], 0])
    expect((await s.inbox.call('GET', '/api/client/users/kim/messages', { key: s.w.keys.support })).body.results).toHaveLength(1)
  })

  test('can be read by support, and not by other projects', async () => {
    await using s = await stage()
    const [id] = (await deliver(s.w, s.ana, { title: 'hers' })) as [MessageId]
    const foreign = await s.w.other()
    const { body } = await s.inbox.call('GET', '/api/client/users/ana/messages?status=unread', { key: s.w.keys.support })
    expect(body.results).toMatchObject([{ id, title: 'hers' }])
    const theirs = await s.inbox.call('GET', '/api/client/users/ana/messages', { key: foreign.keys.secret })
    expect(theirs.status).toBe(404)
    s.token = await s.w.token('kim')
    expect((await updateReadState(s, id, { read: true })).status).toBe(404)
    expect(await readAll(s)).toEqual({ changed: 0, unread: 0 })
    const elsewhere = inTx(foreign.ctx, async (ctx) => {
      await mergeInbox(ctx, [{ from_id: s.ana, into_id: s.kim }])
      return eraseInbox(ctx, [s.ana])
    })
    expect(await elsewhere).toEqual({ inbox_messages: 0, inbox_counters: 0 })
    s.token = await s.w.token('ana')
    expect(await unread(s)).toBe(1)
  })

  test.each(['', '/unread-count', '/stream'])('%s needs a user token and a publishable key', async (path) => {
    await using s = await stage()
    const without = await s.inbox.call('GET', `${OWN}${path}`)
    expect([without.status, without.body.error.reason]).toEqual([401, 'user_token_missing'])
    const secret = await s.inbox.call('GET', `${OWN}${path}`, { key: s.w.keys.secret, token: s.token })
    expect([secret.status, secret.body.error.reason]).toEqual([403, 'key_kind'])
  })
})
