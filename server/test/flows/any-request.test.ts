/** No request, whatever is in it, meets a fault of ours: neither in its reply nor in a job that does what it began. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apiDescription } from '../../src/api-description/index.ts'
import type { JsonSchema, Operation, Parameter } from '../../src/infra/http/openapi/types.ts'
import { VERSION } from '../../src/lib/versions.ts'
import { routes } from '../all-routes.ts'
import { alteredFrom, arbitraryOf, jsonOf, textOf } from '../arbitrary-requests.ts'
import { member } from '../members.ts'
import { seedFrom } from '../random.ts'
import { type RequestOptions, type World, world } from '../world.ts'

/** `ANY_REQUEST_SEED` sets the requests, and `ANY_REQUEST_WORLDS` how many worlds are asked all of them. */
const SEED = seedFrom('ANY_REQUEST_SEED')
const WORLDS = Number(process.env.ANY_REQUEST_WORLDS ?? 2)
const REQUESTS = { withBody: 5, without: 2 }

const document = apiDescription({ routes, version: VERSION })
const METHODS = ['post', 'put', 'patch', 'get', 'delete'] as const

type Listed = { method: string; path: string; operation: Operation }

/** In an order in which what is created is used before it is deleted. A stream does not end by itself. */
const operations: Listed[] = METHODS.flatMap((method) =>
  Object.entries(document.paths).flatMap(([path, { [method]: operation }]) =>
    operation && !isStream(operation) ? [{ method: method.toUpperCase(), path, operation }] : [],
  ),
)

function isStream({ responses }: Operation): boolean {
  return JSON.stringify(responses).includes('text/event-stream')
}

const resolve = (ref: string): JsonSchema => document.components.schemas[ref.split('/').at(-1) as string] as JsonSchema
const valuesOf = (schema: JsonSchema) => arbitraryOf(schema, resolve)

const parametersOf = ({ parameters }: Operation): Parameter[] =>
  parameters.map((one) => ('$ref' in one ? (document.components.parameters[one.$ref.split('/').at(-1) as string] as Parameter) : one))

/** The first part of a path, of whose objects the ids are. */
const roomOf = (path: string) => path.split('/').slice(0, 4).join('/')

/** The path with its parameters: mostly one that was created, and some that never could be. */
function arbitraryPath({ path, operation }: Listed, known: Map<string, string[]>): fc.Arbitrary<string> {
  const ids = fc.constantFrom(...(known.get(roomOf(path)) ?? ['1', 'ana', 'en']))
  const parts = parametersOf(operation)
    .filter((one) => one.in === 'path')
    .map(({ name, schema }) => fc.oneof({ weight: 3, arbitrary: ids }, valuesOf(schema)).map((value): [string, unknown] => [name, value]))
  return fc.tuple(...parts).map((values) => {
    const given = new Map(values)
    return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(textOf(given.get(name))) || '1')
  })
}

function arbitraryQuery({ operation }: Listed): fc.Arbitrary<string> {
  const members = parametersOf(operation).filter((one) => one.in === 'query')
  const given = fc.record(Object.fromEntries(members.map(({ name, schema }) => [name, valuesOf(schema)])), { requiredKeys: [] })
  return given.map(formOf)
}

type Body = { type: string; raw: string } | null

function arbitraryBody({ operation }: Listed): fc.Arbitrary<Body> {
  const [[type, media] = ['', undefined]] = Object.entries(operation.requestBody?.content ?? {})
  if (!media) return fc.constant(null)
  const generated = valuesOf(media.schema)
  const values =
    media.example === undefined
      ? generated
      : fc.oneof(alteredFrom(media.example), alteredFrom(media.example), generated, fc.constant(media.example))
  return values.map((value) => ({ type, raw: type === 'application/x-www-form-urlencoded' ? formOf(value) : rawOf(value) }))
}

const rawOf = (value: unknown): string => (typeof value === 'string' ? value : jsonOf(value))
const formOf = (value: unknown): string =>
  String(new URLSearchParams(Object.entries(Object(value)).map(([name, part]): [string, string] => [name, textOf(part)])))

/** The credentials of each kind of access. */
async function credentials(w: World): Promise<(operation: Operation) => RequestOptions> {
  const headers = { 'x-service-user-token': await w.token('ana') }
  const owner = await member(w, 'owner', 'admin')
  return ({ 'x-access': access }) => {
    if ('secret' in access) return { key: w.keys.secret }
    if ('organisation' in access) return { key: w.keys.organisation }
    if ('member' in access) return { key: null, headers: owner.headers }
    return 'open' in access ? { key: null } : { key: w.keys.public, headers }
  }
}

test.each(Array.from({ length: WORLDS }, (_, index) => index))('no request is a fault of ours, in world %i', async (index) => {
  await using w = await world()
  await w.users('ana')
  const optionsOf = await credentials(w)
  const known = new Map<string, string[]>()
  const faults: string[] = []
  const counts = { done: 0, refused: 0 }

  const ask = async (listed: Listed, url: string, body: Body) => {
    const { method, path, operation } = listed
    const { key, headers } = optionsOf(operation)
    const options = {
      key: key ?? null,
      headers: { ...headers, ...(body && { 'content-type': body.type }) },
      ...(body && { raw: body.raw }),
    }
    const { status, text, body: reply } = await w.request(method, url, undefined, options)
    if (status >= 500) faults.push(`${method} ${url} ${body?.raw.slice(0, 1000)}: ${text}`)
    counts[status < 300 ? 'done' : 'refused']++
    if (status === 201 && reply?.id !== undefined) known.set(roomOf(path), [...(known.get(roomOf(path)) ?? []), String(reply.id)])
  }

  for (const [at, listed] of operations.entries()) {
    const requests = fc.tuple(arbitraryPath(listed, known), arbitraryQuery(listed), arbitraryBody(listed))
    const numRuns = listed.operation.requestBody ? REQUESTS.withBody : REQUESTS.without
    for (const [path, query, body] of fc.sample(requests, { seed: SEED + index * operations.length + at, numRuns })) {
      await ask(listed, `${path}?${query}`, body)
    }
  }
  await w.drain()
  w.advance('2 days')
  await w.drain()
  expect(faults).toEqual([])
  expect(Math.min(counts.done, counts.refused)).toBeGreaterThan(100)
})
