/** What statements on the mail queue change, and what they leave. */
import { expect, test } from 'vitest'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { deletePause, eraseMail, insertPause, type MailFilter, makeDue, releaseHeld } from './control.queries.ts'
import { eraseSubmittedMail } from './erase-submitted.ts'
import { findPauses } from './pauses.queries.ts'
import { claimMail, completeMails, nextHeldExpiry, releaseExpired, releaseMailLeases, saveMailResults } from './queries.ts'
import { attemptsOf, mailDepth, untriedBulk } from './reading.queries.ts'
import { deleteMail } from './retention.queries.ts'
import { mailStore } from './retention.ts'
import { mailsTo } from './user-data.queries.ts'

const CAMPAIGN = 7 as CampaignId
const ENDED = '2026-11-20T09:00:00.000Z'
const NOW = '2026-11-25T09:00:00.000Z'

const claim = (w: World) => claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 10 }], new Date(w.clock.now().getTime() + MINUTE_MS))

const set = (w: World, changes: string, ...ids: MessageId[]) =>
  select(w, `update mail_recipients set ${changes} where project_id = $1 and mail_id = any($2)`, [w.projectId, ids])

const inW = <T>(w: World, work: (ctx: InTx) => Promise<T>) => inTx(w.ctx, work)

const elsewhere = async (w: World) => ({ ...w.ctx, projectId: (await w.other()).projectId })

test('held email is claimed when it is released, and other email stays held', async () => {
  await using w = await world()
  const [ours, far, at, all] = (await queueMail(w, { campaign_id: CAMPAIGN }, { to: ['kim@far.example'] }, {}, {})) as [
    MessageId,
    MessageId,
    MessageId,
    MessageId,
  ]
  await set(w, `site = 'mx-1', is_held = true, due_at = due_at + interval '1 day'`, ours, far, at, all)
  await set(w, `site = 'mx-2'`, at)
  const released = async (filter: MailFilter) => {
    await inW(w, (ctx) => releaseHeld(ctx, filter, { limit: 10 }))
    return (await claim(w)).map(({ mail_id }) => mail_id)
  }
  expect(await inTx(await elsewhere(w), (ctx) => releaseHeld(ctx, {}, { limit: 10 }))).toBeUndefined()
  expect(await released({ campaign_id: CAMPAIGN })).toEqual([ours])
  expect(await released({ domain: 'far.example' })).toEqual([far])
  expect(await released({ site: 'mx-2' })).toEqual([at])
  expect(await released({ message_ids: [ours] })).toEqual([])
  expect(await released({})).toEqual([all])
})

test('a claim tells of the last attempt: what the host replied, or what happened', async () => {
  await using w = await world()
  const [replied, silent] = (await queueMail(w, {}, {})) as [MessageId, MessageId]
  const attempt = { attempt: 1, at: ENDED, outcome: 'deferred', detail: 'timeout' }
  await set(w, `attempts = 2, history = '${JSON.stringify([attempt, { ...attempt, response: '451 Later' }])}'`, replied)
  await set(w, `attempts = 1, history = '${JSON.stringify([attempt])}'`, silent)
  const errors = new Map((await claim(w)).map(({ mail_id, last_error, last_attempt_at }) => [mail_id, [last_error, last_attempt_at]]))
  expect(errors.get(replied)).toEqual(['451 Later', new Date(ENDED)])
  expect(errors.get(silent)).toEqual(['timeout', new Date(ENDED)])
})

test('of erased email nothing personal is left; what waits leaves the queue, and what has ended stays as it ended', async () => {
  await using w = await world()
  w.clock.set(new Date(NOW))
  const [waits, ended, other] = (await queueMail(w, {}, {}, {})) as [MessageId, MessageId, MessageId]
  await set(w, `is_held = true, history = '[{}]'`, waits, other)
  await set(w, `state = 'failed', finished_at = '${ENDED}'`, ended)
  await select(w, 'update mail_messages set completed_at = $1 where id = $2', [ENDED, ended])
  await inTx(await elsewhere(w), (ctx) => eraseMail(ctx, [waits, ended]))
  await inW(w, (ctx) => eraseMail(ctx, [waits, ended]))
  const rows = await select(
    w,
    `select r.state, r.finished_at, r.is_held, r.address, r.history, m.content is null as is_empty, m.completed_at
     from mail_recipients r join mail_messages m on m.id = r.mail_id where r.project_id = $1 order by r.mail_id`,
    [w.projectId],
  )
  const erased = { is_held: false, address: '', history: [], is_empty: true }
  expect(rows).toEqual([
    { ...erased, state: 'cancelled', finished_at: new Date(NOW), completed_at: new Date(NOW) },
    { ...erased, state: 'failed', finished_at: new Date(ENDED), completed_at: new Date(ENDED) },
    {
      ...{ state: 'queued', finished_at: null, is_held: true, address: `user-${other}@example.org`, history: [{}] },
      ...{ is_empty: false, completed_at: null },
    },
  ])
})

test('an email is complete when none of its recipients waits or is claimed, once', async () => {
  await using w = await world()
  const [id] = (await queueMail(w, { to: ['a@example.org', 'b@example.org', 'c@example.org', 'd@example.org'] })) as [MessageId]
  const complete = () => inW(w, (ctx) => completeMails(ctx, [id]))
  const become = (no: number, state: string) =>
    select(w, 'update mail_recipients set state = $2 where mail_id = $1 and no = $3', [id, state, no])
  for (const [no, state] of ['delivered', 'failed', 'expired'].entries()) {
    expect(await complete()).toEqual([])
    await become(no, state)
  }
  await become(3, 'claimed')
  expect(await complete()).toEqual([])
  await become(3, 'cancelled')
  expect(await complete()).toEqual([{ id, delivered: 1, failed: 3 }])
  expect(await complete()).toEqual([])
})

test('email is deleted when it ended long ago, with its recipients; what waits, ended lately or is of another project stays', async () => {
  await using w = await world()
  const [old, lately, exactly, waits] = (await queueMail(w, {}, {}, {}, {})) as [MessageId, MessageId, MessageId, MessageId]
  const end = (id: MessageId, at: string) => select(w, 'update mail_messages set completed_at = $1 where id = $2', [at, id])
  await end(old, '2026-11-20T08:59:59.999Z')
  await end(exactly, ENDED)
  await end(lately, NOW)
  const remove = (ctx: InTx) =>
    mailStore.nextRows(ctx, 0, 10).then(async (rows) => ({
      rows: rows.map(({ id }) => id),
      removed: await mailStore.remove(ctx, rows, new Date(ENDED)),
    }))
  expect(await inTx(await elsewhere(w), remove)).toEqual({ rows: [], removed: [] })
  // It was sent again since it was looked at.
  expect(await inW(w, (ctx) => deleteMail(ctx, [waits]))).toBe(0)
  expect(await inW(w, remove)).toEqual({ rows: [old, lately, exactly, waits], removed: [old] })
  for (const [table, key] of [
    ['mail_messages', 'id'],
    ['mail_recipients', 'mail_id'],
  ]) {
    const left = await select(w, `select ${key}::int as id from ${table} where project_id = $1 order by 1`, [w.projectId])
    expect([table, left.map(({ id }) => id)]).toEqual([table, [lately, exactly, waits]])
  }
  expect((await inW(w, (ctx) => mailStore.nextRows(ctx, lately, 1))).map(({ id }) => id)).toEqual([exactly])
})

test('pauses are those of the project, in order, each once', async () => {
  await using w = await world()
  const other = await elsewhere(w)
  const site = { scope: 'site' as const, value: 'mx-1' }
  const all = { scope: 'project' as const, value: '' }
  for (const pause of [site, site, all, { ...site, value: 'mx-0' }]) await inW(w, (ctx) => insertPause(ctx, pause))
  await inTx(other, (ctx) => insertPause(ctx, all))
  await inW(w, (ctx) => deletePause(ctx, { ...site, value: 'mx-0' }))
  expect([await findPauses(w.ctx), await findPauses(other)]).toEqual([[all, site], [all]])
})

test('while a transaction holds the pauses, none ends; whoever only looks keeps none', async () => {
  await using w = await world()
  const all = { scope: 'project' as const, value: '' }
  await inW(w, (ctx) => insertPause(ctx, all))
  const endedBeside = (lock?: 'share') =>
    inW(w, async (ctx) => {
      await findPauses(ctx, lock)
      const [row] = await select(
        w,
        `select count(*)::int as free from (select 1 from mail_pauses where project_id = $1 for update skip locked) p`,
        [w.projectId],
      )
      return row?.free
    })
  expect([await endedBeside('share'), await endedBeside()]).toEqual([0, 1])
})

test('what waits is counted: all that is due and not held, and bulk of the project that was never tried', async () => {
  await using w = await world()
  const before = (await mailDepth(w.ctx))?.waiting ?? 0
  const ids = await queueMail(w, {}, {}, {}, {}, { priority: 0 })
  const [first, held, tried, done] = ids as [MessageId, MessageId, MessageId, MessageId]
  await set(w, `due_at = '1999-12-31'`, first)
  await set(w, `is_held = true, due_at = '1999-01-01'`, held)
  await set(w, `attempts = 1, due_at = due_at + interval '1 hour'`, tried)
  await set(w, `state = 'delivered', due_at = '1999-01-01'`, done)
  const since = w.clock.now()
  expect(await mailDepth(w.ctx)).toEqual({ waiting: before + 2, oldest: new Date('1999-12-31') })
  expect([await untriedBulk(w.ctx, 10), await untriedBulk(w.ctx, 1), await untriedBulk(await elsewhere(w), 10)]).toEqual([
    { mails: 2, bytes: 10 },
    { mails: 1, bytes: 5 },
    { mails: 0, bytes: 0 },
  ])
  expect((await inW(w, (ctx) => makeDue(ctx, {}, { limit: 10 })))?.changed).toBe(1)
  expect((await attemptsOf(w.ctx, tried)).map(({ due_at }) => due_at)).toEqual([since])
  expect(await attemptsOf(await elsewhere(w), tried)).toEqual([])
})

test('an address is erased from submitted email of its project: what waits leaves the queue now, and other recipients stay', async () => {
  await using w = await world()
  w.clock.set(new Date(NOW))
  const [id, sent] = (await queueMail(w, { to: ['Kim@Example.org', 'bo@example.org'] }, { to: ['kim@example.org'] })) as [
    MessageId,
    MessageId,
  ]
  await set(w, `state = 'delivered', finished_at = '${ENDED}'`, sent)
  const other = await elsewhere(w)
  expect(await inTx(other, (ctx) => mailsTo(ctx, ['kim@example.org'], w.clock.now()))).toEqual([])
  await inTx(other, (ctx) => eraseSubmittedMail(ctx, ['kim@example.org'], w.clock.now()))
  await inW(w, (ctx) => eraseSubmittedMail(ctx, ['kim@example.org'], w.clock.now()))
  const rows = await select(
    w,
    'select mail_id::int as id, address, state, finished_at from mail_recipients where project_id = $1 order by mail_id, no',
    [w.projectId],
  )
  expect(rows).toEqual([
    { id, address: '', state: 'cancelled', finished_at: new Date(NOW) },
    { id, address: 'bo@example.org', state: 'queued', finished_at: null },
    { id: sent, address: '', state: 'delivered', finished_at: new Date(ENDED) },
  ])
})

test('an address is erased from copies of the messages of other users, who still get theirs', async () => {
  await using w = await world()
  const to = ['ana@example.org', 'kim@example.org']
  const [id] = await queueMail(w, { source: 'message', campaign_id: CAMPAIGN, to })
  const [own] = await queueMail(w, { source: 'message', campaign_id: CAMPAIGN, to: to.toReversed() })
  await inW(w, (ctx) => eraseSubmittedMail(ctx, ['kim@example.org'], w.clock.now()))
  const rows = 'select mail_id::int as id, address, state from mail_recipients where project_id = $1 order by mail_id, no'
  expect(await select(w, rows, [w.projectId])).toEqual([
    { id, address: 'ana@example.org', state: 'queued' },
    { id, address: '', state: 'cancelled' },
    { id: own, address: 'kim@example.org', state: 'queued' },
    { id: own, address: 'ana@example.org', state: 'queued' },
  ])
})

test('the mail queue is listed by campaign', async () => {
  await using w = await world()
  const [ours] = await queueMail(w, { campaign_id: CAMPAIGN }, {})
  const { body } = await w.get(`/api/client/mail-queue?campaign_id=${CAMPAIGN}`)
  expect(body.results.map(({ message_id }: { message_id: number }) => message_id)).toEqual([ours])
})

test('an address is erased from the only email that was submitted to it', async () => {
  await using w = await world()
  const [id] = await queueMail(w, { to: ['kim@example.org'] })
  await inW(w, (ctx) => eraseSubmittedMail(ctx, ['kim@example.org'], w.clock.now()))
  expect(await select(w, 'select mail_id::int as id, address from mail_recipients where project_id = $1', [w.projectId])).toEqual([
    { id, address: '' },
  ])
})

test('each recipient gets its own result, also when results of several emails are saved at once', async () => {
  await using w = await world()
  w.clock.set(new Date(NOW))
  const to = ['kim@example.org', 'bo@example.org']
  const [first, second] = (await queueMail(w, { to }, { to })) as [MessageId, MessageId]
  const claimed = await claim(w)
  const none = { site: null, due_at: null, is_untried: false, is_held: false, history: null }
  const own = new Map<string, object>([
    [`${first}.0`, { state: 'delivered', site: 'mx-1', history: { attempt: 1, at: NOW, outcome: 'delivered' } }],
    [`${first}.1`, { state: 'failed', site: 'mx-2' }],
    [`${second}.0`, { state: 'queued', due_at: new Date(ENDED), is_untried: true }],
    [`${second}.1`, { state: 'queued', is_held: true }],
  ])
  const results = claimed.map(({ mail_id, no, lease_token }) => ({ ...none, mail_id, no, lease_token, ...own.get(`${mail_id}.${no}`) }))
  await inW(w, (ctx) => saveMailResults(ctx, results as never))
  const rows = await select(
    w,
    `select state, site, is_held, attempts, jsonb_array_length(history) as history, finished_at, due_at, lease_token from mail_recipients
     where project_id = $1 order by mail_id, no`,
    [w.projectId],
  )
  const saved = { site: null, is_held: false, attempts: 1, history: 0, finished_at: null, due_at: new Date(NOW), lease_token: null }
  expect(rows).toEqual([
    { ...saved, state: 'delivered', site: 'mx-1', history: 1, finished_at: new Date(NOW) },
    { ...saved, state: 'failed', site: 'mx-2', finished_at: new Date(NOW) },
    { ...saved, state: 'queued', due_at: new Date(ENDED), attempts: 0 },
    { ...saved, state: 'queued', is_held: true },
  ])
})

test.each<[string, string, string, number]>([
  ['was refused', 'failed', 'failed', 4],
  ['expired', 'expired', 'expired', 4],
  ['was cancelled before its third attempt', 'cancelled', 'cancelled', 3],
])('email that %s and is sent again uses no number of an attempt again', async (_, state, outcome, attempt) => {
  await using w = await world()
  const [id] = (await queueMail(w, {})) as [MessageId]
  await set(w, `state = '${state}', attempts = 3, history = '${JSON.stringify([{ attempt: 3, at: ENDED, outcome }])}'`, id)
  await inW(w, (ctx) => completeMails(ctx, [id]))
  await queueMail(w, { id })
  expect(await claim(w)).toMatchObject([{ mail_id: id, attempts: 1, attempt }])
})

test('cancelled email that is sent again begins anew, and email that waits stays as it is', async () => {
  await using w = await world()
  w.clock.set(new Date(ENDED))
  const [again, waits] = (await queueMail(w, { to: ['kim@example.org'] }, {})) as [MessageId, MessageId]
  await set(w, `state = 'cancelled', site = 'mx-1', is_held = true, due_at = '1999-01-01', finished_at = '${ENDED}'`, again)
  await inW(w, (ctx) => completeMails(ctx, [again]))
  w.clock.set(new Date(NOW))
  await queueMail(w, { id: again, to: ['kim@Elsewhere.example'], retry_minutes: [1] }, { id: waits, retry_minutes: [1] })
  const rows = await select(
    w,
    `select r.state, r.address, r.domain, r.site, r.is_held, r.due_at, r.finished_at, m.created_at, m.completed_at, m.retry_minutes
     from mail_recipients r join mail_messages m on m.id = r.mail_id where r.project_id = $1 order by r.mail_id`,
    [w.projectId],
  )
  const open = { state: 'queued', site: null, is_held: false, finished_at: null, completed_at: null }
  const anew = {
    address: 'kim@Elsewhere.example',
    domain: 'elsewhere.example',
    due_at: new Date(NOW),
    created_at: new Date(NOW),
    retry_minutes: [1],
  }
  const before = {
    address: `user-${waits}@example.org`,
    domain: 'example.org',
    due_at: new Date(ENDED),
    created_at: new Date(ENDED),
    retry_minutes: null,
  }
  expect(rows).toEqual([
    { ...open, ...anew },
    { ...open, ...before },
  ])
})

test('what is over is released up to a limit, the longest over first: leases, and the lifetimes of held email', async () => {
  await using w = await world()
  // It is asked of all projects.
  await select(w, `update mail_recipients set state = 'delivered' where project_id <> $1`, [w.projectId])
  const ids = (await queueMail(w, {}, {}, {}, {})) as MessageId[]
  const [late, early, held, longHeld] = ids as [MessageId, MessageId, MessageId, MessageId]
  await set(w, `state = 'claimed', lease_token = gen_random_uuid(), lease_until = '1999-02-01'`, late, early)
  await set(w, `lease_until = '1999-01-01'`, early)
  await set(w, `is_held = true, due_at = '1999-02-01'`, held, longHeld)
  await set(w, `due_at = '1999-01-01'`, longHeld)
  expect(await nextHeldExpiry(w.ctx)).toEqual(new Date('1999-01-01'))
  expect([await releaseMailLeases(w.ctx, 1), await releaseExpired(w.ctx, 1)]).toEqual([1, 1])
  const stopped = await select(
    w,
    `select mail_id::int as id from mail_recipients where project_id = $1 and (state = 'claimed' or is_held) order by 1`,
    [w.projectId],
  )
  expect(stopped.map(({ id }) => id)).toEqual([late, held])
})
