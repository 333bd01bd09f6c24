/** What follows from delivery for users, addresses and sites. */
import { expect, test } from 'vitest'
import { mailWorld } from '../../../../test/mail-queue.ts'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { world } from '../../../../test/world.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { claimMail, findMails, type MailRow } from '../../mta/index.ts'
import { attemptOf } from './attempt.ts'
import { finishAttempts } from './finish.ts'

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
