/** Reading messages and what happened to them (D-MSG-3), and values that are kept out of everything stored (D-MSG-4). */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { blastBeforeMerge, blastTo, CAMPAIGNS, listOf, run, schedule, subscriptionTo } from '../../../../test/blasts.ts'
import { answerOrders, providerOf, recipientsOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { raw, sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { MissingKey } from '../../../infra/runtime/secrets.ts'
import { Count } from '../../../lib/shapes.ts'

import { SEND_JOBS, TRANSACTIONAL } from '../schema.ts'

const MESSAGES = '/api/client/messages'
const SECRET = 'https://app.example.com/r/f81d4fae'

/** A message whose content comes with the request. */
async function ask(w: World, more: object = {}) {
  const reply = await w.post(MESSAGES, {
    subscription_id: await subscriptionTo(w),
    content: {
      from: 'App <app@example.com>',
      subject: 'Code {{ event.data.code }}',
      html: '<p>{{ event.data.link }} {{ event.data.code }}</p>',
    },
    user: { external_id: 'ana', email: 'ana@example.com' },
    data: { link: SECRET, code: '493021' },
    ...more,
  })
  expect(reply.status, reply.text).toBe(202)
  return reply.body as { id: number }
}

/** A process without the encryption key of redacted values, whose errors are logged here. */
const withoutKey = ({ ctx }: World, logged: string[]): ProjectCtx => ({
  ...ctx,
  log: { ...ctx.log, error: (_: object, text: string) => void logged.push(text) } as ProjectCtx['log'],
  secrets: {
    ...ctx.secrets,
    open(sealed, context) {
      if (context === 'message request') throw new MissingKey('The encryption key `old` is not in SECRETS_KEY.')
      return ctx.secrets.open(sealed, context)
    },
  },
})

const read = async (w: World, { id }: { id: number }, key = w.keys.support) => (await w.get(`${MESSAGES}/${id}`, { key })).body

describe('GET /messages/{id}', () => {
  test('tells every state with its time and reason', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const message = await ask(w)
    const asked = w.clock.now().toISOString()
    expect(await read(w, message)).toMatchObject({ state: 'queued', content: null, timeline: [{ what: 'queued', at: asked }] })
    relay.answer({ at: 'RCPT', code: 451, text: '4.7.1 Greylisted' })
    await w.drain()
    w.advance('31 seconds')
    await w.drain()
    const whole = await read(w, message)
    expect(whole).toMatchObject({
      state: 'sent',
      reason: null,
      attempts: 2,
      recipient: 'ana@example.com',
      provider: 'smtp',
      user: { external_id: 'ana' },
      content: { subject: 'Code 493021' },
    })
    expect(whole.timeline).toEqual([
      { at: asked, what: 'queued', reason: null, detail: null },
      { at: asked, what: 'deferred', reason: 'provider_deferred', detail: expect.stringContaining('Greylisted') },
      { at: w.clock.now().toISOString(), what: 'sent', reason: null, detail: null },
    ])
    expect(recipientsOf(relay)).toEqual(['ana@example.com'])
  })

  test('is found by every message_id: of a trigger, of recipients and of the sandbox', async () => {
    await using w = await world()
    const blast = await blastTo(w, [await listOf(w, 'ana')])
    await schedule(w, blast)
    await w.drain()
    const [{ id }] = (await w.get(`${CAMPAIGNS}/${blast.id}/recipients`)).body.results
    const stored = (await w.get('/api/client/sandbox/messages')).body.results
    expect(stored).toMatchObject([{ id }])
    expect(await read(w, { id })).toMatchObject({
      campaign_id: blast.id,
      state: 'delivered',
      content: { subject: 'Hi', html: expect.any(String) },
    })
    expect((await w.get(`${MESSAGES}/999999`)).status).toBe(404)
    expect((await w.get(`${MESSAGES}/${id}`, { key: (await w.other()).keys.secret })).status).toBe(404)
  })

  test.each<[string, object, object, object]>([
    ['text', { kind: 'discard', channel: 'text' }, { body: 'Code {{ event.data.code }}' }, { to: '+61491570156', body: 'Code 493021' }],
    [
      'push',
      { kind: 'discard', channel: 'push' },
      { title: 'Code', body: '{{ event.data.code }}', url: 'https://example.com/{{ event.data.code }}' },
      { title: 'Code', body: '493021', url: 'https://example.com/493021' },
    ],
    [
      'webhook',
      { kind: 'discard', channel: 'webhook' },
      { endpoint: 'https://example.com/hook', body: '{"code": "{{ event.data.code }}"}' },
      { endpoint: 'https://example.com/hook', body: '{"code": "493021"}' },
    ],
  ])('has the content of a sent %s message, also after its user changed', async (channel, provider, content, expected) => {
    await using w = await world()
    await providerOf(w, { settings: {}, ...provider } as { kind: string; channel: string; settings: object })
    const user = { external_id: 'ana', phone: '+61491570156' }
    expect((await w.post('/api/client/users/batch', [user])).body).toMatchObject({ failed: 0 })
    const device = { device_id: 'phone', token: 'token-1', os: 'android', external_id: 'ana' }
    if (channel === 'push') expect((await w.post('/api/client/devices', device)).status).toBeLessThan(300)
    const subscription_id = await subscriptionTo(w, channel)
    const message = await ask(w, { subscription_id, content, user })
    const redacted = await ask(w, { subscription_id, content, user, redact: ['data.code'] })
    const waiting = await ask(w, { subscription_id, content, user, send_at: '2026-12-24' })
    await w.drain()
    await w.post('/api/client/users/batch', [{ external_id: 'ana', phone: null }])
    expect(await read(w, message)).toMatchObject({ state: 'sent', content: expected })
    expect(JSON.stringify((await read(w, redacted)).content)).toContain('[redacted]')
    expect(JSON.stringify((await read(w, redacted)).content)).not.toContain('493021')
    expect(await read(w, waiting)).toMatchObject({ state: 'queued', content: null })
  })

  test('has the content of an in-app message after it left the inbox', async () => {
    await using w = await world()
    const subscription_id = await subscriptionTo(w, 'in_app')
    const content = { title: 'Code', body: '{{ event.data.code }}', expires_at: '{{ event.data.until }}' }
    const until = new Date(w.clock.now().getTime() + 3_600_000).toISOString()
    const message = await ask(w, { subscription_id, content, data: { code: '493021', until } })
    await w.drain()
    const whole = { title: 'Code', body: '493021' }
    expect(await read(w, message)).toMatchObject({ content: whole })
    w.advance('40 days')
    await w.drain()
    expect(await w.db.value(Count, sql`select count(*) as count from inbox_messages where project_id = ${w.projectId}`)).toBe(0)
    expect(await read(w, message)).toMatchObject({ content: whole })
  })

  test('has no content of a message that was never attempted', async () => {
    await using w = await world()
    const subscription_id = await subscriptionTo(w, 'text')
    const message = await ask(w, { subscription_id, content: { body: 'Hi' }, user: { external_id: 'bo' } })
    expect(await read(w, message)).toMatchObject({ state: 'skipped', reason: 'no_address', content: null })
    const campaign = await answerOrders(w, 'text')
    const template = `${CAMPAIGNS}/${campaign.id}/templates/en`
    await w.put(template, { body: 'Code {{ event.data.code }}', required: ['event.data.code'] })
    const user = { external_id: 'cy', phone: '+61491570156' }
    const { body: failed } = await w.post(MESSAGES, { campaign_id: campaign.id, user })
    await w.drain()
    await w.put(template, { body: 'Thanks' })
    expect(await read(w, failed)).toMatchObject({ state: 'failed', reason: 'render_failed', content: null })
  })

  test('shows nothing personal of an erased user', async () => {
    await using w = await world()
    const content = { from: 'app@example.com', subject: 'Erased {{ event.data.link }}', html: '<p>Hi</p>' }
    const message = await ask(w, { content, data: { link: 'https://app.example.com/r/erased' } })
    await w.drain()
    expect(await tablesWith(w, 'Erased {{')).toEqual(['message_contents'])
    await w.delete('/api/client/users/ana')
    await w.drain()
    expect(await read(w, message)).toMatchObject({ recipient: null, content: null, user: { external_id: null } })
    expect(await tablesWith(w, 'https://app.example.com/r/erased')).toEqual([])
    expect(await tablesWith(w, 'Erased {{')).toEqual([])
  })
})

describe('GET /messages', () => {
  test('filters by user, campaign, state, reason, channel and time, newest first', async () => {
    await using w = await world()
    const blast = await blastTo(w, [await listOf(w, 'ana', 'bo')])
    await schedule(w, blast)
    await w.drain()
    w.advance('1 hour')
    const since = w.clock.now().toISOString()
    const skipped = await ask(w, { user: { external_id: 'cy' } })
    const sent = await ask(w)
    await w.drain()
    const find = async (query: string) => {
      const reply = await w.get(`${MESSAGES}?${query}`)
      expect(reply.status, reply.text).toBe(200)
      return reply.body.results.map(({ user }: any) => user.external_id)
    }
    expect(await find('')).toEqual(['ana', 'cy', 'bo', 'ana'])
    expect(await find('user=ana')).toEqual(['ana', 'ana'])
    expect(await find('user=unknown')).toEqual([])
    expect(await find(`campaign_id=${blast.id}&state=delivered`)).toEqual(['bo', 'ana'])
    expect(await find('reason=no_address')).toEqual(['cy'])
    expect(await find('state=skipped')).toEqual(['cy'])
    expect(await find('channel=text')).toEqual([])
    expect(await find('journey_id=7')).toEqual([])
    expect(await find(`since=${since}`)).toEqual(['ana', 'cy'])
    expect(await find(`until=${since}&user=ana`)).toEqual(['ana'])
    const page = (await w.get(`${MESSAGES}?limit=3`)).body
    expect((await w.get(`${MESSAGES}?limit=3&cursor=${page.nextCursor}`)).body.results).toHaveLength(1)
    expect((await w.get(MESSAGES)).body.results.map(({ id }: any) => id).slice(0, 2)).toEqual([sent.id, skipped.id])
  })

  test('has the messages of users who were merged into the user', async () => {
    await using w = await world()
    await blastBeforeMerge(w)
    const { body } = await w.get(`${MESSAGES}?user=ana`)
    expect(body.results.map(({ user, state }: any) => [user.external_id, state])).toEqual([
      ['ana', 'skipped'],
      ['ana', 'delivered'],
    ])
    const { body: user } = await w.get('/api/client/users/ana')
    expect(await read(w, body.results[1])).toMatchObject({ user: { id: user.id, external_id: 'ana' } })
  })

  test.each(['campaign_id=x', 'state=gone', 'since=yesterday', 'channel=fax'])('refuses %s', async (query) => {
    await using w = await world()
    expect((await w.get(`${MESSAGES}?${query}`)).status).toBe(400)
  })
})

const TableRow = Type.Object({ name: Type.String() })
const Found = Type.Object({ found: Type.Boolean() })

/** The tables of the database in which a text is stored. */
async function tablesWith(w: World, text: string): Promise<string[]> {
  const tables = await w.db.many(
    TableRow,
    sql`select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const found = []
  for (const { name } of tables) {
    const row = await w.db.one(Found, sql`select exists (select from ${raw(name)} t where position(${text} in t::text) > 0) as found`)
    if (row.found) found.push(name)
  }
  return found
}

describe('redacted values', () => {
  const link = (name: string) => `https://app.example.com/${name}/f81d4fae`

  test('reach the recipient, and are stored and shown nowhere, before and after', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.patch(`/api/client/projects/${w.projectId}`, { link_wrap_email: true }, { key: w.keys.organisation })
    const secret = link('relay')
    const asked = { redact: ['data.link', 'data.code'], data: { link: secret, code: 'Zq41-77' }, key: 'once' }
    const message = await ask(w, asked)
    expect(await tablesWith(w, secret)).toEqual([])
    await w.drain()
    const mail = relay.mails[0]?.raw.replaceAll('=\r\n', '') ?? ''
    expect(mail).toContain(`<p>${secret} Zq41-77</p>`)
    expect(mail).toContain('Subject: Code Zq41-77')
    expect([...(await tablesWith(w, secret)), ...(await tablesWith(w, 'Zq41-77'))]).toEqual([])
    expect(await read(w, message)).toMatchObject({ content: { subject: 'Code [redacted]' } })
    expect(await ask(w, asked)).toMatchObject({ id: message.id, duplicate: true })
    await w.drain()
    expect(relay.mails).toHaveLength(1)
  })

  test('whose key is missing keep their messages waiting, which say what to do, are logged once and use up no rate', async () => {
    await using relay = await openRelay()
    await using w = await world()
    const provider = await sendOver(w, relay)
    await w.patch(`/api/client/providers/${provider}`, { rate: { limit: 2, interval_seconds: 86_400 } })
    const waiting = [await ask(w, { redact: ['data.code'] }), await ask(w, { redact: ['data.code'] })]
    const logged: string[] = []
    await run({ ...w, ctx: withoutKey(w, logged) }, SEND_JOBS[TRANSACTIONAL].name)
    for (const message of waiting) {
      const { state, timeline } = await read(w, message)
      expect([state, timeline.at(-1).detail]).toEqual(['deferred', expect.stringContaining('Add the key again')])
    }
    expect(logged).toEqual(['messages wait, because their redacted values cannot be decrypted'])
    for (const external_id of ['bo', 'cy']) await ask(w, { user: { external_id, email: `${external_id}@example.com` } })
    await w.drain()
    expect(recipientsOf(relay)).toEqual(['bo@example.com', 'cy@example.com'])
  })

  const EVENTS = ['delivery.attempt-start', 'delivery.attempt-end', 'delivery.delivered', 'delivery.completed']

  test.each<[string, (url: string) => [address: string, shown: string]]>([
    ['address', (url) => [`${url}/{{ event.data.code }}`, `${url}/[redacted]`]],
    ['whole address', () => ['{{ event.data.link }}', '[redacted]']],
  ])('are not in the recipient of a webhook message, whose %s has them', async (_, addressOf) => {
    await using w = await world()
    const [endpoint, events] = [await w.receiver(), await w.receiver()]
    await w.post('/api/client/webhooks', { name: 'All', url: events.url, event_types: EVENTS })
    await providerOf(w, { kind: 'http', channel: 'webhook', settings: {} })
    const code = 'Zq41-77'
    const [address, shown] = addressOf(endpoint.url)
    const message = await ask(w, {
      subscription_id: await subscriptionTo(w, 'webhook'),
      content: { endpoint: address, body: '{}' },
      redact: ['data.link', 'data.code'],
      data: { link: `${endpoint.url}/${code}`, code },
    })
    await w.drain()
    expect(endpoint.requests).toMatchObject([{ path: `/hook/${code}` }])
    expect(await read(w, message)).toMatchObject({ state: 'delivered', recipient: shown })
    expect(events.requests.map(({ json }) => json)).toMatchObject(Array(EVENTS.length).fill({ data: { to: shown } }))
    expect(await tablesWith(w, code)).toEqual([])
  })

  test('are not in the sender that webhook events name', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const events = await w.receiver()
    await w.post('/api/client/webhooks', { name: 'All', url: events.url, event_types: ['delivery.delivered'] })
    const content = { from: '{{ event.data.code }} <app@example.com>', subject: 'Hi', html: '<p>Hi</p>' }
    await ask(w, { content, redact: ['data.code'], data: { code: 'Zq41-77' } })
    await w.drain()
    expect(relay.mails[0]?.raw).toContain('Zq41-77')
    expect(events.requests).toHaveLength(1)
    expect(JSON.stringify(events.requests[0]?.json)).not.toContain('Zq41-77')
    expect(await tablesWith(w, 'Zq41-77')).toEqual([])
  })

  test('are not in the sandbox, which shows what else was sent', async () => {
    await using w = await world()
    const message = await ask(w, { redact: ['data.link'], data: { link: link('sandbox'), code: '493021' } })
    await w.drain()
    const shown = await w.get(`/api/client/sandbox/messages/${message.id}`)
    expect(shown.body.content).toMatchObject({ subject: 'Code 493021', html: expect.stringContaining('[redacted]') })
    expect(await tablesWith(w, link('sandbox'))).toEqual([])
  })

  test('are not in a tracked link', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const patched = await w.patch(`/api/client/projects/${w.projectId}`, { link_wrap_email: true }, { key: w.keys.organisation })
    expect(patched.status, patched.text).toBe(200)
    const content = { from: 'app@example.com', subject: 'Reset', html: '<a href="{{ event.data.link }}">Reset</a>' }
    await ask(w, { content, redact: ['data.link'], data: { link: link('tracked') } })
    await ask(w, { content, data: { link: 'https://app.example.com/open' } })
    await w.drain()
    const links = relay.mails.map(({ raw }) => /href="([^"]+)"/.exec(raw.replaceAll('=\r\n', '').replaceAll('=3D', '='))?.[1]).sort()
    expect(links).toEqual([expect.stringMatching(/^http:\/\/carillon.test\/c\//), link('tracked')])
  })

  const Sealed = Type.Object({ sealed: Type.Integer() })
  const sealedIn = async (w: World): Promise<number> =>
    (await w.db.one(Sealed, sql`select count(sealed) as sealed from message_requests where project_id = ${w.projectId}`)).sealed

  test('are forgotten at once if the message is skipped', async () => {
    await using w = await world()
    await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com', reason: 'complaint' }])
    const message = await ask(w, { redact: ['data.link'] })
    expect(message).toMatchObject({ state: 'skipped', reason: 'suppressed' })
    expect(await sealedIn(w)).toBe(0)
  })

  test('are forgotten when the message ends, also by a stop of its campaign', async () => {
    await using w = await world()
    const message = await ask(w, { redact: ['data.link'], send_at: '2026-12-24' })
    expect(await sealedIn(w)).toBe(1)
    const { campaign_id } = await read(w, message)
    await w.patch(`${CAMPAIGNS}/${campaign_id}`, { state: 'aborted' })
    await w.drain()
    expect(await read(w, message)).toMatchObject({ state: 'aborted', reason: 'campaign_stopped' })
    expect(await sealedIn(w)).toBe(0)
  })
})
