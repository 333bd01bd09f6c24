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
import { type Components, componentsOf, publicSchema } from './openapi/schemas.ts'
import type { Media, Method, OpenApiDocument, Operation } from './openapi/types.ts'
import type { Access, Route } from './route.ts'

export type { OpenApiDocument } from './openapi/types.ts'

export type DocumentOptions = {
  routes: readonly Route[]
  /** The release. */
  version: string
  /** The URL of this server; absent in the committed file. */
  baseUrl?: string
}

const SECURITY_SCHEMES = {
  secretKey: { type: 'http', scheme: 'bearer', description: `\`sk_…\`, for servers. Its role is one of ${ROLES.join(', ')}.` },
  publishableKey: { type: 'http', scheme: 'bearer', description: '`pk_…`, for browsers and apps.' },
  organisationKey: { type: 'http', scheme: 'bearer', description: '`ok_…`, for the projects of an organisation.' },
  userToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-User-Token',
    description: 'The user that a request with a publishable key is made for.',
  },
}

/** Describes these routes. Throws if two would have the same operation id. */
export function openApiDocument({ routes, version, baseUrl }: DocumentOptions): OpenApiDocument {
  const components = componentsOf(routes)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Carillon API',
      version,
      description: [INTRODUCTION, ...GUIDE.map(({ title, text }) => `## ${title}\n\n${text}`)].join('\n\n'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    ...(baseUrl && { servers: [{ url: baseUrl }] }),
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths: pathsOf(routes, components),
    components: {
      schemas: { ...components.schemas, Error: ERROR_SCHEMA },
      parameters: SHARED_PARAMETERS,
      headers: HEADERS,
      responses: SHARED_RESPONSES,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

function pathsOf(routes: readonly Route[], components: Components): OpenApiDocument['paths'] {
  const paths: OpenApiDocument['paths'] = {}
  const ids = new Set<string>()
  for (const route of routes) {
    const operation = operationOf(route, components)
    if (ids.has(operation.operationId))
      throw new Error(`Two routes have the operation id ${operation.operationId}. One is ${route.method} ${route.path}.`)
    ids.add(operation.operationId)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase() as Method]: operation }
  }
  return paths
}

function operationOf(route: Route, components: Components): Operation {
  const reply = route.reply && publicSchema(route.reply)
  const requestBody = requestBodyOf(route, components)
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary.replace(/\.$/, ''),
    ...(route.description !== undefined && { description: route.description }),
    'x-access': route.access,
    security: securityOf(route.access),
    parameters: parametersOf(route),
    ...(requestBody && { requestBody }),
    responses: repliesOf(route, reply && components.refer(reply), reply && exampleOf(reply)),
    'x-errors': errorsOf(route),
  }
}

function requestBodyOf({ body, form, stream }: Route, { refer }: Components): Operation['requestBody'] {
  if (stream) return { required: true, content: { [stream.type]: { schema: { type: 'string' } } } }
  const given = body ?? form
  if (!given) return undefined
  const schema = publicSchema(given)
  const example = exampleOf(schema)
  const media: Media = { schema: refer(schema), ...(example !== undefined && { example }) }
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
  return ways
}
