/** An operation in the reference: on the left its description, parameters and reply, on the right samples. */

import type { JsonSchema, Media, Method, OpenApiDocument, Operation, Parameter, Ref, Reply } from '../infra/http/openapi/types.ts'
import type { Access } from '../infra/http/route.ts'
import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts'
import { type Html, html } from '../lib/html.ts'
import { codeBlock, jsonCode, requestBlock } from './code.ts'
import { field, fieldsOf, type Resolve } from './fields.ts'
import { inline, markdown } from './markdown.ts'
import { examplePath } from './samples.ts'

export type Listed = { method: Method; path: string; operation: Operation }

/** Resolves references to the components of a document. */
export function resolverOf({ components }: OpenApiDocument) {
  const follow = <T>(group: Record<string, T>, value: T | Ref): T => {
    const name = (value as Ref).$ref?.split('/').at(-1)
    return name === undefined ? (value as T) : (group[name] as T)
  }
  return {
    schema: (schema: JsonSchema): JsonSchema => follow<JsonSchema>(components.schemas, schema),
    parameter: (parameter: Parameter | Ref): Parameter => follow(components.parameters, parameter),
    userToken: components.securitySchemes.userToken ?? {},
  }
}

export type Resolver = ReturnType<typeof resolverOf>

export function operationSection({ method, path, operation }: Listed, resolver: Resolver, baseUrl: string): Html {
  const { operationId, summary, description } = operation
  return html`<article class="operation" id="${operationId}" data-path="${examplePath(path, operation.parameters)}"${!isLive(operation) && html` data-method="${method}"`}${bodyData(operation)}>
<div class="about">
  <h3><a href="#${operationId}">${inline(summary)}</a></h3>
  <p class="endpoint">${methodBadge(method)} <code>${brokenPath(path)}</code></p>
  ${description !== undefined && markdown(description)}
  ${accessLine(operation['x-access'])}
  ${parameterGroups(operation, resolver)}
  ${bodyPart(operation, resolver.schema)}
  ${replyPart(operation, resolver)}
</div>
<div class="samples">
  ${requestBlock({ method, path, operation, baseUrl })}
  ${replySample(operation)}
</div>
</article>`
}

/** A stream that does not end, which a form cannot show. */
const isLive = (operation: Operation): boolean => successOf(operation)[1].content?.['text/event-stream'] !== undefined

/** The example of the body, for the form that tries the operation. Files are not sent from there. */
function bodyData({ requestBody }: Operation): Html | false {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return media !== undefined && html` data-type="${type}" data-body="${JSON.stringify(media.example)}"`
}

export const methodBadge = (method: string): Html => html`<span class="method ${method}">${method.toUpperCase()}</span>`

// A long path may wrap before a slash.
export const brokenPath = (path: string): Html =>
  html`${path.split(/(?=\/)/).map((part) => html`<wbr>${part.split(/(\{\w+\})/).map((piece) => (piece.startsWith('{') ? html`<em>${piece}</em>` : piece))}`)}`

function accessLine(access: Access): Html {
  const ways: Html[] = []
  if ('secret' in access)
    ways.push(html`<li>Secret key, role <code>${access.secret}</code>${access.secret !== 'admin' && ' or higher'}</li>`)
  if ('smtpproxy' in access) ways.push(html`<li>Secret key, role <code>smtpproxy</code></li>`)
  if ('ownKey' in access) ways.push(html`<li>Any secret key, for itself</li>`)
  if ('publishable' in access) {
    const suffix = access.publishable === 'user' ? ' with a user token' : ', with or without a user token'
    ways.push(html`<li>Publishable key${suffix}</li>`)
  }
  if ('organisation' in access)
    ways.push(html`<li>Organisation key, role <code>${access.organisation}</code>${access.organisation !== 'owner' && ' or higher'}</li>`)
  return html`<ul class="access" aria-label="Who may call this">${ways}</ul>`
}

function parameterGroups(operation: Operation, resolver: Resolver): Html {
  const parameters = [...operation.parameters.map(resolver.parameter), ...tokenHeader(operation, resolver)]
  const listOf = (where: Parameter['in']) => {
    const own = parameters.filter((parameter) => parameter.in === where)
    const names = own.map(({ name }) => name).join(', ')
    return (
      own.length > 0 && { names, list: html`<ul class="fields">${own.map((parameter) => parameterField(parameter, resolver.schema))}</ul>` }
    )
  }
  const [path, query, headers] = [listOf('path'), listOf('query'), listOf('header')]
  return html`${path && html`<h4>Path</h4>${path.list}`}${query && html`<h4>Query</h4>${query.list}`}${
    headers && html`<details class="group"><summary><h4>Headers</h4><span>${headers.names}</span></summary>${headers.list}</details>`
  }`
}

const parameterField = ({ name, schema, description, required = false }: Parameter, resolve: Resolve): Html =>
  field(name, { ...schema, ...(description !== undefined && { description }) }, required, { resolve, of: 'request' })

/** The header of the user token, which OpenAPI lists as a security scheme and readers expect among the headers. */
function tokenHeader({ security }: Operation, { userToken: { name = '', description = '' } }: Resolver): Parameter[] {
  if (!security.some((way) => 'userToken' in way)) return []
  return [{ name, in: 'header', description, schema: { type: 'string' } }]
}

function bodyPart({ requestBody }: Operation, resolve: Resolve): Html | false {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (!requestBody || !media) return false
  const name = type === 'application/json' ? 'JSON' : type === 'text/csv' ? 'CSV, up to 2 GiB by default' : 'form'
  return html`<h4>Body <span>${name}${!requestBody.required && ', optional'}</span></h4>${fieldsOf(media.schema, { resolve, of: 'request' })}`
}

const successOf = ({ responses }: Operation) => Object.entries(responses).find(([status]) => status.startsWith('2')) as [string, Reply]
const jsonOf = (reply: Reply): Media | undefined => reply.content?.['application/json']

function replyPart(operation: Operation, { schema: resolve }: Resolver): Html {
  const [status, reply] = successOf(operation)
  const media = jsonOf(reply)
  const members = media && Object.keys(resolve(media.schema).properties ?? {}).length > 0
  const location = reply.headers?.Location && html` Its path is in the <code>Location</code> header.`
  const head = html`<span class="status ok">${status}</span> <span>${reply.description}${location}</span>`
  return html`<h4>Reply</h4>
  ${members ? html`<details class="reply"><summary>${head}</summary>${fieldsOf(media.schema, { resolve, of: 'reply' })}</details>` : html`<p class="reply">${head}</p>`}
  <details class="reply"><summary><span class="status">4xx 5xx</span> <span>Errors: ${operation['x-errors'].length} codes</span></summary>${errorList(operation['x-errors'])}</details>`
}

function errorList(codes: ErrorCode[]): Html {
  const byStatus = codes.toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b])
  return html`<ul class="codes">${byStatus.map((code) => html`<li><span class="status">${ERROR_STATUS[code]}</span> <a href="/docs/errors#${code}"><code>${code}</code></a></li>`)}</ul>`
}

function replySample(operation: Operation): Html | false {
  const [status, reply] = successOf(operation)
  const media = jsonOf(reply)
  return (
    media !== undefined && codeBlock(html`Reply <span class="status ok">${status}</span>`, jsonCode(JSON.stringify(media.example, null, 2)))
  )
}
