/** Messages that requests ask for (D-MSG-2), observed at a relay. */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { besides, waitingForLocks } from '../../../../test/besides.ts'
import { CAMPAIGNS, run, subscriptionTo, write } from '../../../../test/blasts.ts'
import { recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay, type Relay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { createSecrets } from '../../../infra/runtime/secrets.ts'
import type { CampaignId, SubscriptionId } from '../../../lib/ids.ts'
import { onUsersSaved } from '../../../user-changes.ts'
import { sendMessage } from './service.ts'

const MESSAGES = '/api/client/messages'

const RESET = { from: 'App <app@example.com>', subject: 'Reset', html: '<p><a href="{{ event.data.link }}">Reset</a></p>' }

/** A running campaign that no event sends, over a relay. */
async function resets(w: World, more: object = {}) {
  const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Password reset', subscription_id: await subscriptionTo(w), ...more })
  expect(made.status, made.text).toBe(201)
  const put = await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, RESET)
  expect(put.status, put.text).toBe(200)
  await write(w, made.body, { state: 'running' })
  return made.body as { id: number; slug: string }
}

const ANA = { external_id: 'ana', email: 'ana@example.com', data: { name: 'Ana' } }
const BO = { external_id: 'bo', email: 'bo@example.com' }
const reset = { campaign: 'password-reset', user: ANA, data: { link: 'https://app.example.com/r/1' } }

const bodyOf = ({ mails }: Pick<Relay, 'mails'>) => mails[0]?.raw.replaceAll('=\r\n', '') ?? ''

describe('POST /messages', () => {
  test('creates the user, and sends the campaign with the data, once', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const { slug } = await resets(w)
    expect(slug).toBe('password-reset')
    const sent = await w.post(MESSAGES, reset, { key: w.keys.publisher })
    expect(sent.status, sent.text).toBe(202)
    const user = (await w.get('/api/client/users/ana')).body
    expect(user).toMatchObject({ email: 'ana@example.com', data: { name: 'Ana' } })
    expect(sent.body).toEqual({
      id: expect.any(Number),
      state: 'queued',
      reason: null,
      detail: null,
      user: { id: user.id, external_id: 'ana', anonymous_id: null },
      duplicate: false,
    })
    expect(sent.headers.location).toBe(`${MESSAGES}/${sent.body.id}`)
    await w.drain()
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    expect(bodyOf(relay)).toContain('app.example.com/r/1')
  })

  test('in a batch decides on the user who remains after a later item has merged that of an earlier one', async () => {
    await using w = await world()
    const { slug } = await resets(w)
    const anonymous = { anonymous_id: 'visitor', email: 'visitor@example.com' }
    await w.post('/api/client/users/batch', [ANA, anonymous])
    const optOut = [{ subscription_id: await subscriptionTo(w), state: 0 }]
    expect((await w.patch('/api/client/users/visitor/subscriptions', optOut)).status).toBe(200)
    const items = [anonymous, { external_id: 'ana', anonymous_id: 'visitor' }].map((user) => ({ campaign: slug, user }))
    const { body } = await w.post(`${MESSAGES}/batch`, items, { key: w.keys.publisher })
    const results = body.results.map(({ message }: { message: object }) => message)
    expect(results).toMatchObject(items.map(() => ({ state: 'skipped', reason: 'not_subscribed', user: { external_id: 'ana' } })))
  })

  test('sends content of the request, to which the locale of the request belongs', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const message = {
      subscription_id: await subscriptionTo(w),
      content: { ...RESET, subject: 'Hallo {{ user.data.name }}' },
      locale: 'de',
      user: ANA,
      data: reset.data,
    }
    const first = await w.post(MESSAGES, message)
    expect(first.status, first.text).toBe(202)
    const second = await w.post(MESSAGES, { ...message, user: { external_id: 'bo', email: 'bo@example.com', data: { name: 'Bo' } } })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
    expect(relay.mails.map(({ headers }) => headers.subject).sort()).toEqual(['Hallo Ana', 'Hallo Bo'])
    expect(bodyOf(relay)).toContain('<html lang="de">')
    const [{ campaign_id }, other] = [
      (await w.get(`${MESSAGES}/${first.body.id}`)).body,
      (await w.get(`${MESSAGES}/${second.body.id}`)).body,
    ]
    expect(other.campaign_id).toBe(campaign_id)
    const campaign = (await w.get(`${CAMPAIGNS}/${campaign_id}`)).body
    expect(campaign).toMatchObject({ name: 'Direct messages: Default Email', is_direct: true, delivery: { total: 2, sent: 2 } })
    expect((await w.patch(`${CAMPAIGNS}/${campaign_id}`, { event_name: 'order' })).body.error.param).toBe('event_name')
    await write(w, campaign, { rate: { limit: 10, interval_seconds: 1 } })
  })

  test('sends content for a subscription type whose long name is of emoji', async () => {
    await using w = await world()
    const type = await w.post('/api/client/subscriptions', { name: `a${'😀'.repeat(240)}`, channel: 'email' })
    expect(type.status, type.text).toBe(201)
    const sent = await w.post(MESSAGES, { subscription_id: type.body.id, content: RESET, user: ANA })
    expect(sent.status, sent.text).toBe(202)
    const { campaign_id } = (await w.get(`${MESSAGES}/${sent.body.id}`)).body
    expect((await w.get(`${CAMPAIGNS}/${campaign_id}`)).body.name).toBe(`Direct messages: a${'😀'.repeat(229)}`)
  })

  test('saves the sites of the links in equal content for the campaign of each subscription type', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.db.run(sql`update projects set link_wrap_email = true where id = ${w.projectId}`)
    const types = [await subscriptionTo(w), (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body.id]
    const content = { ...RESET, html: '<p><a href="https://shop.example.com/reset?email=ana@example.com">Shop</a></p>' }
    const { body } = await w.post(
      `${MESSAGES}/batch`,
      types.map((subscription_id) => ({ subscription_id, content, user: ANA })),
    )
    await w.drain()
    expect(recipientsOf(relay)).toHaveLength(2)
    const saved = await w.db.many(
      Type.Object({ campaign_id: Type.Integer(), url: Type.String() }),
      sql`select campaign_id, url from links where project_id = ${w.projectId} order by campaign_id`,
    )
    const campaignOf = async (id: number): Promise<number> => (await w.get(`${MESSAGES}/${id}`)).body.campaign_id
    const ids: number[] = body.results.map(({ message }: any) => message.id)
    const sent = await Promise.all(ids.map(campaignOf))
    expect(saved).toEqual(sent.sort((a, b) => a - b).map((campaign_id) => ({ campaign_id, url: 'https://shop.example.com' })))
  })

  test('sends content whose last user is erased while the request is read', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const message = { subscription_id: await subscriptionTo(w), content: { ...RESET, subject: 'Once more' }, data: reset.data }
    await w.post(MESSAGES, { ...message, user: ANA })
    await w.drain()
    const erasure = sql`with erased as (update message_requests set content_id = null where project_id = ${w.projectId})
                        delete from message_contents where project_id = ${w.projectId}`
    const sent = await besides(w, erasure, () => w.post(MESSAGES, { ...message, user: BO }))
    expect(sent.status, sent.text).toBe(202)
    await w.drain()
    expect((await w.get(`${MESSAGES}/${sent.body.id}`)).body).toMatchObject({ state: 'sent', content: { subject: 'Once more' } })
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
  })

  test('sends content whose last user is erased before the request commits', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const subscription_id = (await subscriptionTo(w)) as SubscriptionId
    const message = { subscription_id, content: RESET, data: reset.data }
    await w.post(MESSAGES, { ...message, user: ANA })
    await w.drain()
    await w.delete('/api/client/users/ana')
    const [asked, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sending = inTx(w.ctx, async (ctx) => {
      await sendMessage(ctx, onUsersSaved, { ...message, user: BO })
      asked.resolve()
      await commit.promise
    })
    await asked.promise
    const erasing = run(w, 'users.erase')
    await Promise.race([erasing, expect.poll(() => waitingForLocks(w)).toBeGreaterThan(0)])
    commit.resolve()
    await sending
    expect(await erasing).toBe(1)
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
  })

  test('says at once why nothing is sent', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await resets(w)
    await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com', reason: 'complaint' }])
    const skipped = await w.post(MESSAGES, reset)
    expect(skipped.status).toBe(202)
    expect(skipped.body).toMatchObject({ state: 'skipped', reason: 'suppressed', detail: 'complaint' })
    const nobody = await w.post(MESSAGES, { ...reset, user: { anonymous_id: 'browser-1' } })
    expect(nobody.body).toMatchObject({ state: 'skipped', reason: 'no_address', user: { external_id: null, anonymous_id: 'browser-1' } })
    await w.drain()
    expect(recipientsOf(relay)).toEqual([])
    expect((await w.get(`${MESSAGES}/${skipped.body.id}`)).body).toMatchObject({
      state: 'skipped',
      reason: 'suppressed',
      detail: 'complaint',
    })
  })

  test('sends one message for a key, however often and at what time it is asked for', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await resets(w)
    const keyed = { ...reset, key: 'reset-1' }
    const replies = await Promise.all(Array.from({ length: 5 }, () => w.post(MESSAGES, keyed)))
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
    expect(replies.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    await w.drain()
    const again = await w.post(MESSAGES, keyed)
    expect(again.body).toMatchObject({ id: replies[0]?.body.id, state: 'sent', duplicate: true, user: { external_id: 'ana' } })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('refuses a key that stood for something else, and changes nothing', async () => {
    await using w = await world()
    await resets(w)
    await w.post(MESSAGES, { ...reset, key: 'reset-1' })
    const bo = { external_id: 'bo', email: 'bo@example.com' }
    for (const other of [{ user: bo }, { data: { link: 'https://app.example.com/r/2' } }, { locale: 'de' }]) {
      const reply = await w.post(MESSAGES, { ...reset, key: 'reset-1', ...other })
      expect(reply).toMatchObject({ status: 409, body: { code: 'idempotency_key_mismatch', error: { param: 'key' } } })
    }
    expect((await w.get('/api/client/users/bo')).status).toBe(404)
  })

  test.each<[string, (w: World, path: string) => Promise<unknown>]>([
    ['is finished', (w, path) => w.patch(path, { state: 'finished' })],
    ['is aborted', (w, path) => w.patch(path, { state: 'aborted' })],
    ['is archived', (w, path) => w.delete(path)],
    ['is archived and made anew', (w, path) => w.delete(path).then(() => resets(w))],
  ])('answers a repeated key with its message after the campaign %s', async (_, end) => {
    await using w = await world()
    const { id } = await resets(w)
    const keyed = { ...reset, key: 'reset-1' }
    const first = await w.post(MESSAGES, keyed)
    await w.drain()
    await end(w, `${CAMPAIGNS}/${id}`)
    const again = await w.post(MESSAGES, keyed)
    expect(again, again.text).toMatchObject({ status: 202, body: { id: first.body.id, state: 'delivered', duplicate: true } })
    const { body } = await w.post(`${MESSAGES}/batch`, [keyed, { ...reset, user: { external_id: 'bo', email: 'bo@example.com' } }])
    expect(body.results[0].message).toEqual(again.body)
    const other = await w.post(MESSAGES, { ...keyed, data: { link: 'https://app.example.com/r/2' } })
    expect(other.body).not.toHaveProperty('id')
    const unknown = await w.post(MESSAGES, { ...keyed, campaign: 'unknown' })
    expect(unknown.status).toBe(404)
  })

  test('answers a repeated key with its message after the keys of the server were rotated', async () => {
    await using w = await world()
    const { id } = await resets(w)
    const input = { campaign_id: id as CampaignId, user: ANA, key: 'reset-1' }
    const [old, next] = ['old', 'new'].map((name, at) => `${name}:${Buffer.alloc(32, at + 1).toString('base64')}`) as [string, string]
    const send = (...keys: string[]) => sendMessage({ ...w.ctx, secrets: createSecrets(keys) }, onUsersSaved, input)
    const first = await send(old)
    expect(await send(next, old)).toMatchObject({ id: first.id, duplicate: true })
  })

  test('with an Idempotency-Key, a repetition gets the same reply', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await resets(w)
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [await w.post(MESSAGES, reset, { headers }), await w.post(MESSAGES, reset, { headers })]
    expect([second.status, second.body]).toEqual([first.status, first.body])
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('waits for send_at, and is skipped after its minutes', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await resets(w)
    const at = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
    const later = await w.post(MESSAGES, { ...reset, send_at: at })
    const short = await w.post(MESSAGES, { ...reset, send_at: at, expires_after_minutes: 5 })
    await w.drain()
    expect(relay.mails).toEqual([])
    w.advance('66 minutes')
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
    const states = await Promise.all([later, short].map(async ({ body }) => (await w.get(`${MESSAGES}/${body.id}`)).body))
    expect(states.map(({ state, reason }) => [state, reason])).toEqual([
      ['sent', null],
      ['skipped', 'deadline_passed'],
    ])
  })

  test.each([
    [true, 1, 'skipped', 'deadline_passed'],
    [false, 72, 'sent', null],
  ])('expires after an hour by default if its type is transactional: %s', async (is_transactional, hours, state, reason) => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const { body: type } = await w.post('/api/client/subscriptions', { name: 'Security', channel: 'email', is_transactional })
    const campaign = await resets(w, { subscription_id: type.id })
    expect((await w.get(`${CAMPAIGNS}/${campaign.id}`)).body).toMatchObject({ expires_after_hours: hours })
    const bo = { external_id: 'bo', email: 'bo@example.com' }
    const sent = [
      await w.post(MESSAGES, reset),
      await w.post(MESSAGES, { content: RESET, subscription_id: type.id, user: bo, data: reset.data }),
    ]
    w.advance('61 minutes')
    await w.drain()
    const states = await Promise.all(sent.map(async ({ body }) => (await w.get(`${MESSAGES}/${body.id}`)).body))
    expect(states).toMatchObject([
      { state, reason },
      { state, reason },
    ])
  })

  test.each<[string, object, number, string, string | undefined]>([
    ['an unknown campaign', { campaign: 'unknown' }, 404, 'resource_missing', undefined],
    ['no campaign', { campaign: undefined }, 400, 'parameter_missing', 'campaign'],
    ['a campaign and content', { content: RESET, subscription_id: 1 }, 422, 'validation_failed', 'content'],
    ['content without a type', { campaign: undefined, content: RESET }, 400, 'parameter_missing', 'subscription_id'],
    ['an unknown type', { campaign: undefined, content: RESET, subscription_id: 999_999 }, 422, 'validation_failed', 'subscription_id'],
    ['a user without ids', { user: { email: 'ana@example.com' } }, 400, 'parameter_missing', 'user.external_id'],
    ['a wrong email address', { user: { ...ANA, email: 'ana' } }, 400, 'parameter_invalid_format', 'user.email'],
    ['a phone number without a country', { user: { ...ANA, phone: '12' } }, 400, 'parameter_invalid_format', 'user.phone'],
    ['a path that names nothing', { redact: ['data.link', 'data.lnik'] }, 422, 'validation_failed', 'redact[1]'],
    ['a time far ahead', { send_at: '2036-01-01' }, 422, 'validation_failed', 'send_at'],
    ['an unknown member', { to: 'ana@example.com' }, 400, 'parameter_unknown', 'to'],
  ])('refuses %s', async (_, change, status, code, param) => {
    await using w = await world()
    await resets(w)
    const reply = await w.post(MESSAGES, { ...reset, ...change })
    expect([reply.status, reply.body.code, reply.body.error?.param], reply.text).toEqual([status, code, param])
    expect((await w.get(MESSAGES)).body.results).toEqual([])
  })

  test.each([
    [true, { state: 'skipped', reason: 'deadline_passed' }],
    [false, { state: 'sent', reason: null }],
  ])('content of a subscription type that became transactional (%s) has the deadline of its kind', async (is_transactional, expected) => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const type = (await w.post('/api/client/subscriptions', { name: 'Security', channel: 'email', is_transactional: !is_transactional }))
      .body
    const message = { subscription_id: type.id, content: { ...RESET, html: '<p>Hi</p>' }, user: ANA }
    await w.post(MESSAGES, message)
    await w.drain()
    const changed = await w.patch(`/api/client/subscriptions/${type.id}`, { is_transactional })
    expect(changed.status, changed.text).toBe(200)
    const { body } = await w.post(MESSAGES, { ...message, user: { external_id: 'bo', email: 'bo@example.com' } })
    w.advance('2 hours')
    await w.drain()
    expect((await w.get(`${MESSAGES}/${body.id}`)).body).toMatchObject(expected)
    expect(recipientsOf(relay)).toEqual(['ana@example.com', ...(expected.state === 'sent' ? ['bo@example.com'] : [])])
  })

  test('the deadline that a publisher set for content stays when its subscription type becomes transactional', async () => {
    await using w = await world()
    const type = (await w.post('/api/client/subscriptions', { name: 'Security', channel: 'email' })).body
    const sent = await w.post(MESSAGES, { subscription_id: type.id, content: { ...RESET, html: '<p>Hi</p>' }, user: ANA })
    const path = `${CAMPAIGNS}/${(await w.get(`${MESSAGES}/${sent.body.id}`)).body.campaign_id}`
    const afterPatch = async (is_transactional: boolean): Promise<number> => {
      await w.patch(`/api/client/subscriptions/${type.id}`, { is_transactional })
      return (await w.get(path)).body.expires_after_hours
    }
    expect(await afterPatch(true)).toBe(1)
    await w.patch(path, { expires_after_hours: 72 })
    expect(await afterPatch(true)).toBe(72)
    await w.patch(path, { expires_after_hours: 5 })
    expect(await afterPatch(false)).toBe(5)
  })

  test('refuses content that the channel cannot send, and names the place', async () => {
    await using w = await world()
    const message = { subscription_id: await subscriptionTo(w), user: ANA, content: { subject: '{{ event.data.x', html: '<p>Hi</p>' } }
    const reply = await w.post(MESSAGES, message)
    expect([reply.status, reply.body.error.param], reply.text).toEqual([422, 'content.subject'])
  })

  test('says what to do if the campaign of messages with content is aborted', async () => {
    await using w = await world()
    const message = { subscription_id: await subscriptionTo(w), content: { ...RESET, html: '<p>Hi</p>' }, user: ANA }
    const first = await w.post(MESSAGES, message)
    const path = `${CAMPAIGNS}/${(await w.get(`${MESSAGES}/${first.body.id}`)).body.campaign_id}`
    await w.patch(path, { state: 'aborted' })
    const refused = await w.post(MESSAGES, message)
    expect([refused.status, refused.body.error.param], refused.text).toEqual([422, 'subscription_id'])
    expect(refused.body.message).toContain('Archive')
    await w.delete(path)
    expect((await w.post(MESSAGES, message)).status).toBe(202)
  })

  test('needs a running trigger campaign', async () => {
    await using w = await world()
    const { id } = await resets(w)
    await write(w, { id }, { state: 'finished' })
    const reply = await w.post(MESSAGES, { ...reset, campaign: undefined, campaign_id: id })
    expect([reply.status, reply.body.error.param]).toEqual([422, 'campaign_id'])
  })
})

describe('POST /messages/batch', () => {
  test('has a result for each item, and sends the valid ones once', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await resets(w)
    const bo = { ...reset, user: { external_id: 'bo', email: 'bo@example.com' }, key: 'bo' }
    const reply = await w.post(`${MESSAGES}/batch`, [
      reset,
      bo,
      { ...reset, campaign: 'unknown' },
      bo,
      { ...bo, locale: 'de' },
      { user: {} },
    ])
    expect(reply.status, reply.text).toBe(200)
    const { results, succeeded, failed } = reply.body
    expect([succeeded, failed]).toEqual([3, 3])
    expect(results.map(({ index, message, error }: any) => [index, message?.user.external_id, message?.duplicate, error?.code])).toEqual([
      [0, 'ana', false, undefined],
      [1, 'bo', false, undefined],
      [2, undefined, undefined, 'resource_missing'],
      [3, 'bo', true, undefined],
      [4, undefined, undefined, 'idempotency_key_mismatch'],
      [5, undefined, undefined, 'parameter_missing'],
    ])
    expect(results[3].message.id).toBe(results[1].message.id)
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['ana@example.com', 'bo@example.com'])
  })

  test('takes 1 to 100 items', async () => {
    await using w = await world()
    expect((await w.post(`${MESSAGES}/batch`, [])).status).toBe(400)
    expect(
      (
        await w.post(
          `${MESSAGES}/batch`,
          Array.from({ length: 101 }, () => reset),
        )
      ).status,
    ).toBe(422)
  })
})

describe('a key with the role smtpproxy', () => {
  test('sends messages and reads those that it sent', async () => {
    await using w = await world()
    await resets(w)
    const { smtpproxy: key } = w.keys
    const own = await w.post(MESSAGES, reset, { key })
    const other = await w.post(MESSAGES, reset)
    expect(own.status).toBe(202)
    expect((await w.get(`${MESSAGES}/${own.body.id}`, { key })).status).toBe(200)
    expect((await w.get(`${MESSAGES}/${other.body.id}`, { key })).status).toBe(404)
    expect((await w.get(MESSAGES, { key })).body.results.map(({ id }: { id: number }) => id)).toEqual([own.body.id])
    expect((await w.get('/api/client/users/ana', { key })).status).toBe(403)
    expect((await w.post(MESSAGES, reset, { key: w.keys.support })).status).toBe(403)
  })
})

describe('slugs of campaigns', () => {
  test('are made from the name, are unique, and stay when the name changes', async () => {
    await using w = await world()
    const first = await resets(w)
    const second = await resets(w)
    expect([first.slug, second.slug]).toEqual(['password-reset', 'password-reset-2'])
    expect((await write(w, first, { name: 'Reset of passwords' })).slug).toBe('password-reset')
    expect((await write(w, second, { slug: 'reset' })).slug).toBe('reset')
    const taken = await w.patch(`${CAMPAIGNS}/${second.id}`, { slug: 'password-reset' })
    expect([taken.status, taken.body.code]).toEqual([409, 'resource_already_exists'])
    await w.delete(`${CAMPAIGNS}/${first.id}`)
    expect((await write(w, second, { slug: 'password-reset' })).slug).toBe('password-reset')
    const copy = await w.post(`${CAMPAIGNS}/${second.id}/duplicate`)
    expect(copy.body.slug).toBe('password-reset-copy')
  })

  test.each(['Reset', 'reset_', '-a', 'a--b', 'ä'])('%s is none', async (slug) => {
    await using w = await world()
    const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'X', slug, subscription_id: await subscriptionTo(w) })
    expect([made.status, made.body.error?.param]).toEqual([400, 'slug'])
  })

  test('the name decides, in any script', async () => {
    await using w = await world()
    const slugs = []
    for (const name of ['Überraschung für Zoë!', '密码', '密码'])
      slugs.push((await w.post(CAMPAIGNS, { type: 'trigger', name, subscription_id: await subscriptionTo(w) })).body.slug)
    expect(slugs).toEqual(['uberraschung-fur-zoe', 'campaign', 'campaign-2'])
  })
})
