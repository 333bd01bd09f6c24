/** A campaign or a project is stopped while its email waits for a place at a slow host, observed at that host. */
import { expect, test } from 'vitest'
import { openDatabase, sql } from '../../src/infra/postgres/db.ts'
import { findSendingCampaigns } from '../../src/modules/campaigns/index.ts'
import { createMailer, deliverDue } from '../../src/modules/messages/index.ts'
import type { MailRow } from '../../src/modules/mta/index.ts'
import { pathOf } from '../blasts.ts'
import { type MailWorld, mailWorld } from '../mail-queue.ts'
import { select } from '../select.ts'

const TRANSACTIONAL_PRIORITY = 0
const EMAILS = 6

/**
 * Begins to deliver emails of a campaign to a host with one connection, which does not reply to the first MAIL before `release`. One email is in
 * the session, one waits for its connection, and the others for a place.
 */
async function begin(w: MailWorld, before = async () => {}) {
  const [domain, replies] = ['slow.example.org', Promise.withResolvers<void>()]
  const { commands, counts, mails } = w.internet.host(`mx.${domain}`, { script: { MAIL: { until: replies.promise } } })
  w.internet.domain(domain, `mx.${domain}`)
  for (let sent = 0; sent < EMAILS; sent++) await w.mailTo(domain)
  await w.drain('ingest.apply', 'messages.send')
  // Each mailer counts as a process, and the host has one connection for all of them.
  await select(w, 'delete from mail_processes')
  await before()
  let [answers, asked] = [0, 0]
  const find: typeof findSendingCampaigns = async (ctx, ids, how) => {
    const found = await findSendingCampaigns(ctx, ids, how)
    answers++
    return found
  }
  const mailer = createMailer(find)
  const watch: typeof mailer.stops.watch = async (...email) => {
    const watched = await mailer.stops.watch(...email)
    asked++
    return watched
  }
  const { finished } = await deliverDue(w.ctx, { ...mailer, stops: { watch } }, TRANSACTIONAL_PRIORITY, AbortSignal.any([]))
  const sessions = () => commands.filter(({ line }) => line.startsWith('MAIL')).length
  await expect.poll(() => [sessions(), asked]).toEqual([1, 2])
  return {
    sessions,
    accepted: () => [counts.accepted, new Set(mails.flatMap(({ to }) => to)).size],
    /** Lets a second pass, after which this process knows what was stopped. */
    async askAgain() {
      const before = answers
      w.advance('1 second')
      await expect.poll(() => answers).toBeGreaterThan(before)
    },
    async release() {
      replies.resolve()
      await finished
    },
  }
}

/** Resumes the campaign, and delivers all of its email, which the host takes one after the other. */
async function resume(w: MailWorld) {
  await w.post(`${pathOf(w.campaign)}/resume`)
  for (let round = 0; round < EMAILS; round++) {
    await w.drain()
    w.advance('1 second')
  }
}

const slowWorld = () => mailWorld({ MTA_LIMITS: '{"*": {"connections": 1}}' })

type Stop = (w: MailWorld) => Promise<{ status: number; text: string }>

const STOPS: Record<string, Stop> = {
  'a campaign that is aborted': (w) => w.patch(pathOf(w.campaign), { state: 'aborted' }),
  'a campaign that is archived': (w) => w.delete(pathOf(w.campaign)),
  'a campaign that is paused': (w) => w.post(`${pathOf(w.campaign)}/pause`),
  'a project whose mail queue is paused': (w) => w.post('/api/client/mail-queue/pause', {}),
  'a project that is deleted': (w) =>
    w.request('DELETE', `/api/client/projects/${w.projectId}`, { name: 'Test' }, { key: w.keys.organisation }),
}

test.each(Object.entries(STOPS))('of %s, no email is begun that was claimed before and waits', async (_, stop) => {
  await using w = await slowWorld()
  const { sessions, accepted, askAgain, release } = await begin(w)
  const reply = await stop(w)
  expect(reply.status, reply.text).toBeLessThan(300)
  await askAgain()
  await release()
  w.advance('1 minute')
  await w.drain()
  expect([sessions(), accepted()]).toEqual([1, [0, 0]])
})

test('email that waits for a place is not begun either when the stop comes right before its turn', async () => {
  await using w = await slowWorld()
  const { sessions, accepted, release } = await begin(w)
  expect((await w.post(`${pathOf(w.campaign)}/pause`)).status).toBe(200)
  await release()
  await w.drain()
  // One was in the session, and one was next on its connection.
  expect(sessions()).toBeLessThanOrEqual(2)
  const begun = sessions()
  expect(accepted()).toEqual([begun, begun])
  await resume(w)
  expect([sessions(), accepted()]).toEqual([EMAILS, [EMAILS, EMAILS]])
})

test('an abort counts the emails that were claimed, and each of them ends', async () => {
  await using w = await slowWorld()
  const { accepted, askAgain, release } = await begin(w)
  expect((await w.patch(pathOf(w.campaign), { state: 'aborted' })).body).toMatchObject({ state: 'aborted', in_flight: EMAILS })
  await askAgain()
  await release()
  await w.drain()
  const { results } = (await w.get(`${pathOf(w.campaign)}/recipients?limit=100`)).body
  const ended = results.map(({ state, reason }: { state: string; reason: string }) => `${state} ${reason}`)
  expect([accepted(), ended]).toEqual([[0, 0], Array.from({ length: EMAILS }, () => 'aborted campaign_stopped')])
})

test('email of a campaign that was paused while it waited is delivered once when it is resumed', async () => {
  await using w = await slowWorld()
  const { sessions, accepted, askAgain, release } = await begin(w)
  await w.post(`${pathOf(w.campaign)}/pause`)
  await askAgain()
  await release()
  await w.drain()
  expect(sessions()).toBe(1)
  await resume(w)
  expect([sessions(), accepted()]).toEqual([1 + EMAILS, [EMAILS, EMAILS]])
})

test('email that a stop gives back is not counted as sent for the warm-up', async () => {
  await using w = await slowWorld()
  const { id } = (await w.get('/api/client/domains')).body.results[0]
  const path = `/api/client/domains/${id}/warm-up`
  const sent = async () => (await w.get(path)).body.sites.map((site: { sent: number }) => site.sent)
  await w.put(path, { steps: [EMAILS, EMAILS, EMAILS] })
  const { askAgain, release, accepted } = await begin(w)
  await w.post(`${pathOf(w.campaign)}/pause`)
  await askAgain()
  await release()
  await w.drain()
  expect([accepted(), await sent()]).toEqual([[0, 0], [0]])
  await resume(w)
  expect([accepted(), await sent()]).toEqual([[EMAILS, EMAILS], [EMAILS]])
})

test('an abort that has not committed yet stops no email, and counts what begins meanwhile', async () => {
  await using w = await slowWorld()
  const held = Promise.withResolvers<void>()
  const holding = Promise.withResolvers<void>()
  // The abort has the campaign, and waits to be recorded.
  const recording = w.db.transaction(async (db) => {
    await db.run(sql`lock table audit_entries in exclusive mode`)
    holding.resolve()
    await held.promise
  })
  await holding.promise
  let abort: ReturnType<MailWorld['patch']> | undefined
  const { askAgain, release, accepted } = await begin(w, async () => {
    abort = w.patch(pathOf(w.campaign), { state: 'aborted' })
    const isRecorded = `select 1 from pg_locks where not granted and relation = 'audit_entries'::regclass`
    await expect.poll(() => select(w, isRecorded)).toHaveLength(1)
  })
  held.resolve()
  await recording
  expect((await abort)?.body).toMatchObject({ state: 'aborted', in_flight: EMAILS })
  await askAgain()
  await release()
  await w.drain()
  expect(accepted()).toEqual([0, 0])
})

test('of several projects, email whose turn it is at the same time shares two statements', async () => {
  await using w = await slowWorld()
  const tenants = [w, await w.other(), await w.other(), await w.other()]
  let statements = 0
  await using db = openDatabase({ url: w.databaseUrl, connectionsMax: 4, name: 'test', checkRows: true, onStatement: () => statements++ })
  const { stops } = createMailer(findSendingCampaigns)
  const mail = { campaign_id: w.campaign.id } as MailRow
  const watched = await Promise.all(
    tenants.map(({ ctx }) => stops.watch({ ...w.ctx, projectId: ctx.projectId, db }, mail, 'mx.example.org')),
  )
  expect(watched.map((one) => one.isStopped())).toEqual([false, true, true, true])
  // The first one is asked about alone, and the others together.
  expect(statements).toBe(4)
  for (const one of watched) one[Symbol.dispose]()
})
