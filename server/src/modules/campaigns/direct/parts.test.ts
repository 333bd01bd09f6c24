/** Headers, attachments and parameters of links (D-MSG-7), observed at a relay and in the sandbox. */
import { describe, expect, test } from 'vitest'
import { CAMPAIGNS, subscriptionTo, write } from '../../../../test/blasts.ts'
import { providerOf, sendOver } from '../../../../test/mailing.ts'
import { openRelay } from '../../../../test/relay.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { Count } from '../../../lib/shapes.ts'

const MESSAGES = '/api/client/messages'
const PDF = { name: 'Rechnung März.pdf', content_type: 'application/pdf', content: Buffer.from('%PDF-1.7 invoice').toString('base64') }
const LOGO = { name: 'logo.png', content_type: 'image/png', content: Buffer.from('PNG logo').toString('base64'), content_id: 'logo' }

const messageOf = async (w: World, more: object = {}) => ({
  subscription_id: await subscriptionTo(w),
  content: { from: 'App <app@example.com>', subject: 'Invoice', html: '<img src="cid:logo"><a href="https://example.com/a?b=1#c">Pay</a>' },
  user: { external_id: 'ana', email: 'ana@example.com' },
  ...more,
})

const stored = (w: World) => w.db.value(Count, sql`select count(*) as count from message_attachments where project_id = ${w.projectId}`)

describe('attachments', () => {
  test('reach the recipient, inline images in the HTML, and are deleted then', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const reply = await w.post(MESSAGES, await messageOf(w, { attachments: [PDF, LOGO] }))
    expect(reply.status, reply.text).toBe(202)
    expect(await stored(w)).toBe(2)
    relay.answer({ at: 'RCPT', code: 451, text: '4.7.1 Later' })
    await w.drain()
    expect(await stored(w)).toBe(2)
    w.advance('1 minute')
    await w.drain()
    const raw = relay.mails[0]?.raw ?? ''
    expect(relay.mails).toHaveLength(1)
    expect(raw).toContain(PDF.content)
    expect(raw).toContain("filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf")
    expect(raw).toMatch(/Content-ID: <logo>\r\nContent-Disposition: inline/)
    expect(raw).toContain(LOGO.content)
    expect(await stored(w)).toBe(0)
  })

  test('are kept with a message in the sandbox, whose source has them, until it is deleted', async () => {
    await using w = await world()
    const { body } = await w.post(MESSAGES, await messageOf(w, { attachments: [PDF], headers: { 'X-Order': '7' } }))
    await w.drain()
    const kept = (await w.get(`/api/client/sandbox/messages/${body.id}`)).body
    expect(kept.headers).toMatchObject({ 'X-Order': '7', 'List-Unsubscribe': expect.stringContaining('http') })
    expect(kept.source).toContain(PDF.content)
    expect(kept.source).toMatch(/^Message-ID: <[\w-]{22}@example\.com>\r\n/)
    await w.delete('/api/client/sandbox/messages')
    expect(await stored(w)).toBe(0)
  })

  test('are deleted with their user, and not stored for a message that is skipped', async () => {
    await using w = await world()
    await w.post(MESSAGES, await messageOf(w, { attachments: [PDF], send_at: '2026-12-24' }))
    await w.post(MESSAGES, await messageOf(w, { attachments: [PDF], user: { external_id: 'bo' } }))
    const cy = { external_id: 'cy', email: 'cy@example.com' }
    await w.post(MESSAGES, await messageOf(w, { attachments: [PDF], send_at: '2026-12-24', user: cy }))
    expect(await stored(w)).toBe(2)
    await w.delete('/api/client/users/ana')
    await w.drain()
    expect(await stored(w)).toBe(1)
  })

  test('may have 10 MB together', async () => {
    await using w = await world()
    const file = (bytes: number) => ({ ...PDF, content: Buffer.alloc(bytes).toString('base64') })
    const half = 5 * 1024 * 1024
    expect((await w.post(MESSAGES, await messageOf(w, { attachments: [file(half), file(half)] }))).status).toBe(202)
    const larger = await w.post(MESSAGES, await messageOf(w, { attachments: [file(half), file(half + 1)] }))
    expect([larger.status, larger.body.error.param]).toEqual([422, 'attachments'])
    expect((await w.post(MESSAGES, await messageOf(w, { attachments: [file(3 * half)] }))).status).toBe(413)
  })

  test('may not be more than the provider accepts, with the files of the template', async () => {
    await using w = await world()
    const settings = { server_token: 'token', default_from: 'App <app@example.com>' }
    const provider = await providerOf(w, { kind: 'postmark', channel: 'email', settings })
    const file = (bytes: number) => ({ ...PDF, content: Buffer.alloc(bytes).toString('base64') })
    const refused = async (reply: Promise<{ status: number; body: { error?: { param: string; message: string } } }>) => {
      const { status, body } = await reply
      expect([status, body.error?.message]).toEqual([422, expect.stringMatching(/and Postmark accepts at most 10 MB\./)])
      return body.error?.param
    }
    expect(await refused(w.post(MESSAGES, await messageOf(w, { attachments: [file(7_500_000)] })))).toBe('attachments')
    const subscription_id = await subscriptionTo(w)
    const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Invoice', subscription_id, provider_id: provider })
    await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, { subject: 'Invoice', html: '<p>Invoice</p>' })
    const put = (bytes: number) => {
      const { name: _, ...rest } = file(bytes)
      return w.put(`${CAMPAIGNS}/${made.body.id}/templates/en/attachments/a.pdf`, rest)
    }
    expect(await refused(put(7_500_000))).toBe('content')
    expect((await put(4_000_000)).status).toBe(200)
    await write(w, made.body, { state: 'running' })
    const { user } = await messageOf(w)
    expect(await refused(w.post(MESSAGES, { campaign: 'invoice', user, attachments: [file(3_500_000)] }))).toBe('attachments')
    expect((await w.post(MESSAGES, { campaign: 'invoice', user, attachments: [file(3_000_000)] })).status).toBe(202)
    // Another template has no files. Which one the user gets shows when the email is rendered.
    expect((await w.put(`${CAMPAIGNS}/${made.body.id}/templates/de`, { subject: 'Rechnung', html: '<p>Rechnung</p>' })).status).toBe(200)
    expect((await w.post(MESSAGES, { campaign: 'invoice', user, attachments: [file(3_500_000)] })).status).toBe(202)
  })

  test('that became more than the provider accepts are not sent', async () => {
    await using w = await world()
    const file = { ...PDF, content: Buffer.alloc(7_500_000).toString('base64') }
    const sent = await w.post(MESSAGES, await messageOf(w, { attachments: [file], send_at: '2026-11-24T09:00:00Z' }))
    expect(sent.status, sent.text).toBe(202)
    await providerOf(w, { kind: 'postmark', channel: 'email', settings: { server_token: 'token' } })
    w.advance('2 days')
    await w.drain()
    expect((await w.get(`${MESSAGES}/${sent.body.id}`)).body).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('Postmark accepts at most 10 MB'),
    })
  })

  test.each<[string, object, string]>([
    ['base64url', { content: '__--' }, 'attachments[0].content'],
    ['a media type with a line break', { content_type: 'text/plain\r\nX: y' }, 'attachments[0].content_type'],
    ['a content id with a space', { content_id: 'a b' }, 'attachments[0].content_id'],
    ['a name with a line break', { name: 'a\r\nb' }, 'attachments[0].name'],
  ])('refuses %s', async (_, change, param) => {
    await using w = await world()
    const reply = await w.post(MESSAGES, await messageOf(w, { attachments: [{ ...PDF, ...change }] }))
    expect([reply.status, reply.body.error?.param], reply.text).toEqual([400, param])
  })
})

describe('headers', () => {
  test('reach the recipient', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const headers = { 'X-Order': '7', 'In-Reply-To': '<1@example.com>', 'auto-submitted': 'auto-replied' }
    expect((await w.post(MESSAGES, await messageOf(w, { headers }))).status).toBe(202)
    await w.drain()
    expect(relay.mails[0]?.headers).toMatchObject({ 'x-order': '7', 'in-reply-to': '<1@example.com>', 'auto-submitted': 'auto-replied' })
  })

  test('replace those of Carillon, in any case', async () => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    const headers = { 'feedback-id': 'own', 'LIST-ID': '<own.example.com>' }
    expect((await w.post(MESSAGES, await messageOf(w, { headers }))).status).toBe(202)
    await w.drain()
    const { raw = '', headers: received } = relay.mails[0] ?? {}
    expect(received).toMatchObject({ 'feedback-id': 'own', 'list-id': '<own.example.com>' })
    expect(raw.match(/^(?:feedback-id|list-id):/gim)).toHaveLength(2)
  })

  test('can be named once', async () => {
    await using w = await world()
    const reply = await w.post(MESSAGES, await messageOf(w, { headers: { 'X-A': '1', 'x-b': '2', 'x-a': '3' } }))
    expect([reply.status, reply.body.error?.param]).toEqual([422, 'headers.x-a'])
  })

  test('cannot be set by all names, and the message says which', async () => {
    await using w = await world()
    const OF_PROVIDER = 'This header tells an email provider how to send'
    for (const [name, message] of [
      ...['From', 'Bcc', 'List-Unsubscribe', 'X-Ö', 'Content-Type', 'X-A_B', `X-${'a'.repeat(61)}`].map((name) => [
        name,
        'letters, digits and hyphens',
      ]),
      ...['X-SMTPAPI', 'x-ses-configuration-set', 'X-PM-Tag', 'X-MJ-CustomID', 'X-Mailin-custom', 'X-Sib-Sandbox'].map((name) => [
        name,
        OF_PROVIDER,
      ]),
    ] as [string, string][]) {
      const reply = await w.post(MESSAGES, await messageOf(w, { headers: { [name]: 'x' } }))
      expect([reply.status, reply.body.error?.param], name).toEqual([422, `headers.${name}`])
      expect(reply.body.error.message, name).toContain(message)
    }
  })

  test('are refused if the provider would refuse them', async () => {
    await using w = await world()
    const over = async (headers: Record<string, string>) => {
      const { status, body } = await w.post(MESSAGES, await messageOf(w, { headers }))
      return [status, body.error?.param, body.error?.message]
    }
    const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-${at}`, 'a']))
    expect(await over({ ...named(19), 'X-Long': 'ä'.repeat(998) })).toEqual([202, undefined, undefined])
    const settings = {
      region: 'eu-central-1',
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      secret_access_key: 'secret',
      default_from: 'app@example.com',
    }
    await providerOf(w, { kind: 'ses', channel: 'email', settings })
    expect(await over({ ...named(10), 'X-Long': 'a'.repeat(870) })).toEqual([202, undefined, undefined])
    expect(await over({ References: '<1234567890@example.com> '.repeat(39) })).toEqual([202, undefined, undefined])
    expect(await over(named(12))).toEqual([422, 'headers', expect.stringContaining('Amazon SES accepts at most 11')])
    expect(await over({ 'X-Long': 'a'.repeat(871) })).toEqual([
      422,
      'headers.X-Long',
      expect.stringContaining('Amazon SES accepts at most 870'),
    ])
    expect(await over({ 'X-Long': 'ä'.repeat(300) })).toEqual([422, 'headers.X-Long', expect.any(String)])
  })

  test('have one line, and are for emails', async () => {
    await using w = await world()
    expect((await w.post(MESSAGES, await messageOf(w, { headers: { 'X-A': 'a\r\nBcc: b@example.com' } }))).status).toBe(400)
    const text = { subscription_id: await subscriptionTo(w, 'text'), content: { body: 'Hi' }, headers: { 'X-A': 'a' } }
    const reply = await w.post(MESSAGES, { ...(await messageOf(w)), ...text })
    expect([reply.status, reply.body.error?.param]).toEqual([422, 'headers'])
  })
})

describe('utm of a campaign', () => {
  test.each([false, true])('is in the links of its messages, tracked: %s', async (tracked) => {
    await using relay = await openRelay()
    await using w = await world()
    await sendOver(w, relay)
    await w.patch(`/api/client/projects/${w.projectId}`, { link_wrap_email: tracked }, { key: w.keys.organisation })
    const utm = { source: 'app', medium: 'email', campaign: 'invoice' }
    const made = await w.post(CAMPAIGNS, { type: 'trigger', name: 'Invoice', subscription_id: await subscriptionTo(w), utm })
    expect(made.body.utm, made.text).toEqual(utm)
    const { content, user } = await messageOf(w)
    const html = `${content.html}<a href="{{ unsubscribe_url }}">Leave</a><a href="mailto:help@example.com">Help</a>`
    await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, { ...content, html })
    await write(w, made.body, { state: 'running' })
    await w.post(MESSAGES, { campaign: 'invoice', user })
    await w.drain()
    const raw = relay.mails[0]?.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? ''
    const address = 'https://example.com/a?b=1&utm_source=app&utm_medium=email&utm_campaign=invoice#c'
    const shown = raw.replaceAll('&amp;', '&')
    expect(shown).toContain(tracked ? `?u=${encodeURIComponent(address)}` : `href="${address}"`)
    expect(shown).toContain('mailto:help@example.com"')
    expect(shown).not.toMatch(/\/s\/u\/[^"]*utm_/)
  })
})
