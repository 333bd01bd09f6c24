/** The API reference: a guide, then the operations by group. */
import { GUIDE, INTRODUCTION } from '../infra/http/openapi/guide.ts'
import type { Method, OpenApiDocument, Operation } from '../infra/http/openapi/types.ts'
import { type Html, html } from '../lib/html.ts'
import { requestBlock } from './code.ts'
import { page } from './layout.ts'
import { inline, markdown } from './markdown.ts'
import { brokenPath, type Listed, methodBadge, operationSection, resolverOf } from './operation.ts'

type Group = { name: string; description: string; id: string; operations: Listed[] }

/** The page `/docs`. */
export function referencePage(document: OpenApiDocument, baseUrl: string): string {
  const groups = groupsOf(document)
  const resolver = resolverOf(document)
  const first = groups
    .flatMap(({ operations }) => operations)
    .find(({ method, operation }) => method === 'get' && 'secret' in operation['x-access'])
  const main = html`
<section class="intro">
  <h1>API reference</h1>
  <p class="lead">${INTRODUCTION}</p>
  <dl class="facts"><dt>Base URL</dt><dd><code>${baseUrl}</code></dd><dt>Description</dt><dd><a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), for <a href="/docs/guide/clients">clients that are generated</a></dd></dl>
  ${first && requestBlock({ ...first, baseUrl })}
</section>
${GUIDE.map(({ id, title, text }) => html`<section class="guide" id="${id}"><h2><a href="#${id}">${title}</a></h2>${markdown(text)}</section>`)}
${groups.map(
  (group) => html`<section class="group" id="${group.id}">
<h2><a href="#${group.id}">${group.name}</a></h2>
<p>${inline(group.description)}</p>
${overview(group)}
${group.operations.map((listed) => operationSection(listed, resolver, baseUrl))}
</section>`,
)}`
  return page({
    title: 'Carillon API reference',
    version: document.info.version,
    current: '/docs',
    hasRequests: true,
    contents: contentsOf(groups),
    main,
  })
}

function groupsOf({ tags, paths }: OpenApiDocument): Group[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    (Object.entries(methods) as [Method, Operation][])
      .filter(([, operation]) => takesKey(operation))
      .map(([method, operation]) => ({ method, path, operation })),
  )
  const groups = tags.map(({ name, description = '' }) => ({
    name,
    description,
    id: `group-${name.toLowerCase()}`,
    operations: all.filter(({ operation }) => operation.tags.includes(name)),
  }))
  return groups.filter(({ operations }) => operations.length > 0)
}

/** The endpoints of the console itself are for its pages; programs have keys. */
const takesKey = ({ 'x-access': access }: Operation): boolean => !('member' in access || 'open' in access)

const overview = ({ operations }: Group): Html =>
  html`<ul class="overview">${operations.map(
    ({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}">${methodBadge(method)} <code>${brokenPath(path)}</code><span>${inline(operation.summary)}</span></a></li>`,
  )}</ul>`

const contentsOf = (groups: Group[]): Html => html`
<input type="search" id="search" placeholder="Search operations" aria-label="Search operations" hidden>
<p>Guide</p>
<ul>${GUIDE.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${groups.map(
  ({ name, id, operations }) => html`<p><a href="#${id}">${name}</a></p>
<ul>${operations.map(({ method, operation }) => html`<li><a href="#${operation.operationId}"><span>${titleOf(operation.operationId)}</span>${methodBadge(method)}</a></li>`)}</ul>`,
)}`

/** Turns `rotateWebhookSecret` into "Rotate webhook secret". */
function titleOf(operationId: string): string {
  const words = operationId.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
