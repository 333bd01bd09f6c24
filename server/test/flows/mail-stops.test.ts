/** A campaign or a project is stopped while its email waits for a place at a slow host, observed at that host. */
import { expect, test } from 'vitest'
import { findSendingCampaigns } from '../../src/modules/campaigns/index.ts'
import { createMailer, deliverDue } from '../../src/modules/messages/index.ts'
import { pathOf } from '../blasts.ts'
import { type MailWorld, mailWorld } from '../mail-queue.ts'
import { select } from '../select.ts'

const TRANSACTIONAL_PRIORITY = 0
const EMAILS = 6

/**
 * Begins to deliver emails of a campaign to a host with one connection, which does not reply to the first MAIL before `release`. One email is in
 * the session, one waits for its connection, and the others for a place.
 */
async function begin(w: MailWorld) {
  const [domain, replies] = ['slow.example.org', Promise.withResolvers<void>()]
  const { commands, counts, mails } = w.internet.host(`mx.${domain}`, { script: { MAIL: { until: replies.promise } } })
  w.internet.domain(domain, `mx.${domain}`)
  for (let sent = 0; sent < EMAILS; sent++) await w.mailTo(domain)
  await w.drain('ingest.apply', 'messages.send')
  // Each mailer counts as a process, and the host has one connection for all of them.
  await select(w, 'delete from mail_processes')
  let answers = 0
  const find: typeof findSendingCampaigns = async (ctx, ids, how) => {
    const found = await findSendingCampaigns(ctx, ids, how)
    // When it is the turn of an email, campaigns are locked.
    if (how === undefined) answers++
    return found
  }
  const { finished } = await deliverDue(w.ctx, createMailer(find), TRANSACTIONAL_PRIORITY, AbortSignal.any([]))
  const sessions = () => commands.filter(({ line }) => line.startsWith('MAIL')).length
  await expect.poll(sessions).toBe(1)
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
