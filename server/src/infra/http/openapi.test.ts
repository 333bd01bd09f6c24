import { Ajv2020 } from 'ajv/dist/2020.js'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { apiDescription } from '../../api-description/index.ts'
import { ApiError, ERROR_STATUS, fault } from '../../lib/errors.ts'
import { pathId } from '../../lib/path-params.ts'
import { Changes, Exact, FreeForm, IdOf, Line, Name, Nullable, Page, Timestamp } from '../../lib/shapes.ts'
import { freeFormProblem } from '../../lib/validate.ts'
import { allRoutes } from '../../routes.ts'
import { sql } from '../postgres/db.ts'
import { errorReply } from './error-reply.ts'
import { operationIdOf } from './openapi/names.ts'
import { SHARED_PARAMETERS } from './openapi/parameters.ts'
import { ERROR_SCHEMA } from './openapi/replies.ts'
import { exampleOf } from './openapi/samples.ts'
import { publicSchema } from './openapi/schemas.ts'
import type { JsonSchema, Operation } from './openapi/types.ts'
import { openApiDocument } from './openapi.ts'
import { listing, readPageRequest } from './paging.ts'
import { type Route, route } from './route.ts'

const bellListing = listing({
  resource: 'bells',
  sorts: { id: { column: sql`id`, type: 'bigint' }, name: { column: sql`name`, type: 'text' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  searchedFields: 'name, maker',
})

const Bell = Exact({ id: IdOf(), name: Type.String(), cast_at: Timestamp })
const BellInput = Exact({ name: Name(), weight: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 9000 }))) })
const params = { bellId: pathId() }
const run = () => Promise.reject(new Error('never called'))

const bells = [
  route({
    method: 'GET',
    path: '/api/client/bells',
    summary: 'List bells.',
    access: { secret: 'support' },
    list: bellListing,
    reply: Page(Bell),
    run,
  }),
  route({
    method: 'POST',
    path: '/api/client/bells',
    summary: 'Cast a bell.',
    access: { secret: 'editor', publishable: 'user' },
    body: BellInput,
    reply: Bell,
    status: 201,
    location: ({ id }) => `/api/client/bells/${id}`,
    run,
  }),
  route({
    method: 'PATCH',
    path: '/api/client/bells/{bellId}',
    summary: 'Retune.',
    access: { secret: 'editor' },
    params,
    body: Changes({ name: Name() }),
    reply: Bell,
    run,
  }),
  route({ method: 'DELETE', path: '/api/client/bells/{bellId}', summary: 'Melt.', access: { secret: 'admin' }, params, status: 204, run }),
  route({
    method: 'POST',
    path: '/api/ext/generic/sound/peal',
    summary: 'Ring.',
    access: { secret: 'support', organisation: 'member' },
    form: Exact({ count: Type.Optional(Type.String({ default: '8', notBlank: true })) }),
    reply: Exact({ rings: Type.Integer() }),
    run,
  }),
]

const documentOf = (routes: Route[] = bells) => openApiDocument({ routes, version: '1.2.3', baseUrl: 'https://bells.example' })
const operation = (method: 'get' | 'post' | 'patch' | 'delete', path: string) => documentOf().paths[path]?.[method] as Operation
const all = () => allRoutes({} as never)

const operationsOf = (document: ReturnType<typeof documentOf>) => Object.values(document.paths).flatMap((methods) => Object.values(methods))

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' ? [inner as string] : refsIn(inner)))
}

const at = (document: object, ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)

describe('the description of every route', () => {
  const document = apiDescription({ routes: all(), version: '1.0.0' })

  test('has an operation for each route', () => {
    const there = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(there.toSorted()).toEqual(
      all()
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    )
  })

  test('has the target of every reference', () => {
    const refs = refsIn(document)
    expect(refs.length).toBeGreaterThan(100)
    expect(refs.filter((ref) => at(document, ref) === undefined)).toEqual([])
  })

  test('has no component without references', () => {
    const refs = new Set(refsIn(document))
    const components = (['schemas', 'parameters', 'responses', 'headers'] as const).flatMap((group) =>
      Object.keys(document.components[group]).map((name) => `#/components/${group}/${name}`),
    )
    expect(components.filter((component) => !refs.has(component))).toEqual([])
  })

  test('gives every operation a unique id', () => {
    const ids = operationsOf(document).map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
  })

  test('has only schemas in JSON Schema 2020-12, without our own keywords', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false })
    ajv.addKeyword('example')
    const { schemas } = JSON.parse(JSON.stringify(document.components).replaceAll('#/components/schemas/', '#/$defs/'))
    ajv.addSchema({ $id: 'api', $defs: schemas })
    for (const name of Object.keys(schemas)) expect(() => ajv.compile({ $ref: `api#/$defs/${name}` }), name).not.toThrow()
    for (const { parameters } of operationsOf(document)) {
      for (const parameter of parameters)
        if ('schema' in parameter) expect(() => ajv.compile(parameter.schema), parameter.name).not.toThrow()
    }
  })

  test('declares exactly the parameters of each path', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      for (const { parameters } of Object.values(methods)) {
        expect(parameters.flatMap((parameter) => ('in' in parameter && parameter.in === 'path' ? [parameter.name] : []))).toEqual(names)
      }
    }
  })

  test('is the same text every time', () => {
    expect(JSON.stringify(apiDescription({ routes: all(), version: '1.0.0' }))).toBe(JSON.stringify(document))
  })
})

describe('an operation', () => {
  test.each([
    ['GET', '/api/client/keys', 'listKeys'],
    ['GET', '/api/client/keys/{keyId}', 'getKey'],
    ['POST', '/api/client/keys', 'createKey'],
    ['PATCH', '/api/client/keys/{keyId}', 'updateKey'],
    ['DELETE', '/api/client/keys/{keyId}', 'deleteKey'],
    ['POST', '/api/client/projects/{projectId}/keys', 'createProjectKey'],
    ['GET', '/api/client/users/me', 'getOwnUser'],
    ['GET', '/api/client/users/me/subscriptions', 'listOwnUserSubscriptions'],
    ['GET', '/api/client/users/{userId}/subscriptions', 'listUserSubscriptions'],
    ['POST', '/api/client/users/batch', 'batchUsers'],
    ['POST', '/api/client/campaigns/{campaignId}/duplicate', 'duplicateCampaign'],
    ['PUT', '/api/client/campaigns/{campaignId}/templates/{locale}', 'setCampaignTemplate'],
    ['POST', '/api/client/webhooks/{endpointId}/rotate-secret', 'rotateWebhookSecret'],
    ['POST', '/api/client/webhooks/{endpointId}/deliveries/{deliveryId}/resend', 'resendWebhookDelivery'],
    ['POST', '/api/ext/generic/data/generate/lorem', 'generateLorem'],
    ['POST', '/api/ext/generic/email/spf-lookup', 'spfLookup'],
  ] as const)('%s %s has the id %s', (method, path, name) => expect(operationIdOf({ method, path })).toBe(name))

  test('two operations with the same id are refused', () => {
    expect(() => documentOf([...bells, ...bells.slice(0, 1)])).toThrow('listBells')
  })

  test('takes an Idempotency-Key if it writes and is not a utility', () => {
    const takes = ({ parameters }: Operation) =>
      parameters.some((parameter) => '$ref' in parameter && parameter.$ref.endsWith('/IdempotencyKey'))
    expect(takes(operation('post', '/api/client/bells'))).toBe(true)
    expect(takes(operation('delete', '/api/client/bells/{bellId}'))).toBe(true)
    expect(takes(operation('get', '/api/client/bells'))).toBe(false)
    expect(takes(operation('post', '/api/ext/generic/sound/peal'))).toBe(false)
  })

  test('lists the kinds of key that may call it, and the lowest roles', () => {
    const { security, 'x-access': access } = operation('post', '/api/client/bells')
    expect(security).toEqual([{ secretKey: [] }, { publishableKey: [], userToken: [] }])
    expect(access).toEqual({ secret: 'editor', publishable: 'user' })
    expect(operation('post', '/api/ext/generic/sound/peal').security).toEqual([{ secretKey: [] }, { organisationKey: [] }])
  })

  test('of a list describes what can be sorted and searched', () => {
    const { parameters } = operation('get', '/api/client/bells')
    const byName = new Map(parameters.flatMap((parameter) => ('name' in parameter ? [[parameter.name, parameter] as const] : [])))
    expect(byName.get('sort')?.schema).toEqual({ type: 'string', enum: ['id', 'name'], default: 'id' })
    expect(byName.get('direction')?.description).toContain('`desc` for `id`')
    expect(byName.get('q')?.description).toContain('`name` or `maker`')
  })

  test('that creates a resource replies with 201 and a Location', () => {
    const created = operation('post', '/api/client/bells').responses['201'] as { headers: object }
    expect(Object.keys(created.headers)).toContain('Location')
    expect(operation('delete', '/api/client/bells/{bellId}').responses['204']).not.toHaveProperty('content')
  })

  test('lists the errors that it can reply with, each under its status', () => {
    const list = operation('get', '/api/client/bells')
    expect(list['x-errors']).not.toContain('resource_missing')
    expect(list['x-errors']).toContain('validation_failed')
    const change = operation('patch', '/api/client/bells/{bellId}')
    expect(change['x-errors']).toContain('resource_missing')
    expect(change['x-errors']).toContain('idempotency_key_mismatch')
    for (const { 'x-errors': codes, responses } of operationsOf(documentOf())) {
      for (const code of codes) expect(responses).toHaveProperty(String(ERROR_STATUS[code]))
    }
  })
})

describe('schemas', () => {
  test('equal objects are one component, and a page references its item', () => {
    const { components, paths } = documentOf()
    expect(Object.keys(components.schemas)).toEqual(['Bell', 'BellChanges', 'BellInput', 'BellPage', 'PealInput', 'PealReply', 'Error'])
    expect(components.schemas.BellPage?.properties?.results?.items).toEqual({ $ref: '#/components/schemas/Bell' })
    expect(paths['/api/client/bells']?.post?.requestBody?.content).toEqual({
      'application/json': { schema: { $ref: '#/components/schemas/BellInput' } },
    })
  })

  test('a title is the name of a component', () => {
    const titled = [
      route({
        method: 'GET',
        path: '/api/client/bells/{bellId}',
        summary: 'One.',
        access: { secret: 'support' },
        params,
        reply: Exact({ a: IdOf() }, { title: 'Clapper' }),
        run,
      }),
    ]
    expect(documentOf(titled).components.schemas).toHaveProperty('Clapper')
  })

  test.each([
    ['trimmed text', Line(9), { type: 'string', maxLength: 9, minLength: 1 }],
    ['a time', Type.String({ format: 'time' }), { type: 'string', description: 'ISO 8601.' }],
    ['a number as text', Type.String({ numericRange: [1, 20], problem: 'must be …' }), { type: 'string', description: 'From 1 to 20.' }],
    [
      'a number as text with a description',
      Type.String({ numericRange: [1, 20], description: 'Lines, 1 to 20.' }),
      { type: 'string', description: 'Lines, 1 to 20.' },
    ],
    [
      'one of several members',
      Exact({ a: Type.Optional(IdOf()) }, { exactlyOne: ['a'] }),
      {
        type: 'object',
        additionalProperties: false,
        properties: { a: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
        oneOf: [{ required: ['a'] }],
      },
    ],
    ['a batch', Type.Array(Line(9), { itemwise: true }), { type: 'array', items: { type: 'string', maxLength: 9, minLength: 1 } }],
  ])('%s is published without our keywords', (_, schema, published) => expect(publicSchema(schema)).toEqual(published))

  test('a free-form object is published with the limits that are enforced', () => {
    const { maxProperties, propertyNames, description } = publicSchema(FreeForm(65_536))
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]))
    const longest = (propertyNames as JsonSchema).maxLength as number
    expect(description).toBe('At most 64 KiB as JSON.')
    expect(freeFormProblem(keys(maxProperties as number), 65_536)).toBeNull()
    expect(freeFormProblem(keys((maxProperties as number) + 1), 65_536)).not.toBeNull()
    for (const character of ['k', '🙂']) {
      expect(freeFormProblem({ [character.repeat(longest)]: 0 }, 65_536)).toBeNull()
      expect(freeFormProblem({ [character.repeat(longest + 1)]: 0 }, 65_536)).not.toBeNull()
    }
  })

  test('the parameters of a page have the limits that are enforced', () => {
    const { minimum, maximum } = SHARED_PARAMETERS.Limit.schema
    const faults = (query: Record<string, string>) => readPageRequest(bellListing, query).faults.length
    expect([minimum, maximum].map((limit) => faults({ limit: String(limit) }))).toEqual([0, 0])
    expect([minimum - 1, maximum + 1].map((limit) => faults({ limit: String(limit) }))).toEqual([1, 1])
    expect([255, 256].map((length) => faults({ q: 'x'.repeat(length) }))).toEqual([0, 1])
  })
})

describe('examples', () => {
  test('come only from the schema', () => {
    expect(exampleOf(publicSchema(BellInput))).toBeUndefined()
    expect(exampleOf({ type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } } })).toEqual({ a: 'x' })
    expect(
      exampleOf({ type: 'object', required: ['b'], properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } } }),
    ).toBeUndefined()
    expect(exampleOf({ type: 'array', items: { type: 'object', examples: [{ a: 1 }] } })).toEqual([{ a: 1 }])
  })
})

test.each([
  ['an error with everything', fault('parameter_missing', 'name', 'The required parameter `name` is missing.')],
  ['an error with a reason', new ApiError('permission_denied', 'No.', { reason: 'role' })],
])('%s has the published shape', (_, error) => {
  const check = new Ajv2020().compile(ERROR_SCHEMA)
  expect(check(errorReply(error, 'req_1', 'https://bells.example')), JSON.stringify(check.errors)).toBe(true)
})
