/** What mail programs read: an email as it arrives at a relay, taken apart by parsers of MIME and HTML. */
import addressparser from 'nodemailer/lib/addressparser'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { expect, test } from 'vitest'
import { CAMPAIGNS, subscriptionTo, write } from '../blasts.ts'
import { order, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { type World, world } from '../world.ts'

type Element = DefaultTreeAdapterTypes.Element

const MJML = `<mjml>
  <mj-head>
    <mj-html-attributes><mj-selector path=".go a"><mj-html-attribute name="data-id">7</mj-html-attribute></mj-selector></mj-html-attributes>
  </mj-head>
  <mj-body><mj-section><mj-column>
    <mj-text>{{ 100 | divided_by: user.data.orders }} &permil; &amp; more</mj-text>
    <mj-button css-class="go" href="{{ user.data.review_url }}">Review</mj-button>
    <mj-text>
      {% if user.data.vip %}<a href="https://shop.example/vip">{% else %}<a href="https://shop.example/all">{% endif %}Shop</a>
      <a href="mailto:help@shop.example?subject=Hi%20there">Help</a> <a href="{{ unsubscribe_url }}">Stop</a>
    </mj-text>
  </mj-column></mj-section></mj-body>
</mjml>`

/** The parts of a multipart email, decoded. */
function partsOf(raw: string): Record<string, string> {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
  const parts = raw
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const at = part.indexOf('\r\n\r\n')
      const [head, body] = [part.slice(0, at), part.slice(at + 4).replace(/\r\n$/, '')]
      const type = /content-type: ([^;\r]+)/i.exec(head)?.[1] ?? ''
      return [type, /base64/i.test(head) ? Buffer.from(body, 'base64').toString() : /quoted-printable/i.test(head) ? unquoted(body) : body]
    })
  return Object.fromEntries(parts)
}

const unquoted = (body: string): string =>
  Buffer.from(
    body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16))),
    'latin1',
  ).toString()

const elementsIn = (node: DefaultTreeAdapterTypes.Node): Element[] =>
  'childNodes' in node ? node.childNodes.flatMap((child) => ['attrs' in child ? child : [], elementsIn(child)].flat()) : []
const attribute = (element: Element | undefined, name: string) => element?.attrs.find((one) => one.name === name)?.value

async function campaignIn(w: World, locale: string): Promise<void> {
  const made = await w.post(CAMPAIGNS, {
    type: 'trigger',
    name: 'Ask',
    subscription_id: await subscriptionTo(w, 'email'),
    event_name: 'order',
  })
  const content = { from: 'Bells, Inc <hello@shop.example>', subject: 'Hi', preheader: 'How was it?', mjml: MJML }
  expect(await w.put(`${CAMPAIGNS}/${made.body.id}/templates/en`, { from: 'a@shop.example', subject: 'English', html: 'x' })).toMatchObject(
    { status: 200 },
  )
  const put = await w.put(`${CAMPAIGNS}/${made.body.id}/templates/${locale}`, content)
  expect(put.status, put.text).toBe(200)
  await write(w, made.body, { state: 'running' })
}

test('an email has its language, its preheader, its sender, tracked links and plain text; a division by zero sends none', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.patch(`/api/client/projects/${w.projectId}`, { link_wrap_email: true }, { key: w.keys.organisation })
  const data = { orders: 4, vip: true, review_url: 'https://shop.example/review/9' }
  const locale = 'zh-Hant-TW'
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', email: 'ana@example.com', locale, data },
    { external_id: 'bo', email: 'bo@example.com', locale, data: { ...data, vip: false, orders: 0 } },
    { external_id: 'cy', email: 'cy@example.com', locale, data: { ...data, vip: false } },
  ])
  await campaignIn(w, 'zh-TW')
  await order(w, 'ana', 'bo', 'cy')
  await w.drain()
  const mails = new Map(relay.mails.map((mail) => [mail.to[0], mail]))
  expect([...mails.keys()].sort()).toEqual(['ana@example.com', 'cy@example.com'])
  const mail = mails.get('ana@example.com')
  expect(addressparser(mail?.headers.from ?? '')).toEqual([{ name: 'Bells, Inc', address: 'hello@shop.example' }])

  const parts = partsOf(mail?.raw ?? '')
  const elements = elementsIn(parse(parts['text/html'] ?? ''))
  const [html, body] = ['html', 'body'].map((name) => elements.find(({ tagName }) => tagName === name))
  expect(attribute(html, 'lang')).toBe('zh-TW')
  const [preheader] = body?.childNodes.filter((node) => 'attrs' in node) ?? []
  expect((preheader as Element).childNodes).toMatchObject([{ value: expect.stringMatching(/^How was it\?(?:\u034F\u200C\u00A0){100,}$/) }])
  const links = elements.filter(({ tagName }) => tagName === 'a')
  const [review, shop, help, stop] = links.map((link) => attribute(link, 'href') ?? '')
  expect(attribute(links[0], 'data-id')).toBe('7')
  expect(review).toContain(`/c/`)
  expect(review).toContain(encodeURIComponent(data.review_url))
  expect(shop).toContain(encodeURIComponent('https://shop.example/vip'))
  expect(help).toBe('mailto:help@shop.example?subject=Hi%20there')
  expect(stop).toContain('/s/u/')

  const plain = (raw = '') => (partsOf(raw)['text/plain'] ?? '').replaceAll('\r', '').replace(/Stop \(\S+\)$/, 'Stop')
  expect(plain(mail?.raw)).toBe(
    '25 ‰ & more\n\nReview (https://shop.example/review/9)\n\nShop (https://shop.example/vip) Help (help@shop.example) Stop',
  )
  expect(plain(mails.get('cy@example.com')?.raw)).toContain('Shop (https://shop.example/all) Help')
})
