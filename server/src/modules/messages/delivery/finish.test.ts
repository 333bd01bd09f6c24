/** What follows from delivery for users, addresses and sites. */
import { expect, test } from 'vitest'
import { mailWorld } from '../../../../test/mail-queue.ts'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { claimMail, eraseSubmittedMail, findMails, type MailRow } from '../../mta/index.ts'
import { attemptOf } from './attempt.ts'
import { finishAttempts } from './finish.ts'
import { UNSAVED } from './results.ts'

test('a user gets the event of their delivered email, whose webhook events name them', async () => {
  await using w = await mailWorld()
  w.internet.host('mx.far.example')
  w.internet.domain('far.example', 'mx.far.example')
  const address = await w.mailTo('far.example')
  const external_id = address.split('@')[0]
  const delivered = (await w.events(address)).find(({ type }) => type === 'delivery.delivered')
  expect(delivered?.data).toMatchObject({ user: { external_id } })
  const { results } = (await w.get(`/api/client/users/${external_id}/events`)).body
  expect(results).toContainEqual(
    expect.objectContaining({ name: 'email_delivered', data: expect.objectContaining({ message_id: delivered?.data.message_id }) }),
  )
})

test.each([
  ['submission', ['kim@example.org']],
  // It goes to who receives reports, not to a user.
  ['report', []],
] as const)('a bounce of an email whose source is %s suppresses %j', async (source, expected) => {
  await using w = await world()
  const [id] = (await queueMail(w, { source, to: ['kim@example.org'] })) as [MessageId]
  const recipients = await claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 1 }], new Date(w.clock.now().getTime() + MINUTE_MS))
  const [mail] = (await findMails(w.ctx, [id])) as [MailRow]
  const outcome = {
    is: 'permanent' as const,
    reason: '',
    host: 'mx',
    reply: { code: 550, enhancedCode: '5.1.1', response: '550 5.1.1 No such user' },
  }
  const ended = { steps: [], startedAt: w.clock.now(), elapsedMs: 0, site: null, outcome }
  await finishAttempts(w.ctx, [attemptOf(w.ctx, { mail, domain: 'example.org', recipients }, ended as never)])
  const rows = await select(w, 'select address from suppressions where project_id = $1', [w.projectId])
  expect(rows.map(({ address }) => address)).toEqual(expected)
})

test.each([
  [
    'is told to wait',
    { is: 'temporary', reason: 'later', host: 'mx', reply: { code: 451, response: '451 4.2.1 Later' }, scope: 'recipient' },
  ],
  ['is refused', { is: 'permanent', reason: 'no', host: 'mx', reply: { code: 550, enhancedCode: '5.1.1', response: '550 5.1.1 No' } }],
] as const)(
  'a recipient who is erased while the email goes out and %s gets nothing more, and no event has the address',
  async (_, outcome) => {
    await using w = await mailWorld()
    w.internet.host('mx.far.example')
    w.internet.domain('far.example', 'mx.far.example')
    const [kim, lee] = ['kim@far.example', 'lee@far.example']
    const [id] = (await queueMail(w, { to: [kim, lee] })) as [MessageId]
    const recipients = await claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 2 }], new Date(w.clock.now().getTime() + MINUTE_MS))
    const [mail] = (await findMails(w.ctx, [id])) as [MailRow]
    await inTx(w.ctx, (ctx) => eraseSubmittedMail(ctx, [kim], w.clock.now()))
    const refusals = [kim, lee].map((to) => ({ is: 'failed', host: 'mx', stage: 'RCPT', peer: {}, reason: 'no', to }))
    const ended = { steps: refusals, startedAt: w.clock.now(), elapsedMs: 0, site: null, outcome }
    await finishAttempts(w.ctx, [attemptOf(w.ctx, { mail, domain: 'far.example', recipients }, ended as never)])
    w.advance('1 hour')
    const events = await w.events()
    expect(new Set(events.flatMap(({ data }) => data.to))).toEqual(new Set([lee]))
    const commands = w.internet.mx.hosts.get('mx.far.example')?.commands ?? []
    expect(commands.flatMap(({ line }) => (line.startsWith('RCPT') ? [line.split(' ')[1]] : []))).toEqual(
      outcome.is === 'temporary' ? [`TO:<${lee}>`] : [],
    )
    const suppressed = await select(w, 'select address from suppressions where project_id = $1', [w.projectId])
    expect(suppressed.map(({ address }) => address)).toEqual(outcome.is === 'permanent' ? [lee] : [])
    const rows = await select(
      w,
      `select r.state, r.history::text, m.content is null as is_deleted from mail_recipients r join mail_messages m on m.id = r.mail_id
     where r.project_id = $1 and r.no = 0`,
      [w.projectId],
    )
    expect(rows).toEqual([{ state: outcome.is === 'temporary' ? 'cancelled' : 'failed', history: '[]', is_deleted: true }])
  },
)

test('an email that is sent again has its own Message-ID in its events, and what it needs of its host', async () => {
  await using w = await mailWorld()
  w.internet.host('mx.far.example', { extensions: ['8BITMIME'] })
  w.internet.domain('far.example', 'mx.far.example')
  const [id] = (await queueMail(w, { to: ['kim@far.example'], needs_smtp_utf8: true })) as [MessageId]
  expect((await w.post('/api/client/mail-queue/cancel', { message_ids: [id] })).status).toBe(200)
  const again = { rfc_message_id: '<again@example.com>', needs_8bit: true, needs_smtp_utf8: false }
  await queueMail(w, { id, to: ['kim@far.example'], ...again })
  const delivered = (await w.events()).filter(({ type }) => type === 'delivery.delivered')
  expect(delivered).toMatchObject([{ data: { message_id: id, rfc_message_id: again.rfc_message_id } }])
  expect(w.internet.mx.hosts.get('mx.far.example')?.mails[0]?.parameters.mail).toContain('BODY=8BITMIME')
})

test('an email that is sent again after a result that could not be saved begins anew', async () => {
  await using w = await world()
  const to = ['kim@example.org']
  const [id] = (await queueMail(w, { to })) as [MessageId]
  const claim = () => claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 1 }], new Date(w.clock.now().getTime() + MINUTE_MS))
  const recipients = await claim()
  const [mail] = (await findMails(w.ctx, [id])) as [MailRow]
  const ended = { steps: [], startedAt: w.clock.now(), elapsedMs: 0, site: null, outcome: UNSAVED }
  await finishAttempts(w.ctx, [attemptOf(w.ctx, { mail, domain: 'example.org', recipients }, ended)])
  await queueMail(w, { id, to })
  // So its first failure has a notice, and numbers of attempts go on.
  expect(await claim()).toMatchObject([{ attempts: 1, attempt: 2, last_attempt_at: null, last_error: null }])
})
