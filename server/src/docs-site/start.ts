/** The page `/docs/start`, which leads on to the others. Without a console it is at `/` too. */
import { html } from '../lib/html.ts'
import { codeBlock, shellCode } from './code.ts'
import { guideLinks } from './guides.ts'
import { page } from './layout.ts'

const LINKS = [
  ['/docs', 'API reference', 'Every operation, with samples for curl, TypeScript and Python, and a form to try it.'],
  ['/docs/guides', 'Guides', 'How to import users, build lists, send campaigns and run a server.'],
  ['/docs/errors', 'Errors', 'What each error code means and what to do.'],
  ['/openapi.json', 'OpenAPI description', 'A machine-readable description of the API, for generating a client.'],
] as const

export function startPage(version: string, baseUrl: string, hasConsole: boolean): string {
  const main = html`<article class="page">
<h1>Carillon</h1>
<p class="lead">This server sends messages to the users of a product: by email, text message, push, webhook and in-app message.</p>
${hasConsole ? html`<p><a href="/">Open the console</a> to do everything that the API does, without code.</p>` : html`<p><strong>The console is not built here.</strong> <code>npm start</code> in a checkout builds it; a production image has to be built with <code>console/dist</code>. The API works without the console.</p>`}
<ul class="cards">${LINKS.map(([href, name, about]) => html`<li><a href="${href}"><strong>${name}</strong><span>${about}</span></a></li>`)}</ul>
<p>The API is at <code>${baseUrl}/api/client</code>. Each request needs a key:</p>
${codeBlock('Shell', shellCode(`curl "${baseUrl}/api/client/users" \\\n  -H "Authorization: Bearer $SECRET_KEY"`))}
</article>`
  return page({ title: 'Carillon', version, current: '/docs/start', contents: html`<p>Guides</p>${guideLinks()}`, main })
}
