/**
 * The API description (OpenAPI 3.1), generated from the routes that the server runs (D-HTTP-8).
 * The same routes always produce the same text, so that a test can compare it with `server/openapi.json`.
 */
import { ROLES } from '../../lib/roles.ts'
import { GUIDE, INTRODUCTION } from './openapi/guide.ts'
import { operationIdOf, tagOf } from './openapi/names.ts'
import { parametersOf, SHARED_PARAMETERS } from './openapi/parameters.ts'
import { ERROR_SCHEMA, errorsOf, HEADERS, repliesOf, SHARED_RESPONSES } from './openapi/replies.ts'
import { exampleOf } from './openapi/samples.ts'
import { type Components, componentSchema, componentsOf, documentedSchema, type Use } from './openapi/schemas.ts'
import { LOCAL_SERVER } from './openapi/servers.ts'
import type { JsonSchema, Media, Method, OpenApiDocument, Operation, WebhookOperation } from './openapi/types.ts'
import { describeMembers, NO_WORDS, type Webhook, type Words } from './openapi/words.ts'
import { LIMIT_DEFAULT } from './paging.ts'
import type { Access, Route } from './route.ts'

export type { OpenApiDocument } from './openapi/types.ts'

export type DocumentOptions = {
  routes: readonly Route[]
  /** The release. */
  version: string
  /** The URL of this server; absent in the committed file. */
  baseUrl?: string
  words?: Words
}

const SECURITY_SCHEMES = {
  secretKey: { type: 'http', scheme: 'bearer', description: `\`sk_…\`, for servers. Its role is one of ${ROLES.join(', ')}.` },
  publishableKey: { type: 'http', scheme: 'bearer', description: '`pk_…`, for browsers and apps.' },
  organisationKey: { type: 'http', scheme: 'bearer', description: '`ok_…`, for the projects of an organisation.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-carillon',
    description: 'The session of a member of the console. Over plain HTTP the cookie is called `carillon`.',
  },
  userToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-User-Token',
    description: 'The token of the user on whose behalf a request with a publishable key is made.',
  },
}

/** Describes these routes. Throws if two would have the same operation id. */
export function openApiDocument({ routes, version, baseUrl, words = NO_WORDS }: DocumentOptions): OpenApiDocument {
  const shared = Object.entries(words.schemas).map(([name, schema]): Use => ({ name, schema: componentSchema(schema) }))
  const components = componentsOf(routes, { shared, more: words.webhooks.map(payloadOf) })
  const about: About = { components, words }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Carillon API',
      version,
      description: [INTRODUCTION, ...GUIDE.map(({ title, text }) => `## ${title}\n\n${text}`)].join('\n\n'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [baseUrl ? { url: baseUrl, description: 'This server.' } : { url: LOCAL_SERVER, description: 'A server on this machine.' }],
    tags: tagsOf(routes, words),
    paths: pathsOf(routes, about),
    webhooks: Object.fromEntries(words.webhooks.map((webhook) => [webhook.type, { post: webhookOf(webhook, about) }])),
    components: {
      schemas: { ...schemasOf(about), Error: ERROR_SCHEMA },
      parameters: SHARED_PARAMETERS,
      headers: HEADERS,
      responses: SHARED_RESPONSES,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

type About = { components: Components; words: Words }

const payloadOf = ({ name, payload }: Webhook): Use => ({ schema: documentedSchema(payload), name })

/** The group of the requests to webhook endpoints. */
const EVENTS_TAG = 'Webhook events'

function tagsOf(routes: readonly Route[], { groups, webhooks }: Words): OpenApiDocument['tags'] {
  const names = [...new Set(routes.map(tagOf)), ...(webhooks.length > 0 ? [EVENTS_TAG] : [])]
  return names.map((name) => ({ name, ...(groups[name] !== undefined && { description: groups[name] }) }))
}

/** The components with the descriptions of their members, and with their examples. */
function schemasOf({ components, words: { memberOf, examples } }: About): Record<string, JsonSchema> {
  const named = Object.entries(components.schemas).map(([name, schema]) => {
    const described = describeMembers(schema, name, memberOf)
    return [name, { ...described, ...(name in examples && { examples: [examples[name]] }) }] as const
  })
  return Object.fromEntries(named)
}

/** A schema with references, and its example: that of the operation, of the schema, or of the components that it refers to. */
function mediaOf(schema: JsonSchema, given: unknown, name: string, { components, words }: About): Media {
  const referred = components.refer(schema)
  const example = given ?? exampleIn(referred, components, words) ?? exampleOf(schema)
  return { schema: describeMembers(referred, name, words.memberOf), ...(example !== undefined && { example }) }
}

/** The example of the component that a schema refers to; for a list, with one item. */
function exampleIn(schema: JsonSchema, components: Components, words: Words): unknown {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return words.examples[name] ?? exampleIn(components.schemas[name] ?? {}, components, words)
  if (schema.items) {
    const item = exampleIn(schema.items, components, words)
    return item === undefined ? undefined : [item]
  }
  const { results, nextCursor } = schema.properties ?? {}
  const items = results && exampleIn(results, components, words)
  return items && { results: items, ...(nextCursor && { nextCursor: null, prevCursor: null, limit: LIMIT_DEFAULT }) }
}

const text: JsonSchema = { type: 'string' }

function webhookOf({ type, name, summary, description, payload, example }: Webhook, about: About): WebhookOperation {
  const inHeader = (name: string, description: string) => ({ name, in: 'header' as const, required: true, description, schema: text })
  return {
    operationId: `on${name}`,
    tags: [EVENTS_TAG],
    summary: summary.replace(/\.$/, ''),
    description,
    security: [],
    parameters: [
      inHeader(
        'Service-Signature',
        '`t=<Unix time>,v1=<HMAC-SHA256 of "<t>.<body>" in hex>`, with one `v1` for each valid signing secret.',
      ),
      inHeader('webhook-id', 'The id of the event, as defined by Standard Webhooks.'),
      inHeader('webhook-timestamp', 'The time of the request in Unix seconds, as defined by Standard Webhooks.'),
      inHeader('webhook-signature', 'The signatures of Standard Webhooks, separated by spaces.'),
    ],
    requestBody: { required: true, content: { 'application/json': mediaOf(documentedSchema(payload), example, type, about) } },
    responses: { '2XX': { description: 'The event was received. After any other reply, the delivery is retried.' } },
  }
}

function pathsOf(routes: readonly Route[], about: About): OpenApiDocument['paths'] {
  const paths: OpenApiDocument['paths'] = {}
  const ids = new Set<string>()
  for (const route of routes) {
    const operation = operationOf(route, about)
    if (ids.has(operation.operationId))
      throw new Error(`Two routes have the operation id ${operation.operationId}. One is ${route.method} ${route.path}.`)
    ids.add(operation.operationId)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase() as Method]: operation }
  }
  return paths
}

function operationOf(route: Route, about: About): Operation {
  const operationId = operationIdOf(route)
  const example = about.words.operations[operationId]
  const reply = route.reply && mediaOf(documentedSchema(route.reply), example?.reply, operationId, about)
  const requestBody = requestBodyOf(route, operationId, about)
  return {
    operationId,
    tags: [tagOf(route)],
    summary: route.summary.replace(/\.$/, ''),
    ...(route.description !== undefined && { description: route.description }),
    'x-access': route.access,
    security: securityOf(route.access),
    parameters: parametersOf(route, about.words.parameters),
    ...(requestBody && { requestBody }),
    responses: repliesOf(route, reply),
    'x-errors': errorsOf(route),
  }
}

function requestBodyOf({ body, form, stream }: Route, operationId: string, about: About): Operation['requestBody'] {
  const given = about.words.operations[operationId]?.body
  if (stream) return { required: true, content: { [stream.type]: { schema: text, ...(given !== undefined && { example: given }) } } }
  const declared = body ?? form
  if (!declared) return undefined
  const schema = documentedSchema(declared)
  const media = mediaOf(schema, given, operationId, about)
  const required = body ? !('optionalBody' in body) : (schema.required ?? []).length > 0
  return { required, content: { [body ? 'application/json' : 'application/x-www-form-urlencoded']: media } }
}

/** The alternative combinations of credentials. */
function securityOf(access: Access): Operation['security'] {
  const ways: Operation['security'] = []
  if ('secret' in access) ways.push({ secretKey: [] })
  if ('publishable' in access) {
    if (access.publishable === 'anonymous') ways.push({ publishableKey: [] })
    ways.push({ publishableKey: [], userToken: [] })
  }
  if ('organisation' in access) ways.push({ organisationKey: [] })
  if ('member' in access) ways.push({ session: [] })
  return ways
}
