import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { linksOf, suppress, suppressedAmong } from '../index.ts'

const TYPES = '/api/client/subscriptions'
const THEME = '/api/client/page-theme'
const of = (user: string) => `/api/client/users/${user}/subscriptions`

const idOf = async (w: World, name: string): Promise<UserId> => (await w.get(`/api/client/users/${name}`)).body.id
const typesOf = async (w: World) => (await w.get(`${TYPES}?limit=100`)).body.results as { id: SubscriptionId; channel: string }[]
const statesOf = async (w: World, user: string) =>
  (await w.get(`${of(user)}?limit=100`)).body.results.map(({ state }: { state: number }) => state)
const lastEntry = async (w: World, user: string) => (await w.get(`/api/client/users/${user}/consents`)).body.results[0]
const eventsOf = async (w: World, user: string) =>
  (await w.get(`/api/client/users/${user}/events`)).body.results.map(({ name }: { name: string }) => name)

/** The pages of a message to a user, for the type at an index; the first is the default one for email. */
async function pagesFor(w: World, user: string, at = 0, messageId = 77) {
  const subscriptionId = (await typesOf(w))[at]?.id as SubscriptionId
  const about = { projectId: w.projectId, userId: await idOf(w, user), subscriptionId, messageId: messageId as MessageId }
  const links = linksOf(w.ctx, about)
  const path = (url: string) => url.slice('http://carillon.test'.length)
  return { unsubscribe: path(links.unsubscribe_url), preferences: path(links.preferences_url), subscriptionId }
}

/** Gives a user an address of each kind and a device, so that messages of every channel but webhooks reach them. */
async function withEverything(w: World, user: string, profile: object = {}) {
  await w.post('/api/client/users/batch', [{ external_id: user, email: `${user}@example.com`, phone: '+61412345678', ...profile }])
  await w.post('/api/client/devices', { external_id: user, device_id: `${user}-phone`, token: `${user}-token` })
}

const open = (w: World, path: string, headers: Record<string, string> = {}) => w.get(path, { key: null, headers })
const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' }

describe('the unsubscribe page', () => {
  test('explains unsubscribing and changes nothing', async () => {
    await using w = await world()
    await w.users('kim')
    const { unsubscribe } = await pagesFor(w, 'kim')
    for (let n = 0; n < 2; n++) {
      const page = await open(w, unsubscribe)
      expect(page.status).toBe(200)
      expect(page.text).toContain('Unsubscribe from “Default Email”?')
      expect(page.text).toContain('<form method="post">')
    }
    expect((await w.request('HEAD', unsubscribe, undefined, { key: null })).status).toBe(200)
    expect(await statesOf(w, 'kim')).toEqual([1, 1, 1, 1, 1])
    expect((await w.get('/api/client/users/kim/consents')).body.results).toEqual([])
  })

  test('unsubscribes from the type of the message by its button, however often it is pressed', async () => {
    await using w = await world()
    await w.users('kim', 'lee')
    const { unsubscribe, subscriptionId } = await pagesFor(w, 'kim')
    for (let n = 0; n < 2; n++) {
      const page = await w.form(unsubscribe, { unsubscribe: 'yes' }, { key: null, headers: { 'user-agent': 'Ana’s phone' } })
      expect(page.status).toBe(200)
      expect(page.text).toContain('You are unsubscribed')
    }
    expect(await statesOf(w, 'kim')).toEqual([0, 1, 1, 1, 1])
    expect(await statesOf(w, 'lee')).toEqual([1, 1, 1, 1, 1])
    expect((await open(w, unsubscribe)).text).toContain('You are unsubscribed')
    const { results } = (await w.get('/api/client/users/kim/consents')).body
    expect(results).toEqual([
      {
        id: expect.any(Number),
        subscription_id: subscriptionId,
        state: 0,
        previous_state: null,
        source: 'unsubscribe_page',
        wording: expect.stringMatching(/^unsubscribe_page\/en@[0-9a-f]{8}$/),
        proof: { ip: '127.0.0.1', user_agent: expect.any(String), request_id: expect.stringMatching(/^req_/), message_id: 77 },
        at: w.clock.now().toISOString(),
      },
    ])
    await w.drain()
    expect((await eventsOf(w, 'kim')).filter((name: string) => name === 'unsubscribed')).toHaveLength(1)
  })

  test.each([
    ['URL-encoded form', 'application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
    ['URL-encoded form with a line break', 'application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click\r\n'],
    [
      'multipart form',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
    ],
  ])('accepts the one-click request of mail programs as a %s', async (_, type, raw) => {
    await using w = await world()
    await w.users('kim')
    const { unsubscribe } = await pagesFor(w, 'kim')
    const reply = await w.post(unsubscribe, undefined, { key: null, raw, headers: { 'content-type': type } })
    expect(reply).toMatchObject({ status: 200, text: 'Unsubscribed.\n' })
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(reply.headers['set-cookie']).toBeUndefined()
    expect(await statesOf(w, 'kim')).toEqual([0, 1, 1, 1, 1])
    expect(await lastEntry(w, 'kim')).toMatchObject({ source: 'one_click', wording: null })
  })

  test('of a transactional type explains why it cannot be stopped', async () => {
    await using w = await world()
    await w.users('kim')
    const { id } = (await w.post(TYPES, { name: 'Receipts', channel: 'email', is_transactional: true })).body
    const at = (await typesOf(w)).findIndex((type) => type.id === id)
    const { unsubscribe } = await pagesFor(w, 'kim', at)
    for (const page of [await open(w, unsubscribe), await w.form(unsubscribe, {}, { key: null })]) {
      expect(page.text).toContain('These messages are part of a service that you use')
      expect(page.text).not.toContain('<form')
    }
  })

  test('of a link with a wrong signature is an error page in the language of the browser', async () => {
    await using w = await world()
    await w.users('kim')
    const { unsubscribe, preferences } = await pagesFor(w, 'kim')
    for (const path of [`${unsubscribe}0`, `${preferences}0`, '/s/u/x', '/s/confirm/x']) {
      const page = await open(w, path, { 'accept-language': 'sv, nl;q=0.9' })
      expect(page.status).toBe(404)
      expect(page.text).toContain('Deze link werkt niet')
      expect((await w.form(path, ONE_CLICK, { key: null })).status).toBe(404)
    }
    expect(await statesOf(w, 'kim')).toEqual([1, 1, 1, 1, 1])
  })

  test('unsubscribes the remaining user if its user was merged', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ anonymous_id: 'browser' }, { external_id: 'kim', email: 'kim@example.com' }])
    const { unsubscribe } = await pagesFor(w, 'browser')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'browser' }])
    await w.form(unsubscribe, ONE_CLICK, { key: null })
    expect(await statesOf(w, 'kim')).toEqual([0, 1, 1, 1, 1])
  })

  test('of an erased user says that no more messages will be sent, after any request', async () => {
    await using w = await world()
    await w.users('kim')
    const { unsubscribe, preferences } = await pagesFor(w, 'kim')
    await w.delete('/api/client/users/kim')
    for (const when of ['at once', 'later']) {
      for (const page of [
        await open(w, unsubscribe),
        await open(w, preferences),
        await w.form(unsubscribe, { unsubscribe: 'yes' }, { key: null }),
        await w.form(preferences, { all: 'yes' }, { key: null }),
      ]) {
        expect([when, page.status]).toEqual([when, 200])
        expect(page.text).toContain('You will get no more messages')
      }
      expect(await w.form(unsubscribe, ONE_CLICK, { key: null })).toMatchObject({ status: 200, text: 'Unsubscribed.\n' })
      await w.drain()
    }
  })
})

describe('the preference centre', () => {
  const chosen = (types: { id: number }[], on: number[], shown = types.map(({ id }) => id)) =>
    [...on.map((id) => `on=${id}`), ...shown.map((id) => `shown=${id}`)].join('&')
  const save = (w: World, path: string, fields: string | Record<string, string>) => w.form(path, fields, { key: null })

  test('shows every public type that reaches the user with its state, and transactional types separately', async () => {
    await using w = await world()
    await withEverything(w, 'kim')
    await w.post(TYPES, { name: 'Internal', channel: 'email', is_public: false })
    await w.post(TYPES, { name: 'Receipts', channel: 'email', is_transactional: true, description: 'What you <bought>' })
    await w.post(TYPES, { name: 'Digest', channel: 'email', default_state: 0, description: 'Once a week' })
    const { text, headers } = await open(w, (await pagesFor(w, 'kim')).preferences)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(text.match(/type="checkbox"/g)).toHaveLength(5)
    expect(text.match(/ checked>/g)).toHaveLength(4)
    expect(text).toContain('Once a week')
    expect(text).not.toContain('Internal')
    expect(text).toContain('What you &lt;bought&gt;')
    expect(text).toContain('Always sent')
  })

  test.each([
    [{ email: 'kim@example.com' }, ['Default Email', 'Default In-app', 'Receipts']],
    [{ phone: '+61412345678' }, ['Default SMS', 'Default In-app', 'Codes']],
    [{}, ['Default In-app']],
  ])('shows no type whose messages do not reach a user with %j, and no webhooks', async (profile, expected) => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', ...profile }])
    await w.post(TYPES, { name: 'Receipts', channel: 'email', is_transactional: true })
    await w.post(TYPES, { name: 'Codes', channel: 'text', is_transactional: true })
    await w.post(TYPES, { name: 'Partners', channel: 'webhook' })
    const { text } = await open(w, (await pagesFor(w, 'kim')).preferences)
    expect([...text.matchAll(/<bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name)).toEqual(expected)
    expect(text).not.toMatch(/webhook/i)
  })

  test('leaves the state of a type that it does not show', async () => {
    await using w = await world()
    await w.users('kim')
    const { preferences } = await pagesFor(w, 'kim')
    const shown = [...(await open(w, preferences)).text.matchAll(/name="shown" value="(\d+)"/g)].map(([, id]) => `shown=${id}`)
    await save(w, preferences, shown.join('&'))
    expect(await statesOf(w, 'kim')).toEqual([0, 1, 1, 1, 0])
  })

  test('saves ticked and unticked boxes, and redirects with a notice', async () => {
    await using w = await world()
    await w.users('kim')
    const types = await typesOf(w)
    const [email, text, push] = types.map(({ id }) => id as number) as [number, number, number]
    const { preferences } = await pagesFor(w, 'kim')
    const saved = await save(w, preferences, chosen(types, [email, push], [email, text, push]))
    expect(saved).toMatchObject({ status: 303, headers: { location: '?saved=saved' } })
    expect(await statesOf(w, 'kim')).toEqual([1, 0, 1, 1, 1])
    expect((await open(w, `${preferences}?saved=saved`)).text).toContain('role="status"')
    expect((await open(w, `${preferences}?saved=<b>`)).text).not.toContain('role="status"')
    const { results } = (await w.get('/api/client/users/kim/consents')).body
    expect(results).toHaveLength(1)
    expect(results[0]).toMatchObject({ subscription_id: text, state: 0, source: 'preference_page' })
    await save(w, preferences, chosen(types, [email, text, push], [email, text, push]))
    expect(await statesOf(w, 'kim')).toEqual([1, 1, 1, 1, 1])
    expect(await lastEntry(w, 'kim')).toMatchObject({ state: 1, previous_state: 0, proof: { message_id: 77 } })
  })

  test('unsubscribes from everything and suppresses the addresses, until the user subscribes again', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'Kim@Example.com', phone: '+61412345678' }])
    await w.post(TYPES, { name: 'Internal', channel: 'email', is_public: false })
    const content = { from: 'App <app@example.com>', subject: 'News', html: '<p>News</p>' }
    const [{ id: subscription_id } = {}] = await typesOf(w)
    const sent = (await w.post('/api/client/messages', { subscription_id, content, user: { external_id: 'kim' } })).body
    await w.drain()
    const { preferences } = await pagesFor(w, 'kim', 0, sent.id)
    expect(await save(w, preferences, { all: 'yes' })).toMatchObject({ status: 303, headers: { location: '?saved=saved_all' } })
    expect(await statesOf(w, 'kim')).toEqual([0, 0, 0, 0, 0, 0])
    const reasons = async () => [
      (await suppressedAmong(w.ctx, 'email', ['kim@example.com'])).get('kim@example.com'),
      (await suppressedAmong(w.ctx, 'text', ['+61 412 345 678'])).get('+61 412 345 678'),
    ]
    expect(await reasons()).toEqual(['unsubscribed_all', 'unsubscribed_all'])
    expect((await open(w, `${preferences}?saved=saved_all`)).text).not.toContain('checked')

    // Setting states over the API does not lift a suppression.
    const types = await typesOf(w)
    await w.patch(
      of('kim'),
      types.map(({ id }) => ({ subscription_id: id, state: 1 })),
    )
    expect(await reasons()).toEqual(['unsubscribed_all', 'unsubscribed_all'])
    expect((await open(w, preferences)).text.match(/ checked>/g)).toHaveLength(1)

    await save(w, preferences, chosen(types.slice(0, 5), [types[0]?.id as number]))
    expect(await reasons()).toEqual([undefined, 'unsubscribed_all'])
    // The type that is not on the page is not one that the user chose.
    expect(await statesOf(w, 'kim')).toEqual([1, 0, 0, 0, 0, 0])
  })

  test('lifts only suppressions that came from the user', async () => {
    await using w = await world()
    await w.users('kim')
    const types = await typesOf(w)
    const { preferences } = await pagesFor(w, 'kim')
    await inTx(w.ctx, (ctx) => suppress(ctx, [{ channel: 'email', address: 'kim@example.com', reason: 'complaint', source: {} }]))
    await save(w, preferences, { all: 'yes' })
    await save(
      w,
      preferences,
      chosen(
        types,
        types.map(({ id }) => id),
      ),
    )
    expect(await suppressedAmong(w.ctx, 'email', ['kim@example.com'])).toEqual(new Map([['kim@example.com', 'complaint']]))
  })

  test('keeps a confirmed state when its box is ticked', async () => {
    await using w = await world()
    await w.users('kim')
    const types = await typesOf(w)
    await w.patch(of('kim'), [{ subscription_id: types[0]?.id, state: 2 }])
    const { preferences } = await pagesFor(w, 'kim')
    await save(
      w,
      preferences,
      chosen(
        types,
        types.map(({ id }) => id),
      ),
    )
    expect((await statesOf(w, 'kim'))[0]).toBe(2)
  })
})

describe('every page', () => {
  test('runs no scripts, cannot be framed, sends no referrer and is not indexed', async () => {
    await using w = await world()
    await w.users('kim')
    const { unsubscribe, preferences } = await pagesFor(w, 'kim')
    for (const path of [unsubscribe, preferences, '/s/u/x']) {
      const { headers, text } = await open(w, path)
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src https:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      )
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow', 'cache-control': 'no-store' })
      const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? ''
      expect(headers['content-security-policy']).toContain(createHash('sha256').update(style).digest('base64'))
      expect(text).not.toMatch(/<script|javascript:|\son\w+=|\sstyle=/)
    }
  })

  test.each([
    [{ locale: 'ja-JP' }, 'de', 'ja', 'プッシュ通知'],
    [{ locale: 'pl' }, 'de', 'pl', 'E-mailem'],
    [{ locale: 'zh-CN' }, 'de', 'zh', '推送通知'],
    [{ locale: 'zh-TW' }, 'de', 'zh-Hant', '推播通知'],
    [{ locale: 'pt-BR' }, 'de', 'pt', 'Por e-mail'],
    [{ locale: 'sv-SE' }, 'de', 'en', 'By email'],
    [{}, 'de', 'en', 'By email'],
  ])('is in the language of the user, else of the project: %j', async (profile, accepted, language, expected) => {
    await using w = await world()
    await withEverything(w, 'kim', profile)
    const { text } = await open(w, (await pagesFor(w, 'kim')).preferences, { 'accept-language': accepted })
    expect(text).toContain(`<html lang="${language}">`)
    expect(text).toContain(expected)
  })

  test.each([
    ['ar-EG', 'ar', 'هل تريد إلغاء الاشتراك في «\u2068Bell, Inc.\u2069»؟', 'عبر الرسائل النصية القصيرة'],
    ['fa', 'fa', 'اشتراک «\u2068Bell, Inc.\u2069» لغو شود؟', 'با پیامک'],
    ['iw-IL', 'he', 'לבטל את ההרשמה אל „\u2068Bell, Inc.\u2069”?', 'בהודעת טקסט'],
  ])('runs from right to left in %s, with names in their own direction', async (locale, language, heading, group) => {
    await using w = await world()
    await withEverything(w, 'kim', { locale })
    const { id } = (await w.post(TYPES, { name: 'Bell, Inc.', channel: 'email', description: 'What’s on?' })).body
    const at = (await typesOf(w)).findIndex((type) => type.id === id)
    const { unsubscribe, preferences } = await pagesFor(w, 'kim', at)
    const [asked, choices] = [(await open(w, unsubscribe)).text, (await open(w, preferences)).text]
    for (const text of [asked, choices]) expect(text).toContain(`<html lang="${language}" dir="rtl">`)
    expect(asked).toContain(`<h1>${heading}</h1>`)
    expect(choices).toContain(group)
    expect(choices).toContain('<bdi>Bell, Inc.</bdi><span class="quiet"><bdi>What’s on?</bdi></span>')
    expect(choices).not.toMatch(/(?:padding|margin|text-align|float)[^;:{}]*:? ?(?:left|right)/)
  })

  test('in English isolates a name that runs from right to left', async () => {
    await using w = await world()
    await w.users('kim')
    await w.put(THEME, { brand_name: 'בית הפעמונים' })
    expect((await open(w, (await pagesFor(w, 'kim')).preferences)).text).toContain('that you want from \u2068בית הפעמונים\u2069.')
  })

  test('has the theme of the project', async () => {
    await using w = await world()
    await w.users('kim')
    expect((await w.get(THEME, { key: w.keys.support })).body).toEqual({
      brand_name: null,
      logo_url: null,
      accent_color: null,
      footer_text: null,
    })
    const theme = {
      brand_name: '<Bell> & Co',
      logo_url: 'https://cdn.example.com/a"b.png',
      accent_color: '#FFD400',
      footer_text: 'Bell Pty Ltd\nSydney',
    }
    expect((await w.put(THEME, theme)).body).toEqual(theme)
    const { text } = await open(w, (await pagesFor(w, 'kim')).preferences)
    expect(text).toContain('alt="&lt;Bell&gt; &amp; Co"')
    expect(text).toContain('src="https://cdn.example.com/a&quot;b.png"')
    expect(text).toContain('--accent:#FFD400;--on-accent:#000000')
    expect(text).toContain('Bell Pty Ltd\nSydney')
    expect((await w.put(THEME, { footer_text: '' })).body).toEqual({
      brand_name: null,
      logo_url: null,
      accent_color: null,
      footer_text: null,
    })
    expect((await open(w, (await pagesFor(w, 'kim')).preferences)).text).toContain('<header class="brand">Test</header>')
  })

  test('is drawn with a theme that is not saved, in the language of a locale', async () => {
    await using w = await world()
    const type = await w.post(TYPES, { name: 'Harvest news', channel: 'email', is_public: true })
    const preview = async (body: object) => (await w.post(`${THEME}/preview`, body)).body.html as string
    const html = await preview({ theme: { brand_name: 'Bellbird', accent_color: '#FFD400' }, locale: 'de-AT' })
    expect(html).toContain('<html lang="de"')
    expect(html).toContain('<header class="brand">Bellbird</header>')
    expect(html).toContain('--accent:#FFD400;--on-accent:#000000')
    expect(html).toContain(`value="${type.body.id}"`)
    await w.put(THEME, { brand_name: 'Magpie' })
    expect(await preview({})).toContain('<header class="brand">Magpie</header>')
    expect(await preview({ theme: {} })).toContain('<header class="brand">Test</header>')
  })

  test.each([
    [{ accent_color: 'red' }, 'parameter_invalid_format', 'accent_color'],
    [{ accent_color: '#fff' }, 'parameter_invalid_format', 'accent_color'],
    [{ accent_color: '#123456;}' }, 'parameter_invalid_format', 'accent_color'],
    [{ logo_url: 'http://example.com/a.png' }, 'parameter_invalid_format', 'logo_url'],
    [{ brand_name: ' ' }, 'parameter_invalid_empty', 'brand_name'],
    [{ footer_text: 'x'.repeat(1001) }, 'validation_failed', 'footer_text'],
    [{ colour: '#123456' }, 'parameter_unknown', 'colour'],
  ])('the theme %j is refused', async (body, code, param) => {
    await using w = await world()
    expect((await w.put(THEME, body)).body).toMatchObject({ code, error: { param } })
    expect((await w.put(THEME, {}, { key: w.keys.publisher })).status).toBe(403)
  })
})
