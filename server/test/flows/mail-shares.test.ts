/** Who waits for whom in the mail queue: projects, priorities and blasts that are larger than the queue. `MAIL_BULK=20000` makes a long test. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { inTx, type ProjectCtx } from '../../src/infra/runtime/ctx.ts'
import type { MessageId } from '../../src/lib/ids.ts'
import { DAY_MS } from '../../src/lib/times.ts'
import { findSendingCampaigns } from '../../src/modules/campaigns/index.ts'
import { createMailer, deliverDue } from '../../src/modules/messages/index.ts'
import { deflateContent, enqueueMail, type MailPriority, type NewMail, siteOf } from '../../src/modules/mta/index.ts'
import { blastTo, listOf, pathOf, schedule } from '../blasts.ts'
import { type MailWorld, mailWorld } from '../mail-queue.ts'

const BULK = Number(process.env.MAIL_BULK ?? 1000)
const FEW = 10
const [TRANSACTIONAL_PRIORITY, BULK_PRIORITY] = [0, 1] as const

let ids = 0

/** Emails to a domain in the queue of a project. */
async function queued(ctx: ProjectCtx, priority: MailPriority, domain: string, count: number): Promise<void> {
  const content = await deflateContent(Buffer.from('Subject: Hello\r\n\r\nHello\r\n'))
  const mails = Array.from(
    { length: count },
    (): NewMail => ({
      id: ++ids as MessageId,
      source: 'submission',
      priority,
      campaign_id: null,
      journey_id: null,
      key_id: null,
      mail_from: 'shop@example.com',
      return_domain: null,
      rfc_message_id: `<${ids}@example.com>`,
      to: [`user-${ids}@${domain}`],
      content,
      needs_8bit: false,
      needs_smtp_utf8: false,
      expires_at: new Date(ctx.clock.now().getTime() + DAY_MS),
    }),
  )
  await inTx(ctx, (tx) => enqueueMail(tx, mails))
}

/** A domain with a host that takes so long to accept an email. */
function domainOf(w: MailWorld, name: string, acceptMs = 0): string {
  const domain = `${name}.example.org`
  w.internet.host(`mx.${domain}`, { acceptMs })
  w.internet.domain(domain, `mx.${domain}`)
  return domain
}

const acceptedAt = (w: MailWorld, domain: string) => w.internet.mx.hosts.get(`mx.${domain}`)?.counts.accepted ?? 0

test('a large queue to a slow host delays no transactional email, and no email of another project', {
  timeout: 60_000 + BULK * 20,
}, async () => {
  await using w = await mailWorld()
  const other = await w.other()
  const [slow, quick, others] = [domainOf(w, 'slow', 10), domainOf(w, 'quick'), domainOf(w, 'others')]
  await queued(w.ctx, BULK_PRIORITY, slow, BULK)
  const bulk = w.drain('mail.deliver-bulk')
  await w.internet.mx.accepted(1)
  await queued(w.ctx, TRANSACTIONAL_PRIORITY, quick, FEW)
  await queued(other.ctx, BULK_PRIORITY, others, FEW)
  await Promise.all([bulk, w.drain('mail.deliver'), w.drain('mail.deliver-bulk')])
  for (let rounds = 0; acceptedAt(w, slow) < BULK / 5 && rounds < BULK; rounds++) {
    w.advance('5 seconds')
    await w.drain('mail.deliver', 'mail.deliver-bulk')
  }
  const order = w.internet.mx.mails().map(({ host }) => host)
  expect([acceptedAt(w, quick), acceptedAt(w, others)]).toEqual([FEW, FEW])
  expect(acceptedAt(w, slow)).toBeGreaterThanOrEqual(BULK / 5)
  for (const domain of [quick, others]) {
    const before = order.slice(0, order.lastIndexOf(`mx.${domain}`)).filter((host) => host === `mx.${slow}`)
    expect(before.length, `emails of the large queue before the last one to ${domain}`).toBeLessThan(BULK / 10)
  }
})

test('a round takes emails of every project that has some due, however many another one has', { timeout: 60_000 }, async () => {
  await using w = await mailWorld()
  const other = await w.other()
  await queued(w.ctx, BULK_PRIORITY, domainOf(w, 'large', 10), BULK)
  await queued(other.ctx, BULK_PRIORITY, domainOf(w, 'small'), FEW)
  const stop = new AbortController()
  const { finished } = await deliverDue(w.ctx, createMailer(findSendingCampaigns), BULK_PRIORITY, stop.signal)
  const untouched = (projectId: number) =>
    w.db.value(
      Type.Integer(),
      sql`select count(*) from mail_recipients where project_id = ${projectId} and state = 'queued' and attempts = 0`,
    )
  expect(await untouched(other.projectId)).toBe(0)
  expect(await untouched(w.projectId)).toBeGreaterThan(0)
  await finished
})

const Depth = Type.Object({ untried: Type.Integer(), all: Type.Integer() })

const depthOf = (w: MailWorld) =>
  w.db.one(
    Depth,
    sql`select count(*) filter (where state = 'queued' and attempts = 0) as untried, count(*) as all from mail_recipients
        where project_id = ${w.projectId}`,
  )

test('a blast that is larger than the queue waits for room, and is claimed no more often than that takes', {
  timeout: 120_000,
}, async () => {
  const [most, users] = [50, 200]
  await using w = await mailWorld({ MTA_QUEUE_MAX: String(most) })
  w.internet.host('mx.example.com')
  w.internet.domain('example.com', 'mx.example.com')
  const list = await listOf(w, ...Array.from({ length: users }, (_, at) => `user-${at}`))
  await w.post('/api/client/mail-queue/pause', {})
  await schedule(w, await blastTo(w, [list]))
  // The queue is full and stays so, because nothing of it is delivered.
  const sending = ['campaigns.launch', 'campaigns.load', 'messages.send-bulk']
  for (let rounds = 0; rounds < 8; rounds++) {
    await w.drain(...sending)
    expect(await depthOf(w)).toEqual({ untried: most, all: most })
    w.advance('1 second')
  }
  await w.post('/api/client/mail-queue/resume', {})
  let highest = 0
  for (let rounds = 0; rounds < 200 && w.internet.mx.mails().length < users; rounds++) {
    await w.drain(...sending, 'messages.release', 'mail.deliver-bulk', 'mail.release')
    highest = Math.max(highest, (await depthOf(w)).untried)
    w.advance('1 second')
  }
  await w.drain()
  expect(w.internet.mx.mails().flatMap(({ to }) => to)).toHaveLength(users)
  expect(new Set(w.internet.mx.mails().flatMap(({ to }) => to)).size).toBe(users)
  expect(highest).toBeLessThanOrEqual(2 * most)
  const attempts = await w.db.one(
    Type.Object({ messages: Type.Integer(), emails: Type.Integer() }),
    sql`select (select max(attempts) from messages where project_id = ${w.projectId}) as messages,
               (select max(attempts) from mail_recipients where project_id = ${w.projectId}) as emails`,
  )
  expect(attempts).toEqual({ messages: 1, emails: 1 })
})

test.each(['the campaign', 'its email in the queue'])('a pause of %s takes no room in the queue from another blast', async (what) => {
  await using w = await mailWorld({ MTA_QUEUE_MAX: '5' })
  w.internet.host('mx.example.com')
  w.internet.domain('example.com', 'mx.example.com')
  const twelve = (letter: string) => Array.from({ length: 12 }, (_, at) => `${letter}-${at}`)
  const campaign = await blastTo(w, [await listOf(w, ...twelve('a'))])
  await schedule(w, campaign)
  await w.drain('campaigns.launch', 'campaigns.load', 'messages.send-bulk')
  expect(await depthOf(w)).toEqual({ untried: 5, all: 5 })
  const pause =
    what === 'the campaign'
      ? await w.post(`${pathOf(campaign)}/pause`)
      : await w.post('/api/client/mail-queue/pause', { campaign_id: campaign.id })
  expect(pause.status).toBeLessThan(300)
  await schedule(w, await blastTo(w, [await listOf(w, ...twelve('b'))]))
  for (let rounds = 0; rounds < 10; rounds++) {
    await w.drain()
    w.advance('1 second')
  }
  expect(await depthOf(w)).toEqual({ untried: 5, all: 17 })
  const to = w.internet.mx.mails().flatMap(({ to }) => to)
  expect(to.sort()).toEqual(
    twelve('b')
      .map((name) => `${name}@example.com`)
      .sort(),
  )
})

test('a pause of a site takes room in the queue from its own blast only, and not without end', async () => {
  const most = 5
  await using w = await mailWorld({ MTA_QUEUE_MAX: String(most) })
  const paused = domainOf(w, 'paused')
  const site = siteOf([`mx.${paused}`]).key
  expect((await w.post('/api/client/mail-queue/pause', { site })).status).toBe(204)
  const blastAt = async (domain: string, count: number) => {
    const names = Array.from({ length: count }, (_, at) => `${at}-at-${domain}`)
    const users = names.map((external_id) => ({ external_id, email: `${external_id}@${domain}` }))
    expect((await w.post('/api/client/users/batch', users)).status).toBe(200)
    const { body: list } = await w.post('/api/client/lists', { name: domain, type: 'static' })
    await w.post(`/api/client/lists/${list.id}/users`, { external_ids: names })
    await schedule(w, await blastTo(w, [list.id]))
  }
  const rounds = async () => {
    for (let round = 0; round < 15; round++) {
      await w.drain()
      w.advance('1 second')
    }
  }
  await blastAt(paused, 12 * most)
  await rounds()
  const held = (await depthOf(w)).untried
  expect([acceptedAt(w, paused), held < 12 * most]).toEqual([0, true])
  const open = domainOf(w, 'open')
  await blastAt(open, 3 * most)
  await rounds()
  expect([acceptedAt(w, open), (await depthOf(w)).untried]).toEqual([3 * most, held])
  expect((await w.post('/api/client/mail-queue/resume', { site })).status).toBe(204)
  await rounds()
  expect([acceptedAt(w, paused), (await depthOf(w)).untried]).toEqual([12 * most, 0])
})

test('while all email of a project is paused, no more is put into a full queue', async () => {
  await using w = await mailWorld({ MTA_QUEUE_MAX: '5' })
  await w.post('/api/client/mail-queue/pause', {})
  await schedule(w, await blastTo(w, [await listOf(w, ...Array.from({ length: 12 }, (_, at) => `user-${at}`))]))
  for (let round = 0; round < 5; round++) {
    await w.drain()
    w.advance('1 second')
  }
  expect(await depthOf(w)).toEqual({ untried: 5, all: 5 })
})

describe('the notice that a site has as many connections as it may have', () => {
  const notices = async (w: MailWorld) =>
    (await w.events()).filter(({ type }) => type === 'delivery.concurrency-limit-exceeded').map(({ data }) => data)
  /** More than wait for a place at one site. */
  const MANY = 80

  test('comes at most once a minute', async () => {
    await using w = await mailWorld({ MTA_LIMITS: '{"*": {"connections": 1}}' })
    const domain = domainOf(w, 'narrow', 2)
    await queued(w.ctx, BULK_PRIORITY, domain, MANY)
    expect(await notices(w)).toMatchObject([{ host: expect.any(String), limit: 1 }])
    w.advance('59 seconds')
    await queued(w.ctx, BULK_PRIORITY, domain, MANY)
    expect(await notices(w)).toEqual([])
    w.advance('1 second')
    await queued(w.ctx, BULK_PRIORITY, domain, MANY)
    expect(await notices(w)).toHaveLength(1)
  })

  test('does not come for email that waits for the rate of a site', async () => {
    await using w = await mailWorld({ MTA_LIMITS: '{"*": {"mails_per_second": 0.1}}' })
    await queued(w.ctx, BULK_PRIORITY, domainOf(w, 'rare'), FEW)
    expect(await notices(w)).toEqual([])
    expect(w.internet.mx.mails().length).toBeLessThan(FEW)
  })
})
