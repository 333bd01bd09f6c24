/** A test send is the mail that would be sent, with marked links. Both are compared at a relay. */
import { expect, test } from 'vitest'
import { blastTo, listOf, pathOf, schedule, subscriptionTo } from '../../../test/blasts.ts'
import { sendOver } from '../../../test/mailing.ts'
import { openRelay, type ReceivedMail } from '../../../test/relay.ts'
import { type World, world } from '../../../test/world.ts'

const HTML = `<p>Hi {{ user.data.name }}</p>
<a href="https://shop.example.com/sale?a=1&amp;b={{ user.external_id }}">Sale</a>
<a href="{{ unsubscribe_url }}">Unsubscribe</a> <a href="{{ preferences_url }}">Preferences</a>`

const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

/** The body of a mail without its transfer encoding, with the parts that differ for every message replaced. */
const normal = ({ raw }: ReceivedMail) =>
  raw
    .slice(raw.indexOf('\r\n\r\n'))
    .replace(/=\r\n/g, '')
    .replace(/=3D/g, '=')
    .replace(/--=_a\w+/g, 'BOUNDARY')
    .replace(/\/s\/([up])\/[\w-]+/g, '/s/$1/TOKEN')
    .replace(/\/c\/[\w-]+/g, '/c/TOKEN')
    .replace(/\/o\/[\w-]+/g, '/o/TOKEN')

const linksIn = ({ raw }: ReceivedMail) => {
  const text = raw.replace(/=\r\n/g, '').replace(/=3D/g, '=').replaceAll('&amp;', '&')
  const pathOf = (pattern: RegExp) => pattern.exec(text)?.[0] ?? ''
  return {
    click: pathOf(/\/c\/[^"]+/),
    open: pathOf(/\/o\/[\w.-]+/),
    unsubscribe: pathOf(/\/s\/u\/[\w-]+/),
    preferences: pathOf(/\/s\/p\/[\w-]+/),
  }
}

async function open(w: World, more: object = {}) {
  const projects = '/api/client/projects'
  const { results } = (await w.get(projects, { key: w.keys.organisation })).body
  const tracking = { link_wrap_email: true, track_opens_email: true }
  expect((await w.patch(`${projects}/${results[0].id}`, tracking, { key: w.keys.organisation })).status).toBe(200)
  const list = await listOf(w, 'ana')
  await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { name: 'Ana' } }])
  const campaign = await blastTo(w, [list], more)
  const content = { from: 'Shop <shop@example.com>', reply_to: 'help@example.com', subject: 'Sale', preheader: 'Now', html: HTML }
  expect((await w.put(`${pathOf(campaign)}/templates/en`, content)).status).toBe(200)
  return campaign
}

const headersOf = ({ headers }: ReceivedMail) => {
  const { date: _, 'message-id': __, 'content-type': ___, subject, ...rest } = headers
  return {
    ...rest,
    subject: (subject as string).replace('[Test] ', ''),
    'list-unsubscribe': rest['list-unsubscribe']?.replace(/u\/[\w-]+/, 'u/TOKEN'),
  }
}

test('a test send is the mail that would be sent: composer, headers, wrapped links and pixel', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  const { body } = await w.post(`${pathOf(campaign)}/test`, { to: ['ana'] })
  expect(body.results).toMatchObject([{ to: 'ana', outcome: 'accepted' }])
  await schedule(w, campaign)
  await w.drain()
  const [tested, sent] = relay.mails as [ReceivedMail, ReceivedMail]
  expect(relay.mails).toHaveLength(2)
  expect(tested.headers.subject).toBe('[Test] Sale')
  expect(normal(tested)).toBe(normal(sent))
  expect(headersOf(tested)).toEqual(headersOf(sent))
  expect(tested.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
  expect(normal(sent)).toContain('/c/TOKEN')
  expect(normal(sent)).toContain('/o/TOKEN')
})

test('links and pixel of a test send lead on and count nothing', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  await w.post(`${pathOf(campaign)}/test`, { to: ['ana'] })
  const { click, open: pixel } = linksIn(relay.mails[0] as ReceivedMail)
  w.advance('1 hour')
  const clicked = await w.get(click, { key: null, headers: FIREFOX })
  expect(clicked).toMatchObject({ status: 302, headers: { location: 'https://shop.example.com/sale?a=1&b=ana' } })
  expect(await w.get(pixel, { key: null, headers: FIREFOX })).toMatchObject({ status: 200 })
  w.advance('1 hour')
  await w.drain()
  expect((await w.get(`${pathOf(campaign)}/links`)).body.results).toEqual([])
  expect((await w.get(pathOf(campaign))).body.delivery).toEqual({ sent: 0, total: 0, opens: 0, clicks: 0, bounced: 0 })
  const names = (await w.get('/api/client/users/ana/events')).body.results.map(({ name }: any) => name)
  expect(names.filter((name: string) => name.startsWith('email_'))).toEqual([])
})

test.each([
  ['a user', { to: ['ana'] }],
  ['an address', { to: ['me@example.com'] }],
  ['an address, as a user', { to: ['me@example.com'], as: 'ana' }],
])('the unsubscribe links of a test send to %s show the pages and change nothing', async (_, input) => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  await w.post(`${pathOf(campaign)}/test`, input)
  const [mail] = relay.mails as [ReceivedMail]
  const { unsubscribe, preferences } = linksIn(mail)
  expect(mail.headers['list-unsubscribe']).toContain(unsubscribe)
  const id = await subscriptionTo(w)
  for (const page of [
    await w.get(unsubscribe, { key: null }),
    await w.form(unsubscribe, { unsubscribe: 'yes' }, { key: null }),
    await w.get(preferences, { key: null }),
  ]) {
    expect(page.status).toBe(200)
    expect(page.text).toContain('This is a test message, so nothing on this page is saved.')
    expect(page.text).toContain('Default Email')
  }
  expect((await w.form(unsubscribe, { 'List-Unsubscribe': 'One-Click' }, { key: null })).text).toContain('Nothing was changed')
  for (const form of [{ all: 'yes' }, { stop: 'yes' }, { shown: String(id) }])
    expect((await w.form(preferences, form, { key: null })).status).toBe(303)
  const states = (await w.get('/api/client/users/ana/subscriptions')).body.results.map(({ state }: any) => state)
  expect(states).toEqual([1, 1, 1, 1, 1])
  expect((await w.get('/api/client/users/ana/consents')).body.results).toEqual([])
  expect((await w.get('/api/client/suppressions')).body.results).toEqual([])
})

test('a test send of a transactional campaign has no `List-Unsubscribe` either', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const { id } = (await w.post('/api/client/subscriptions', { name: 'Receipts', channel: 'email', is_transactional: true })).body
  const campaign = await open(w, { subscription_id: id })
  await w.post(`${pathOf(campaign)}/test`, { to: ['ana'] })
  expect(relay.mails).toHaveLength(1)
  expect(relay.mails[0]?.headers).not.toHaveProperty('list-unsubscribe')
})

test('the view in the browser of a test send explains the link, and that of the message shows it', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  const campaign = await open(w)
  const content = { from: 'shop@example.com', subject: 'Sale', html: '<p>Hi {{ user.data.name }}</p><a href="{{ view_url }}">View</a>' }
  await w.put(`${pathOf(campaign)}/templates/en`, content)
  await w.post(`${pathOf(campaign)}/test`, { to: ['ana'] })
  await schedule(w, campaign)
  await w.drain()
  const [tested, sent] = relay.mails.map(({ raw }) => /\/v\/[\w-]+/.exec(raw.replace(/=\r\n/g, ''))?.[0] ?? '')
  const explained = await w.get(tested as string, { key: null })
  expect([explained.status, explained.text]).toEqual([200, expect.stringContaining('This link comes from a test message.')])
  expect(explained.text).not.toContain('Hi Ana')
  expect(await w.get(sent as string, { key: null })).toMatchObject({ status: 200, text: expect.stringContaining('Hi Ana') })
})
