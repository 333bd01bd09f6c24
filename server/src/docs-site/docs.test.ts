import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import ts from 'typescript'
import { describe, expect, test, vi } from 'vitest'
import { apiDescription } from '../api-description/index.ts'
import { operationIdOf } from '../infra/http/openapi/names.ts'
import type { Operation } from '../infra/http/openapi/types.ts'
import { addStaticPages } from '../infra/http/static-pages.ts'
import { ERROR_STATUS } from '../lib/errors.ts'
import { html } from '../lib/html.ts'
import { allRoutes } from '../routes.ts'
import { docsPages } from './docs.ts'
import { guideMarkdown } from './guide-markdown.ts'
import { inline, markdown } from './markdown.ts'
import { curlOf, pythonOf, typescriptOf } from './samples.ts'

const baseUrl = 'https://carillon.example'
const routes = allRoutes({} as never)
/** The page has what programs call. The endpoints of the console itself are in the API description only. */
const withKeys = routes.filter(({ access }) => !('member' in access || 'open' in access))

const describedBy = (paths = routes) => apiDescription({ routes: paths, version: '1.2.3', baseUrl })

function served(document = () => describedBy()) {
  const app = Fastify()
  addStaticPages(app, docsPages({ version: '1.2.3', document, baseUrl: () => baseUrl, hasConsole: false }))
  return app
}

const app = served()
const get = (url: string, headers = {}) => app.inject({ method: 'GET', url, headers })

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The text of HTML. */
const textOf = (html: string) => html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

const linksOf = (text: string) => [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target = '']) => target)
const idsOf = (text: string) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)

const GUIDES = [
  ...[
    'console',
    'members',
    'shorthand',
    'identify',
    'import',
    'moving',
    'lists',
    'campaigns',
    'journeys',
    'sending',
    'domains',
    'mail-engine',
    'consent',
    'tracking',
    'push',
  ].map((name) => `/docs/guide/${name}`),
  ...['transactional', 'in-app', 'webhooks', 'clients', 'exporting', 'privacy'].map((name) => `/docs/guide/${name}`),
  ...['containers', 'environments', 'monitoring', 'production', 'retention', 'running', 'tools'].map((name) => `/docs/operate/${name}`),
  ...['access', 'configuration', 'webhook-events'].map((name) => `/docs/reference/${name}`),
]
const pages = ['/', '/docs/start', '/docs', '/docs/errors', '/docs/guides', ...GUIDES]

/** What a browser gets at first, when it takes Brotli. */
const FIRST_LOAD_BYTES_MAX = 115_000

describe.each(pages)('%s', (url) => {
  test('allows only its own style and script', async () => {
    const { statusCode, headers, body } = await get(url)
    const style = /<style>([\s\S]*?)<\/style>/.exec(body)?.[1] ?? ''
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    const scripts = [...body.matchAll(/<script type="module">([\s\S]*?)<\/script>/g)].map(([, script = '']) => script)
    expect(scripts).toHaveLength(1)
    expect(headers['content-security-policy']).toContain(
      `script-src 'sha256-${createHash('sha256').update(scripts.join('')).digest('base64')}'`,
    )
    expect(headers['content-security-policy']).toContain("connect-src 'self'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(body.replace(/<script type="module">[\s\S]*?<\/script>/, '')).not.toMatch(/<script| style="| on\w+="/)
  })

  test('loads nothing from other sites, and the pages other than guides link to none', async () => {
    const { body } = await get(url)
    const links = linksOf(body)
    expect(links.length).toBeGreaterThan(15)
    expect([...body.matchAll(/ src="/g)]).toEqual([])
    const away = links.filter((link) => !/^(?:#|\/(?!\/)|data:image\/svg\+xml,)/.test(link))
    expect(away.filter((link) => !GUIDES.includes(url) || !link.startsWith('https://'))).toEqual([])
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
    const targets = linksOf((await get(url)).body)
      .filter((link) => link.startsWith('/'))
      .map((link) => link.split('#')[0] as string)
    expect([...new Set(targets)].filter((target) => !['/openapi.json', ...pages].includes(target))).toEqual([])
    expect(new Set(ids.get(url)).size).toBe(ids.get(url)?.length)
  })

  test('is small at the first load', async () => {
    const { rawPayload } = await get(url, { 'accept-encoding': 'br' })
    expect(rawPayload.length).toBeLessThan(FIRST_LOAD_BYTES_MAX)
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

test('a script is not needed to read samples: each is on the page in every language', async () => {
  const { body } = await get('/docs')
  const figures = body.split('<figure class="sample request">').slice(1)
  expect(figures.length).toBe(withKeys.length + 1)
  for (const figure of figures) for (const lang of ['curl', 'ts', 'py']) expect(figure).toContain(`<pre tabindex="0" data-lang="${lang}">`)
  for (const lang of ['curl', 'ts', 'py']) expect(body).toContain(`type="radio" name="lang" id="lang-${lang}"`)
})

test('samples and replies have values, not placeholders', async () => {
  const { body } = await get('/docs')
  for (const [, text = ''] of body.matchAll(/<pre [^>]*>([\s\S]*?)<\/pre>/g)) expect(text).not.toMatch(/…|\{\w+Id\}|undefined/)
})

test('every TypeScript sample is TypeScript', async () => {
  const { body } = await get('/docs')
  const samples = [...body.matchAll(/data-lang="ts"><code>([\s\S]*?)<\/code>/g)].map(([, sample = '']) => textOf(sample))
  expect(samples.length).toBe(withKeys.length + 1)
  for (const sample of samples) {
    const { diagnostics = [] } = ts.transpileModule(sample, { reportDiagnostics: true, compilerOptions: { module: ts.ModuleKind.ESNext } })
    expect(
      diagnostics.map(({ messageText }) => messageText),
      sample,
    ).toEqual([])
  }
})

test('a sample is the same request in each language', () => {
  const operation = apiDescription({ routes, version: '1' }).paths['/api/client/lists']?.post as Operation
  const call = { method: 'post', path: '/api/client/lists', operation: { ...operation }, baseUrl }
  expect(curlOf(call)).toBe(`curl "https://carillon.example/api/client/lists" \\
  -H "Authorization: Bearer $SECRET_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
  "name": "Pro customers",
  "type": "dynamic",
  "rule": {
    "attribute": "data.plan",
    "is": "pro"
  },
  "tags": [
    "shop"
  ]
}'`)
  expect(typescriptOf(call)).toContain("method: 'POST'")
  expect(typescriptOf(call)).toContain('body: JSON.stringify({')
  expect(pythonOf(call)).toContain('reply = requests.post(')
  expect(pythonOf(call)).toContain('json={')
})

test('the words of JSON are those of Python, but not inside a text', () => {
  const { path, method, operation } = {
    method: 'put',
    path: '/x',
    operation: {
      'x-access': { secret: 'admin' as const },
      parameters: [],
      requestBody: { required: true, content: { 'application/json': { schema: {}, example: { a: true, b: null, c: 'true "null"' } } } },
      responses: {},
    } as unknown as Operation,
  }
  const sample = pythonOf({ method, path, operation, baseUrl })
  expect(sample).toContain('"a": True')
  expect(sample).toContain('"b": None')
  expect(sample).toContain('"c": "true \\"null\\""')
})

test('the guides have no Markdown left', async () => {
  for (const url of GUIDES) {
    const { body } = await get(url)
    const text = textOf(body.replace(/<(?:pre|style|script)[\s\S]*?<\/(?:pre|style|script)>|<code>[\s\S]*?<\/code>/g, ''))
    expect(text, url).not.toMatch(/```|\]\(|\.png|\*\*|\*[\p{L}]|[\p{L}]\*|!\p{L}|^#{1,4} |^\|/mu)
  }
})

test.each([
  ['before\n\n![A picture](../a.png)\n\nafter', '<p>before</p><p>after</p>'],
  ['- one\n\n  ![A picture](../a.png)\n- two', '<ul><li>one</li></ul><ul><li>two</li></ul>'],
  ['```\n![A picture](../a.png)\n```', expect.stringContaining('![A picture](../a.png)')],
  [
    'They are *not users*, but **members** of `a*b*c`.',
    '<p>They are <em>not users</em>, but <strong>members</strong> of <code>a*b*c</code>.</p>',
  ],
  ['2 * 3 * 4', '<p>2 * 3 * 4</p>'],
  ['1. one\n2. two', '<ol><li>one</li><li>two</li></ol>'],
  ['3. three', '<ol start="3"><li>three</li></ol>'],
])('the guide %j is %s', (text, written) => expect(guideMarkdown(text, () => undefined).body.text).toEqual(written))

test('every guide of the repository is served', () => {
  const files = ['guide', 'operate', 'reference'].flatMap((folder) =>
    readdirSync(new URL(`../../../docs/${folder}/`, import.meta.url)).map((file) => `/docs/${folder}/${file.replace(/\.md$/, '')}`),
  )
  expect(files.toSorted()).toEqual(GUIDES.toSorted())
})

test('the start page leads to the others', async () => {
  const { statusCode, body } = await get('/')
  expect(statusCode).toBe(200)
  expect(linksOf(body)).toEqual(expect.arrayContaining(['/docs', '/docs/guides', '/docs/errors', '/openapi.json']))
})

test('the script keeps no key: it uses no storage, no cookies and no HTML', async () => {
  const script = readFileSync(new URL('./browser.js', import.meta.url), 'utf8')
  expect(script).not.toMatch(/localStorage|sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval/)
})

test('the reference has a section and a curl sample for every route that takes a key', async () => {
  const { body } = await get('/docs')
  for (const route of withKeys) {
    const id = operationIdOf(route)
    const section = body.slice(body.indexOf(`<article class="operation" id="${id}"`)).split('</article>')[0] ?? ''
    expect(section, id).toContain(route.summary.replace(/\.$/, '').slice(0, 8))
    expect(section, id).toContain('Authorization: Bearer $')
  }
})

test('the page of errors explains every code', async () => {
  const { body } = await get('/docs/errors')
  expect(idsOf(body)).toEqual(expect.arrayContaining(Object.keys(ERROR_STATUS)))
  for (const code of Object.keys(ERROR_STATUS)) expect(body).toContain(`${baseUrl}/docs/errors#${code}`)
})

test('the API description, which takes long to generate, is generated once and only for the pages that show it', async () => {
  const document = vi.fn(() => describedBy())
  const app = served(document)
  const others = pages.filter((url) => url !== '/docs')
  const read = (urls: string[]) => Promise.all(urls.map(async (url) => (await app.inject({ method: 'GET', url })).statusCode))
  expect(new Set(await read(others))).toEqual(new Set([200]))
  expect(document).not.toHaveBeenCalled()
  expect(await read(['/docs', '/openapi.json', '/docs', '/openapi.json'])).toEqual([200, 200, 200, 200])
  expect(document).toHaveBeenCalledTimes(1)
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
  const page = await served(() => describedBy([{ ...first, summary: hostile, description: hostile }])).inject({
    method: 'GET',
    url: '/docs',
  })
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
