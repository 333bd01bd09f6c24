import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { operationIdOf } from '../infra/http/openapi/names.ts'
import { openApiDocument } from '../infra/http/openapi.ts'
import { addStaticPages } from '../infra/http/static-pages.ts'
import { ERROR_STATUS } from '../lib/errors.ts'
import { html } from '../lib/html.ts'
import { allRoutes } from '../routes.ts'
import { docsPages } from './docs.ts'
import { inline, markdown } from './markdown.ts'

const baseUrl = 'https://carillon.example'
const routes = allRoutes({} as never)

function served(paths = routes) {
  const app = Fastify()
  addStaticPages(app, docsPages({ document: () => openApiDocument({ routes: paths, version: '1.2.3', baseUrl }), baseUrl: () => baseUrl }))
  return app
}

const app = served()
const get = (url: string, headers = {}) => app.inject({ method: 'GET', url, headers })

const linksOf = (text: string) => [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target = '']) => target)
const idsOf = (text: string) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)

const pages = ['/docs', '/docs/errors']

describe.each(pages)('%s', (url) => {
  test('does not allow scripts or other content', async () => {
    const { statusCode, headers, body } = await get(url)
    const style = /<style>([\s\S]*?)<\/style>/.exec(body)?.[1] ?? ''
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(body).not.toMatch(/<script| style="| on\w+="/)
  })

  test('has no links to other sites', async () => {
    const { body } = await get(url)
    const links = linksOf(body)
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter((link) => !/^(?:#|\/(?!\/)|data:image\/svg\+xml,)/.test(link))).toEqual([])
    expect(body).not.toMatch(/@import|url\(/)
  })

  test('has exactly one anchor for every link within these pages', async () => {
    const ids = new Map(await Promise.all(pages.map(async (page) => [page, idsOf((await get(page)).body)] as const)))
    const broken = linksOf((await get(url)).body)
      .filter((link) => link.includes('#') && !link.startsWith('data:'))
      .filter((link) => {
        const [page, id] = link.split('#') as [string, string]
        return !ids.get(page === '' ? url : page)?.includes(id)
      })
    expect(broken).toEqual([])
    expect(new Set(ids.get(url)).size).toBe(ids.get(url)?.length)
  })

  test('is compressed if the client accepts it, and supports HEAD', async () => {
    const plain = await get(url)
    const zipped = await get(url, { 'accept-encoding': 'gzip, br;q=0' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body)
    expect((await get(url, { 'accept-encoding': 'gzip, br' })).headers['content-encoding']).toBe('br')
    expect(await app.inject({ method: 'HEAD', url })).toMatchObject({ statusCode: 200, body: '' })
  })
})

test('the reference has a section and a curl sample for every route', async () => {
  const { body } = await get('/docs')
  for (const route of routes) {
    const id = operationIdOf(route)
    const section = body.slice(body.indexOf(`<article class="operation" id="${id}">`)).split('</article>')[0] ?? ''
    expect(section, id).toContain(route.summary.replace(/\.$/, '').slice(0, 8))
    expect(section, id).toContain('Authorization: Bearer $')
  }
})

test('the page of errors explains every code', async () => {
  const { body } = await get('/docs/errors')
  expect(idsOf(body)).toEqual(expect.arrayContaining(Object.keys(ERROR_STATUS)))
  for (const code of Object.keys(ERROR_STATUS)) expect(body).toContain(`${baseUrl}/docs/errors#${code}`)
})

test('the API description is served unchanged', async () => {
  const { headers, body } = await get('/openapi.json')
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(body)).toMatchObject({ openapi: '3.1.1', info: { version: '1.2.3' }, servers: [{ url: baseUrl }] })
})

test('HTML in a description is escaped', async () => {
  const [first] = routes
  if (!first) throw new Error('there are routes')
  const hostile = '<img src=x onerror="alert(1)"> & `<b>` [x](javascript:alert(1)) [y](https://evil.example)'
  const page = await served([{ ...first, summary: hostile, description: hostile }]).inject({ method: 'GET', url: '/docs' })
  expect(page.body).not.toMatch(/<img|<b>|href="(?:javascript|https)/)
  expect(page.body).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; <code>&lt;b&gt;</code>')
})

test.each([
  ['`a` and **b**', '<code>a</code> and <strong>b</strong>'],
  ['**`a` b**', '<strong><code>a</code> b</strong>'],
  ['[here](#there)', '<a href="#there">here</a>'],
  ['[here](//evil.example)', '[here](//evil.example)'],
  ['a < b', 'a &lt; b'],
])('%s is rendered as %s', (text, written) => expect(inline(text).text).toBe(written))

test('paragraphs and lists are blocks', () => {
  expect(markdown('one\n\n- two\n- three').text).toBe('<p>one</p><ul><li>two</li><li>three</li></ul>')
})

test('a template escapes everything that is not HTML', () => {
  expect(html`<p title="${'"'}">${'<'}${html`<br>`}${[1, '&', null, false, undefined]}</p>`.text).toBe(
    '<p title="&quot;">&lt;<br>1&amp;</p>',
  )
})
