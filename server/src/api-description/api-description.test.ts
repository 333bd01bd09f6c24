import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { operationIdOf } from '../infra/http/openapi/names.ts'
import type { JsonSchema, Media, Operation, Reply } from '../infra/http/openapi/types.ts'
import { checker, matches } from '../lib/validate.ts'
import { VERSION } from '../lib/versions.ts'
import { allRoutes } from '../routes.ts'
import { EXAMPLES, OPERATION_EXAMPLES } from './examples/index.ts'
import { GROUPS } from './groups.ts'
import { apiDescription } from './index.ts'
import { keyOf, MEMBERS } from './members.ts'

const routes = allRoutes({} as never)
const document = apiDescription({ routes, version: VERSION })
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods) as Operation[])
const webhooks = Object.values(document.webhooks).map(({ post }) => post)

const bodiesOf = ({ operationId, requestBody }: Pick<Operation, 'operationId' | 'requestBody'>): [string, Media][] =>
  Object.values(requestBody?.content ?? {}).map((media) => [`the body of ${operationId}`, media])

const repliesOf = ({ operationId, responses }: Operation): [string, Media][] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, reply]) => Object.values((reply as Reply).content ?? {}))
    .map((media) => [`the reply of ${operationId}`, media])

const media = [...operations.flatMap((operation) => [...bodiesOf(operation), ...repliesOf(operation)]), ...webhooks.flatMap(bodiesOf)]
const failures = Object.entries(document.components.responses).flatMap(([name, { content = {} }]) =>
  Object.values(content).map((media): [string, Media] => [name, media]),
)

/** Every schema with its place, those inside others included. */
function schemasIn(schema: JsonSchema, place: string): [string, JsonSchema][] {
  const inner = [
    ...Object.entries(schema.properties ?? {}).map(([name, member]) => [`${place}.${name}`, member] as const),
    ...Object.entries(schema.patternProperties ?? {}).map(([name, member]) => [`${place}.${name}`, member] as const),
    ...[schema.items, schema.additionalProperties].filter((one) => typeof one === 'object').map((one) => [`${place}[]`, one] as const),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches) =>
      (branches ?? []).map((one, index) => [`${place}|${index}`, one] as const),
    ),
  ]
  return [[place, schema], ...inner.flatMap(([place, one]) => schemasIn(one, place))]
}

const parameters = [
  ...operations
    .flatMap(({ operationId, parameters }) => parameters.map((one) => ({ operationId, one })))
    .flatMap(({ operationId, one }) => ('name' in one ? [[`${operationId} ${one.name}`, one] as const] : [])),
  ...Object.entries(document.components.parameters),
]
const schemas = [
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) => schemasIn(schema, name)),
  ...media.flatMap(([name, { schema }]) => schemasIn(schema, name)),
  ...parameters.flatMap(([name, { schema }]) => schemasIn(schema, name)),
]
const keysOf = (schemas: [string, JsonSchema][], wrong: (schema: JsonSchema) => boolean) =>
  schemas.filter(([, schema]) => wrong(schema)).map(([place]) => place)

describe('for generators of clients', () => {
  test('an object says which members it may have', () => {
    const silent = keysOf(
      schemas,
      ({ type, ...rest }) =>
        [type].flat().includes('object') && !['properties', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'].some((word) => word in rest),
    )
    expect(silent).toEqual([])
  })

  test('an array says what its items are', () => {
    expect(keysOf(schemas, ({ type, items }) => [type].flat().includes('array') && items === undefined)).toEqual([])
  })

  test('a pattern has no flags inside, which most engines refuse', () => {
    expect(keysOf(schemas, ({ pattern }) => /\(\?[a-z-]+:/.test(pattern ?? ''))).toEqual([])
  })

  test('there is a server', () => {
    expect(document.servers).toEqual([{ url: 'http://127.0.0.1:3000', description: 'A server on this machine.' }])
  })

  test('the 27 events are there, with the payload that is sent', () => {
    expect(Object.keys(document.webhooks)).toHaveLength(27)
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      expect(post.requestBody?.content['application/json']?.example, type).toMatchObject({ type, data: {} })
    }
  })

  test('an operation lists the statuses that only its verb knows', () => {
    expect(document.paths['/api/client/devices']?.post?.responses).toHaveProperty('404')
  })
})

describe('examples', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({
    $id: 'api',
    ...JSON.parse(JSON.stringify({ $defs: document.components.schemas }).replaceAll('#/components/schemas/', '#/$defs/')),
  })
  const faultsOf = ({ schema, example }: Media) => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', 'api#/$defs/')))
    return check(example) ? null : ajv.errorsText(check.errors)
  }

  test('every body, reply and payload has one', () => {
    expect([...media, ...failures].filter(([, { example }]) => example === undefined).map(([name]) => name)).toEqual([])
  })

  test.each([...media, ...failures])('that of %s is valid', (_, one) => expect(faultsOf(one)).toBeNull())

  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'the server accepts the body of %s, and may send its reply',
    (id, operation) => {
      const route = routes.find((route) => operationIdOf(route) === id)
      const schema = route?.body ?? route?.form
      const [body] = bodiesOf(operation)
      if (schema && body) expect(checker(schema)(structuredClone(body[1].example)).faults).toEqual([])
      const [reply] = repliesOf(operation)
      if (route?.reply && reply) expect(matches(route.reply)(structuredClone(reply[1].example))).toBeNull()
    },
  )

  test('none has a placeholder', () => {
    expect([...media, ...failures].filter(([, { example }]) => JSON.stringify(example).includes('…')).map(([name]) => name)).toEqual([])
  })

  test('every path parameter has one', () => {
    const inPath = parameters.filter(([, parameter]) => parameter.in === 'path')
    expect(inPath.filter(([, { example }]) => example === undefined).map(([name]) => name)).toEqual([])
  })

  test('none is left of a schema or an operation that is gone', () => {
    expect(Object.keys(EXAMPLES).filter((name) => !(name in document.components.schemas))).toEqual([])
    const ids = operations.map(({ operationId }) => operationId)
    expect(Object.keys(OPERATION_EXAMPLES).filter((id) => !ids.includes(id))).toEqual([])
  })
})

describe('descriptions', () => {
  test('every operation, webhook and group has one', () => {
    expect([...operations, ...webhooks].filter(({ description }) => !description).map(({ operationId }) => operationId)).toEqual([])
    expect(document.tags.filter(({ description }) => !description)).toEqual([])
    expect(Object.keys(GROUPS).toSorted()).toEqual(document.tags.map(({ name }) => name).toSorted())
  })

  test('every parameter has one', () => {
    expect(parameters.filter(([, { description }]) => !description).map(([name]) => name)).toEqual([])
  })

  test('every member has one', () => {
    const members = schemas.flatMap(([place, { properties = {} }]) =>
      Object.entries(properties).map(([name, member]) => [`${place}.${name}`, member] as const),
    )
    expect(members.filter(([, { description }]) => !description).map(([place]) => place)).toEqual([])
  })

  test('none is left of a member that is gone', () => {
    const paths = schemas.map(([place]) => place.replaceAll(/\[\]|\|\d+/g, ''))
    const used = new Set(paths.flatMap((path) => keyOf(path) ?? []))
    expect(Object.keys(MEMBERS).filter((key) => !used.has(key))).toEqual([])
  })
})
