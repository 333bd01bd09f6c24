/** Sending a message again (D-MSG-9), observed at a relay. */
import { describe, expect, test } from 'vitest'
import { besides } from '../../../../test/besides.ts'
import { blastTo, CAMPAIGNS, listOf, schedule, subscriptionTo, write } from '../../../../test/blasts.ts'
import { answerOrders, order, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'

const MESSAGES = '/api/client/messages'

const messagesOf = async (w: World) => (await w.get(MESSAGES)).body.results
const latest = async (w: World) => (await messagesOf(w))[0]
const resend = (w: World, { id }: { id: number }, more: object = {}) => w.post(`${MESSAGES}/${id}/resend`, undefined, more)

/** A blast to Ana that has been sent and has finished. */
async function finishedBlast(w: World, more: object = {}) {
  const blast = await blastTo(w, [await listOf(w, 'ana')], more)
  await schedule(w, blast)
  await w.drain()
  expect((await w.get(`${CAMPAIGNS}/${blast.id}`)).body.state).toBe('finished')
  return blast
}

describe('POST /messages/{id}/resend', () => {
  test.each([{}, { rate: { limit: 1, interval_seconds: 60 } }])(
    'sends the message of a finished blast again, as a new one: %j',
    async (more) => {
      await using relay = await openRelay()
      await using w = await world()
      await sendOver(w, relay)
      const blast = await finishedBlast(w, more)
      const first = await latest(w)
      const again = await resend(w, first, { key: w.keys.publisher })
      expect(again.status, again.text).toBe(202)
      expect(again.body).toEqual({ id: expect.any(Number), resent_from: first.id, state: 'queued', reason: null, detail: null })
      expect(again.headers.location).toBe(`${MESSAGES}/${again.body.id}`)
      await w.drain()
      w.advance('61 seconds')
      await w.drain()
      expect(recipientsOf(relay)).toEqual(['ana@example.com', 'ana@example.com'])
      expect(await messagesOf(w)).toMatchObject([
        { id: again.body.id, resent_from: first.id, campaign_id: blast.id, state: 'sent' },
        { id: first.id, state: 'sent' },
      ])
      expect((await w.get(`${CAMPAIGNS}/${blast.id}`)).body).toMatchObject({ state: 'finished', delivery: { total: 2, sent: 2 } })
      const [entry] = (await w.get('/api/client/audit?object_type=message')).body.results
      expect(entry).toMatchObject({ action: 'message.resent', object: { type: 'message', id: String(first.id) } })
    },
  )

  test('has the data of the event and what came with the request, and no key', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const asked = await w.post(MESSAGES, {
      subscription_id: await subscriptionTo(w),
      content: { from: 'App <app@example.com>', subject: 'Code {{ event.data.code }} for {{ user.data.name }}', html: '<p>Hi</p>' },
      user: { external_id: 'ana', email: 'ana@example.com', data: { name: 'Ana' } },
      data: { code: '493021' },
      headers: { 'X-Order': '7' },
      key: 'code-1',
    })
    await w.drain()
    await w.post('/api/client/users/batch', [{ external_id: 'ana', email: 'ana@new.example.com', data: { name: 'Anna' } }])
    expect((await resend(w, asked.body)).status).toBe(202)
    await w.drain()
    expect(relay.mails.map(({ to, headers }) => [to, headers.subject, headers['x-order']])).toEqual([
      [['ana@example.com'], 'Code 493021 for Ana', '7'],
      [['ana@new.example.com'], 'Code 493021 for Anna', '7'],
    ])
  })

  test('answers 404 if the message is deleted because of its age meanwhile, with the content that only it had', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const content = { from: 'App <app@example.com>', subject: 'Once only', html: '<p>Hi</p>' }
    const user = { external_id: 'ana', email: 'ana@example.com' }
    const asked = await w.post(MESSAGES, { subscription_id: await subscriptionTo(w), content, user })
    await w.drain()
    const removal = sql`with removed as (delete from messages where project_id = ${w.projectId}),
                             asked as (delete from message_requests where project_id = ${w.projectId})
                        delete from message_contents where project_id = ${w.projectId}`
    const again = await besides(w, removal, () => resend(w, asked.body))
    expect(again.status, again.text).toBe(404)
    await w.drain()
    expect(await messagesOf(w)).toEqual([])
  })

  test('a request that is repeated with its idempotency key sends once, and one without sends again', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await finishedBlast(w)
    const first = await latest(w)
    const headers = { 'idempotency-key': 'again' }
    const [one, two] = [await resend(w, first, { headers }), await resend(w, first, { headers })]
    expect(two.body).toEqual(one.body)
    await resend(w, first)
    await w.drain()
    expect(relay.mails).toHaveLength(3)
  })

  test('skips a user who has unsubscribed or is suppressed since', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await finishedBlast(w)
    const first = await latest(w)
    await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com', reason: 'complaint' }])
    expect((await resend(w, first)).body).toMatchObject({ state: 'skipped', reason: 'suppressed', detail: 'complaint' })
    const subscription_id = await subscriptionTo(w)
    await w.patch('/api/client/users/ana/subscriptions', [{ subscription_id, state: 0 }])
    expect((await resend(w, first)).body).toMatchObject({ state: 'skipped', reason: 'not_subscribed' })
    await w.drain()
    expect(relay.mails).toHaveLength(1)
  })

  test('waits for a cap', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await answerOrders(w)
    await w.users('ana')
    const put = await w.put('/api/client/sending-policy', { quiet_hours: null, caps: [{ channels: ['email'], max: 1, window_hours: 24 }] })
    expect(put.status, put.text).toBe(200)
    await order(w, 'ana')
    await w.drain()
    const again = await resend(w, await latest(w))
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    expect((await w.get(`${MESSAGES}/${again.body.id}`)).body).toMatchObject({ state: 'deferred', reason: 'frequency_cap' })
  })

  test('lives as long as the first did after its send_at', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const content = { from: 'App <app@example.com>', subject: 'Code', html: '<p>Hi</p>' }
    const asked = await w.post(MESSAGES, {
      subscription_id: await subscriptionTo(w),
      content,
      user: { external_id: 'ana', email: 'ana@example.com' },
      send_at: new Date(w.clock.now().getTime() + 30 * 86_400_000).toISOString(),
      expires_after_minutes: 10,
    })
    w.advance('30 days')
    await w.drain()
    const again = await resend(w, asked.body)
    const third = await resend(w, asked.body)
    w.advance('9 minutes')
    await w.drain('messages.send')
    expect(recipientsOf(relay)).toHaveLength(3)
    const late = await resend(w, third.body)
    w.advance('11 minutes')
    await w.drain()
    expect(recipientsOf(relay)).toHaveLength(3)
    const stateOf = async ({ body }: { body: any }) => (await w.get(`${MESSAGES}/${body.id}`)).body
    expect(await stateOf(again)).toMatchObject({ state: 'sent' })
    expect(await stateOf(late)).toMatchObject({ state: 'skipped', reason: 'deadline_passed' })
  })

  test('lives as long as the messages of its blast do, also if the first was sent at a new time', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const blast = await blastTo(w, [await listOf(w, 'ana')])
    await schedule(w, blast)
    await w.drain('campaigns.launch', 'campaigns.load')
    await write(w, blast, { send_at: new Date(w.clock.now().getTime() + 10 * 86_400_000).toISOString() })
    w.advance('10 days')
    await w.drain()
    const again = await resend(w, await latest(w))
    w.advance('73 hours')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    expect((await w.get(`${MESSAGES}/${again.body.id}`)).body).toMatchObject({ state: 'skipped', reason: 'deadline_passed' })
  })

  test('lives as long after each new time of its blast', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const blast = await blastTo(w, [await listOf(w, 'ana', 'bo')], { rate: { limit: 1, interval_seconds: 3600 } })
    await schedule(w, blast)
    await w.drain()
    const sent = (await messagesOf(w)).find(({ state }: { state: string }) => state === 'sent')
    const again = await resend(w, sent)
    for (let time = 0; time < 2; time++) {
      await write(w, blast, { send_at: new Date(w.clock.now().getTime() + 10 * 86_400_000).toISOString() })
      await w.drain()
      w.advance('10 days')
      await w.drain('campaigns.launch', 'campaigns.load')
    }
    expect((await w.get(`${MESSAGES}/${again.body.id}`)).body.state).toBe('queued')
    w.advance('73 hours')
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    expect((await w.get(`${MESSAGES}/${again.body.id}`)).body).toMatchObject({ state: 'skipped', reason: 'deadline_passed' })
  })

  test('is refused where nothing can be sent again', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const message = {
      subscription_id: await subscriptionTo(w),
      content: { from: 'App <app@example.com>', subject: 'Reset', html: '<p>{{ event.data.link }}</p>' },
      user: { external_id: 'ana', email: 'ana@example.com' },
      data: { link: 'https://app.example.com/r/1' },
    }
    const pdf = { name: 'a.pdf', content_type: 'application/pdf', content: Buffer.from('a').toString('base64') }
    const asked = [
      await w.post(MESSAGES, { ...message, redact: ['data.link'] }),
      await w.post(MESSAGES, { ...message, attachments: [pdf] }),
    ]
    const refusal = async (one: { id: number }) => {
      const { status, body } = await resend(w, one)
      return [status, body.message]
    }
    expect(await refusal(asked[0]?.body)).toEqual([422, expect.stringContaining('`queued`')])
    await w.drain()
    expect(await refusal(asked[0]?.body)).toEqual([422, expect.stringContaining('redacted')])
    expect(await refusal(asked[1]?.body)).toEqual([422, expect.stringContaining('attachments')])
    const blast = await finishedBlast(w)
    const sent = await latest(w)
    await write(w, blast, { state: 'aborted' })
    expect(await refusal(sent)).toEqual([422, expect.stringMatching(/`aborted`.* still being withdrawn/)])
    await w.delete(`${CAMPAIGNS}/${blast.id}`)
    expect(await refusal(sent)).toEqual([422, expect.stringContaining('archived')])
    await w.delete('/api/client/users/ana')
    await w.drain()
    expect(await refusal(sent)).toEqual([422, expect.stringContaining('erased')])
    expect((await resend(w, { id: 999_999 })).status).toBe(404)
    expect((await resend(w, sent, { key: (await w.other()).keys.secret })).status).toBe(404)
    await w.drain()
    expect(relay.mails).toHaveLength(3)
  })
})
