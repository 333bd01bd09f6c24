/** The layout of all pages: head, bar, contents, main. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Html, html } from '../lib/html.ts'
import { LANGUAGES } from './code.ts'

const STYLE = ['base', 'frame', 'reference', 'requests', 'guides', 'fields', 'print']
  .map((name) => readFileSync(new URL(`./style/${name}.css`, import.meta.url), 'utf8'))
  .join('')

/** What the pages do in a browser. They can be read without it. */
const SCRIPT = readFileSync(new URL('./browser.js', import.meta.url), 'utf8')

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Allows only our own style and script, by their hashes, and requests to this server. Text never becomes HTML in a browser. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

// A bell, for the icon of the tab.
const BELL =
  'M8 1.2a1 1 0 0 1 1 1v.5c2.2.5 3.6 2.4 3.6 4.8v2.6l1.3 1.9c.3.5 0 1.1-.6 1.1H2.7c-.6 0-.9-.6-.6-1.1l1.3-1.9V7.5C3.4 5.1 4.8 3.2 7 2.7v-.5a1 1 0 0 1 1-1ZM6.2 14h3.6a1.8 1.8 0 0 1-3.6 0Z'
const ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#b4690e" d="${BELL}"/></svg>`)}`

export type DocsPage = {
  title: string
  version: string
  current: '/docs/start' | '/docs' | '/docs/errors' | '/docs/guides'
  /** The page shows requests, so the reader chooses a language. */
  hasRequests?: true
  contents: Html
  main: Html
}

const LINKS = [
  ['/docs/guides', 'Guides'],
  ['/docs', 'Reference'],
  ['/docs/errors', 'Errors'],
  ['/openapi.json', 'OpenAPI'],
] as const

/** The choice of a language for all requests of a page. It works without a script. */
const languages = (): Html =>
  html`<fieldset class="languages"><legend>Language of the samples</legend>${Object.entries(LANGUAGES).map(
    ([id, name], index) =>
      html`<input type="radio" name="lang" id="lang-${id}"${index === 0 && html` checked`}><label for="lang-${id}">${name}</label>`,
  )}</fieldset>`

export function page({ title, version, current, hasRequests, contents, main }: DocsPage): string {
  const links = LINKS.map(([href, label]) => html`<a href="${href}"${href === current && html` aria-current="page"`}>${label}</a>`)
  return html`<!doctype html>
<html lang="en-AU">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${new Html(STYLE)}</style>
</head>
<body id="top">
<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
  <a class="brand" href="/docs/start"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="${BELL}"/></svg>Carillon <span>API ${version}</span></a>
  ${hasRequests && languages()}
  <nav aria-label="Pages">${links}</nav>
  <a class="open" href="#contents">Contents</a>
</header>
<nav class="contents" id="contents" aria-label="Contents"><a class="close" href="#top">Close</a>${contents}</nav>
<main id="main">${main}</main>
<script type="module">${new Html(SCRIPT)}</script>
</body>
</html>
`.text
}
