/** What the API log keeps of a request, and that it is nothing secret or personal (D-CON-36). */
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { routes } from '../../../test/all-routes.ts'
import { listing } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import { pathId, pathUser } from '../../lib/path-params.ts'
import { Exact, FreeForm, IdOf, Line, Nullable, OneOf } from '../../lib/shapes.ts'
import { EventInput } from '../ingest/schema.ts'
import { redactedBody, redactedParam, redactedParams, redactedQuery } from './redact.ts'

const body = Exact({
  channel: Type.Optional(Nullable(OneOf(['email', 'text']))),
  list_id: Type.Optional(IdOf()),
  is_live: Type.Optional(Type.Boolean()),
  at: Type.Optional(Type.String({ format: 'time' })),
  name: Type.Optional(Line(99)),
  data: Type.Optional(FreeForm(999)),
  either: Type.Optional(Type.Unsafe({ anyOf: [OneOf(['all']), Exact({ list_id: IdOf(), email: Line(99) })] })),
  items: Type.Optional(Type.Array(Exact({ list_id: IdOf(), email: Line(99) }))),
})

describe('a body', () => {
  test.each<[unknown, unknown]>([
    [{ channel: 'email', list_id: 7, is_live: true, at: '2026-11-20T02:56:21.664Z' }, undefined],
    [{ channel: null }, undefined],
    [{ channel: 'sk_secret' }, { channel: '[text, 9 characters]' }],
    [
      { list_id: 'sk_secret', is_live: 'sk_secret', at: 'sk_secret' },
      { list_id: '[text, 9 characters]', is_live: '[text, 9 characters]', at: '[text, 9 characters]' },
    ],
    [{ name: 'Ana' }, { name: '[text, 3 characters]' }],
    [{ name: 61_400_000_000 }, { name: '[number]' }],
    [{ data: { email: 'ana@example.com', is_ill: true } }, { data: '[object, 2 members]' }],
    [{ either: 'all' }, undefined],
    [{ either: { list_id: 1, email: 'ana@example.com' } }, { either: { list_id: 1, email: '[text, 15 characters]' } }],
    [
      { 'ana@example.com': 1, list_id: 2 },
      { list_id: 2, '…': '[1 more]' },
    ],
    [{ items: Array(9).fill({ list_id: 1 }) }, { items: [{ list_id: 1 }, { list_id: 1 }, { list_id: 1 }, '[6 more]'] }],
    ['ana@example.com', '[text, 15 characters]'],
    [['ana@example.com'], '[array, 1 items]'],
    [{ 'ana@example.com': 1 }, '[object, 1 members]'],
  ])('%j is kept as %j', (value, kept) => expect(redactedBody({ body }, value)).toEqual(kept ?? value))

  test('that is not there, or that the route does not take', () => {
    expect(redactedBody({}, undefined)).toBeUndefined()
    expect(redactedBody({}, { name: 'Ana' })).toBe('[object, 1 members]')
  })

  test('keeps the name of an event and nothing else of it', () =>
    expect(redactedBody({ body: EventInput }, { name: 'order_placed', external_id: 'ana', data: { total: 9 } })).toEqual({
      name: 'order_placed',
      external_id: '[text, 3 characters]',
      data: '[object, 1 members]',
    }))

  test('is small, whatever the size of the request', () => {
    const wide = { items: Array(50_000).fill({ list_id: 1, email: 'x'.repeat(500) }), name: 'x'.repeat(100_000) }
    expect(JSON.stringify(redactedBody({ body }, wide)).length).toBeLessThan(400)
    let deep: unknown = 1
    for (let level = 0; level < 5000; level++) deep = { either: deep }
    expect(JSON.stringify(redactedBody({ body }, deep)).length).toBeLessThan(400)
  })
})

/** Fills every member that a schema has with a text that must not be kept. */
function filled(schema: any, levels = 5): unknown {
  if (levels === 0) return CANARY
  const inner = schema.anyOf?.[0] ?? schema
  if (inner.properties)
    return Object.fromEntries(Object.entries(inner.properties).map(([name, member]) => [name, filled(member, levels - 1)]))
  return inner.items ? [filled(inner.items, levels - 1)] : CANARY
}
const CANARY = 'sk_ana@example.com'

test.each(routes.filter(({ body, form }) => body ?? form).map((route) => [`${route.method} ${route.path}`, route] as const))(
  'no text that a caller wrote is kept of %s',
  (_, { path, body, form, query, list }) => {
    const kept = JSON.stringify([
      redactedBody({ ...(body && { body }), ...(form && { form }) }, filled(body ?? form)),
      redactedQuery({ ...(query && { query }), ...(list && { list }) }, `q=${CANARY}`),
    ])
    if (!path.startsWith('/api/client/events')) expect(kept).not.toContain(CANARY)
  },
)

const list = listing({
  resource: 'things',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  searchedFields: '',
})
const query = Exact({
  channel: Type.Optional(OneOf(['email'])),
  to: Type.Optional(Line(9)),
  user: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
})

test.each<[string, object]>([
  ['channel=email&user=12&limit=50&sort=id&direction=asc', { channel: 'email', user: '12', limit: '50', sort: 'id', direction: 'asc' }],
  [
    'channel=sk_1&user=ana&limit=ana&sort=ana',
    { channel: '[text, 4 characters]', user: '[text, 3 characters]', limit: '[text, 3 characters]', sort: '[text, 3 characters]' },
  ],
  ['to=ana&q=ana%40example.com&cursor=abc', { to: '[text, 3 characters]', q: '[text, 15 characters]', cursor: '[text, 3 characters]' }],
  ['api_key=sk_1&__proto__=1&%zz', {}],
])('of the query %s is kept %j', (text, kept) => expect(redactedQuery({ query, list }, text)).toEqual(kept))

test('path parameters are kept if they are ids of this server', () => {
  const params = { listId: pathId(), userId: pathUser }
  expect(redactedParams({ params }, { listId: '12', userId: 'ana@example.com' })).toEqual({ listId: '12' })
  expect(redactedParams({ params }, { listId: 'ana', userId: '61400000000' })).toEqual({})
})

test.each<[string | undefined, string | null]>([
  [undefined, null],
  ['channel', 'channel'],
  ['items[3].email', 'items[3].email'],
  ['data.ana@example.com', 'data'],
  ['ana@example.com', null],
  ['either.list_id', 'either.list_id'],
  ['Idempotency-Key', 'Idempotency-Key'],
  ['If-Match', 'If-Match'],
  ['If-None-Match', 'If-None-Match'],
  ['listId', 'listId'],
  ['to', 'to'],
])('an error about %s is kept as one about %s', (param, kept) =>
  expect(
    redactedParam(
      {
        method: 'POST',
        path: '/api/client/x',
        summary: '',
        access: { secret: 'admin' },
        body,
        query,
        params: { listId: pathId() },
        run: async () => undefined,
      },
      param,
    ),
  ).toBe(kept),
)
