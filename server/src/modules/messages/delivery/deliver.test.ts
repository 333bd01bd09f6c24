import { expect, test } from 'vitest'
import { mailWorld } from '../../../../test/mail-queue.ts'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { claimMail, findMails, type MailRow, siteOf } from '../../mta/index.ts'
import type { SendingCampaign } from '../eligibility.ts'
import { attemptOf } from './attempt.ts'
import type { Contents } from './contents.ts'
import { deliverDue, nextReleaseAt, releaseMail } from './deliver.ts'
import { finishAttempts } from './finish.ts'
import { createMailer, type Mailer } from './mailer.ts'

const GONE = 7 as CampaignId

/** Ends the email of other tests, for what is asked of all projects. */
const endOthers = (w: World) => select(w, `update mail_recipients set state = 'delivered' where project_id <> $1`, [w.projectId])

test('email that is given up or put aside without an attempt makes room for other email', async () => {
  await using w = await world()
  const [late, stopped, held] = (await queueMail(w, { expires_at: w.clock.now() }, { campaign_id: GONE }, {})) as [
    MessageId,
    MessageId,
    MessageId,
  ]
  await select(w, `insert into mail_pauses (project_id, scope, value, created_at) values ($1, 'project', '', now())`, [w.projectId])
  const mailer = createMailer(async () => [])
  const { done, finished } = await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))
  expect([done, mailer.inFlight[BULK]]).toEqual([3, 3])
  await finished
  expect(mailer.inFlight[BULK]).toBe(0)
  const rows = await select(w, 'select mail_id::int as id, state, is_held from mail_recipients where project_id = $1 order by mail_id', [
    w.projectId,
  ])
  expect(rows).toEqual([
    { id: late, state: 'expired', is_held: false },
    { id: stopped, state: 'cancelled', is_held: false },
    { id: held, state: 'queued', is_held: true },
  ])
})

test('a result without an attempt that cannot be saved fails its batch, and is not an error that nothing waits for', async () => {
  await using w = await world()
  await queueMail(w, { expires_at: w.clock.now() })
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  const finish = () => Promise.reject(new Error('It cannot be saved.'))
  const { finished } = await deliverDue(w.ctx, { ...createMailer(async () => []), finish }, BULK, AbortSignal.any([]))
  await expect(finished).rejects.toThrow('It cannot be saved.')
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('email is released when a lease or the lifetime of held email ends, whatever comes first', async () => {
  await using w = await world()
  const [leased, held] = (await queueMail(w, {}, {})) as [MessageId, MessageId]
  const lease = (at: string) =>
    select(w, `update mail_recipients set state = 'claimed', lease_token = gen_random_uuid(), lease_until = $1 where mail_id = $2`, [
      at,
      leased,
    ])
  const hold = (at: string) => select(w, 'update mail_recipients set is_held = true, due_at = $1 where mail_id = $2', [at, held])
  await hold('1999-06-01')
  expect(await nextReleaseAt(w.ctx)).toEqual(new Date('1999-06-01'))
  await lease('1999-07-01')
  expect(await nextReleaseAt(w.ctx)).toEqual(new Date('1999-06-01'))
  await lease('1999-05-01')
  expect(await nextReleaseAt(w.ctx)).toEqual(new Date('1999-05-01'))
})

test('nothing is released before that time, which the job is told; then the email is queued again', async () => {
  await using w = await world()
  await endOthers(w)
  const [id] = (await queueMail(w, {})) as [MessageId]
  const until = new Date(w.clock.now().getTime() + MINUTE_MS)
  await claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 1 }], until)
  const stateNow = async () =>
    (await select(w, 'select state from mail_recipients where mail_id = $1 and project_id = $2', [id, w.projectId]))[0]
  expect(await releaseMail(w.ctx)).toMatchObject({ done: 0, nextAt: until })
  expect(await stateNow()).toEqual({ state: 'claimed' })
  w.advance('1 minute')
  expect(await releaseMail(w.ctx)).toBe(1)
  expect(await stateNow()).toEqual({ state: 'queued' })
})

test.each([
  ['before it is checked', 1],
  ['when it has a place at its site', 2],
])('a database that is away %s takes no attempt of an email, which is delivered later', async (_, failsAt) => {
  await using w = await mailWorld()
  await endOthers(w)
  const host = w.internet.host('mx.far.example')
  w.internet.domain('far.example', 'mx.far.example')
  await queueMail(w, { campaign_id: GONE, to: ['kim@far.example'] })
  let asked = 0
  const mailer = createMailer(async () => {
    if (++asked === failsAt) throw new Error('Connection terminated unexpectedly')
    return [{ id: GONE, state: 'running', is_paused: false } as SendingCampaign]
  })
  const recipient = () => select(w, 'select state, attempts from mail_recipients where project_id = $1', [w.projectId])
  await (await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))).finished
  expect(await recipient()).toEqual([{ state: 'queued', attempts: 0 }])
  w.advance('5 seconds')
  await (await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))).finished
  expect(await recipient()).toEqual([{ state: 'delivered', attempts: 1 }])
  expect(host.mails).toHaveLength(1)
})

test('a database that is away when the content is read takes no place of the warm-up', async () => {
  await using w = await mailWorld()
  await endOthers(w)
  const host = w.internet.host('mx.far.example')
  w.internet.domain('far.example', 'mx.far.example')
  const [{ id }] = (await w.get('/api/client/domains')).body.results
  expect((await w.put(`/api/client/domains/${id}/warm-up`, { steps: [1] })).status).toBe(200)
  await queueMail(w, { to: ['kim@far.example'] })
  const mailer = createMailer(async () => [])
  const contents: Contents = { use: () => Promise.reject(new Error('Connection terminated unexpectedly')) }
  await (await deliverDue(w.ctx, { ...mailer, contents }, BULK, AbortSignal.any([]))).finished
  expect(host.mails).toHaveLength(0)
  w.advance('5 seconds')
  await (await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))).finished
  expect(host.mails).toHaveLength(1)
})

test('an email is not refused for good while a host that may take it is left out, because it failed often', async () => {
  await using w = await mailWorld()
  await endOthers(w)
  const hosts = ['mx1.far.example', 'mx2.far.example']
  // The second one works, and has no address for now.
  w.internet.host('mx1.far.example')
  w.internet.dns.set('far.example', { mx: hosts.map((host, at) => [at, host]) })
  await queueMail(w, { to: ['kim@far.example'] })
  const mailer = createMailer(async () => [])
  for (let failures = 0; failures < 100; failures++) mailer.sites(w.ctx).scheduler.recordHost(siteOf(hosts), 'mx1.far.example', 'failed')
  await (await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))).finished
  expect(await select(w, 'select state from mail_recipients where project_id = $1', [w.projectId])).toEqual([{ state: 'queued' }])
})

test('of an attempt, what another process has the lease of by now is not reported', async () => {
  await using w = await world()
  const { url } = await w.receiver()
  await w.post('/api/client/webhooks', { name: 'Failures', url, event_types: ['delivery.failed'] })
  const [id] = (await queueMail(w, { to: ['kim@example.org', 'lee@example.org'] })) as [MessageId]
  const recipients = await claimMail(w.ctx, BULK, [{ project_id: w.projectId, limit: 2 }], new Date(w.clock.now().getTime() + MINUTE_MS))
  await select(w, 'update mail_recipients set lease_token = gen_random_uuid() where mail_id = $1 and no = 1', [id])
  const [mail] = (await findMails(w.ctx, [id])) as [MailRow]
  const outcome = { is: 'cancelled' as const, reason: 'requested' as const }
  const ended = { steps: [], startedAt: w.clock.now(), elapsedMs: 0, site: null, outcome }
  await finishAttempts(w.ctx, [attemptOf(w.ctx, { mail, domain: 'example.org', recipients }, ended)])
  const reported = await select(w, `select data->>'to' as "to" from webhook_events where project_id = $1`, [w.projectId])
  expect(reported).toEqual([{ to: 'kim@example.org' }])
})

test('processes that deliver share the limits of sites', async () => {
  await using w = await world({ own: true, env: {} })
  await select(w, 'delete from mail_processes')
  await select(w, `insert into mail_pauses (project_id, scope, value, created_at) values ($1, 'project', '', now())`, [w.projectId])
  const [one, other] = [createMailer(async () => []), createMailer(async () => [])]
  const connectionsOf = (mailer: Mailer) => mailer.sites(w.ctx).scheduler.limitsOf({ key: 'mx-1', label: 'example.org' }).connections
  const deliver = async (mailer: Mailer) => {
    await queueMail(w, {})
    await (await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))).finished
    w.advance('5 seconds')
  }
  expect([connectionsOf(one), connectionsOf(other)]).toEqual([10, 10])
  for (const mailer of [one, other, one]) await deliver(mailer)
  expect([connectionsOf(one), connectionsOf(other)]).toEqual([5, 5])
  w.advance('1 minute')
  await deliver(one)
  expect(connectionsOf(one)).toBe(10)
})

test('a job with nothing to deliver is told when the next email is due', async () => {
  await using w = await world()
  await endOthers(w)
  const mailer = createMailer(async () => [])
  const dueAt = new Date(w.clock.now().getTime() + MINUTE_MS)
  await queueMail(w, {})
  await select(w, 'update mail_recipients set due_at = $2 where project_id = $1', [w.projectId, dueAt])
  expect(await deliverDue(w.ctx, mailer, BULK, AbortSignal.any([]))).toMatchObject({ done: 0, nextAt: dueAt })
})
