/** The guides of `docs/`, as pages beside the reference. They are read at the first request for one of them. */
import { readFileSync } from 'node:fs'
import type { StaticPage } from '../infra/http/static-pages.ts'
import { type Html, html } from '../lib/html.ts'
import { guideMarkdown, type Heading } from './guide-markdown.ts'
import { CONTENT_SECURITY_POLICY, page } from './layout.ts'

const FOLDER = new URL('../../../docs/', import.meta.url)

/** The guides in the order of reading, by their path in `docs/`. */
const GUIDES = {
  'guide/console': 'The console',
  'guide/shorthand': 'Shorthand',
  'guide/identify': 'Identify users',
  'guide/import': 'Import',
  'guide/moving': 'Move from another product',
  'guide/lists': 'Lists',
  'guide/campaigns': 'Campaigns',
  'guide/journeys': 'Journeys',
  'guide/transactional': 'Transactional messages',
  'guide/sending': 'Sending',
  'guide/domains': 'Sending domains',
  'guide/mail-engine': 'The mail engine',
  'guide/consent': 'Consent',
  'guide/tracking': 'Tracking',
  'guide/push': 'Push messages',
  'guide/in-app': 'In-app messages',
  'guide/webhooks': 'Webhooks',
  'guide/clients': 'Clients',
  'guide/members': 'Members',
  'guide/exporting': 'Export',
  'guide/privacy': 'Privacy',
  'operate/environments': 'Staging, CI and production',
  'operate/running': 'Running a server',
  'operate/production': 'PostgreSQL in production',
  'operate/containers': 'Containers and services',
  'operate/monitoring': 'Monitoring',
  'operate/retention': 'How long data is kept',
  'operate/tools': 'The command line',
  'reference/access': 'Access',
  'reference/configuration': 'Configuration',
  'reference/webhook-events': 'Webhook events',
} as const

type GuidePath = keyof typeof GUIDES

const PATHS = Object.keys(GUIDES) as GuidePath[]

/** A link for each guide. */
export const guideLinks = (current?: GuidePath): Html =>
  html`<ul>${PATHS.map((path) => html`<li><a href="/docs/${path}"${path === current && html` aria-current="page"`}>${GUIDES[path]}</a></li>`)}</ul>`

export const guidePages = (version: string): StaticPage[] =>
  PATHS.map((path) => ({
    url: `/docs/${path}`,
    type: 'text/html; charset=utf-8',
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    write: () => guidePage(path, version),
  }))

function guidePage(path: GuidePath, version: string): string {
  const { body, headings } = guideMarkdown(textOf(path), targetFrom(path))
  const onPage = html`<p>On this page</p>
<ul>${headings.map(({ id, text }: Heading) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>`
  const contents = html`
${headings.length > 0 && onPage}
<p>Guides</p>
${guideLinks(path)}`
  return page({
    title: `${GUIDES[path]} · Carillon`,
    version,
    current: '/docs/guides',
    contents,
    main: html`<article class="page">${body}</article>`,
  })
}

/** The page `/docs/guides`: the guides with their first sentences. */
export function guideIndex(version: string): string {
  const entries = PATHS.map(
    (path) => html`<li><a href="/docs/${path}"><strong>${GUIDES[path]}</strong><span>${leadOf(path)}</span></a></li>`,
  )
  const main = html`<article class="page"><h1>Guides</h1><ul class="cards">${entries}</ul></article>`
  return page({ title: 'Carillon guides', version, current: '/docs/guides', contents: html`<p>Guides</p>${guideLinks()}`, main })
}

/** The first sentence of the first paragraph, as plain text. */
function leadOf(path: GuidePath): string {
  const paragraph = textOf(path)
    .split(/\n{2,}/)
    .find((block) => /^[\p{L}\p{N}`*]/u.test(block))
  const plain = (paragraph ?? '').replaceAll('\n', ' ').replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain
}

const textOf = (path: GuidePath) => readFileSync(new URL(`${path}.md`, FOLDER), 'utf8')

/** Turns a link of the repository into one of these pages; undefined if the file is not served. */
const targetFrom =
  (from: string) =>
  (link: string): string | undefined => {
    if (/^(?:#|https:\/\/)/.test(link)) return link
    const { pathname, hash } = new URL(link, `file:///${from}`)
    const path = pathname.slice(1).replace(/\.md$/, '')
    return path in GUIDES ? `/docs/${path}${hash}` : undefined
  }
