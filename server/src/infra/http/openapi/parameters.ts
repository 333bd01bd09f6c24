/** The parameters of operations, and those that many share: paging and headers. */
import { LATEST_VERSION, VERSIONS } from '../../../lib/versions.ts'
import { isIdempotent } from '../idempotency.ts'
import { LIMIT_DEFAULT, type Listing } from '../paging.ts'
import type { Route } from '../route.ts'
import { documentedSchema } from './schemas.ts'
import type { JsonSchema, Parameter, Ref } from './types.ts'

const LIMIT_MAX = 100
const Q_LENGTH_MAX = 255

/** Under `#/components/parameters`. */
export const SHARED_PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes retries safe: the same key gets the same reply for 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  ServiceVersion: {
    name: 'Service-Version',
    in: 'header',
    description: 'The API version to use. Default: that of the project.',
    schema: { type: 'string', enum: [...VERSIONS], examples: [LATEST_VERSION] },
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: 'The language of labels, descriptions and sentences: English, or German with `de`.',
    schema: { type: 'string', maxLength: 4096 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the version that you read: the write is refused with 412 if the object has another version. `*` matches any version.',
    schema: { type: 'string', maxLength: 4096 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'With `*`, the write is refused with 412 if the object exists.',
    schema: { type: 'string', maxLength: 4096 },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    description: 'Where the page starts: a `nextCursor` or `prevCursor` of this list.',
    schema: { type: 'string' },
  },
  Page: {
    name: 'page',
    in: 'query',
    description: 'Whether to return the page after the cursor (`next`) or before it (`prev`).',
    schema: { type: 'string', enum: ['next', 'prev'], default: 'next' },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    description:
      'The number of items per page. 0 returns none. -1 returns all, but fails with 422 if there are more than `LIST_ALL_MAX`. `null`, or ' +
      'no value, is the default.',
    schema: { type: 'integer', minimum: -1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  },
} satisfies Record<string, Parameter>

const shared = (name: keyof typeof SHARED_PARAMETERS): Ref => ({ $ref: `#/components/parameters/${name}` })

/** The parameters of a route in the order of the request: path, query, headers. */
export function parametersOf(route: Route, examples: Record<string, unknown> = {}): (Parameter | Ref)[] {
  return [...inPath(route, examples), ...inQuery(route), ...(route.list ? ofPage(route.list) : []), ...inHeaders(route)]
}

function inPath({ path, params = {} }: Route, examples: Record<string, unknown>): Parameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  return names.map((name) => ({
    description: `The id of the ${wordsOf(name)}.`,
    ...parameter(name, documentedSchema(params[name]?.schema ?? { type: 'string' })),
    in: 'path',
    required: true,
    ...(name in examples && { example: examples[name] }),
  }))
}

/** Turns `subscriptionId` into "subscription type". */
const wordsOf = (name: string) => WORDS[name] ?? name.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const WORDS: Record<string, string> = { endpointId: 'webhook endpoint', subscriptionId: 'subscription type', domainId: 'custom domain' }

function inQuery({ query }: Route): Parameter[] {
  const { properties = {}, required = [] } = query ? documentedSchema(query) : {}
  return Object.entries(properties).map(([name, schema]) => ({
    ...parameter(name, schema),
    in: 'query',
    ...(required.includes(name) && { required: true }),
  }))
}

/** Moves the description from the schema to the parameter. */
function parameter(name: string, { description, ...schema }: JsonSchema): Omit<Parameter, 'in'> {
  return { name, ...(description !== undefined && { description }), schema }
}

function ofPage(list: Listing): (Parameter | Ref)[] {
  const { sorts, defaultSort, defaultDirection } = list
  return [
    {
      name: 'q',
      in: 'query',
      description: searchOf(list),
      schema: { type: 'string', maxLength: Q_LENGTH_MAX },
    },
    {
      name: 'sort',
      in: 'query',
      description: 'The field to sort by. Rows without a value come last.',
      schema: { type: 'string', enum: Object.keys(sorts), default: defaultSort },
    },
    {
      name: 'direction',
      in: 'query',
      description: `Ascending or descending. Default: \`asc\`${defaultDirection === 'desc' ? `, but \`desc\` for \`${defaultSort}\`` : ''}.`,
      schema: { type: 'string', enum: ['asc', 'desc'] },
    },
    shared('Limit'),
    shared('Cursor'),
    shared('Page'),
  ]
}

function searchOf({ searchedFields, findsWhole }: Listing): string {
  if (searchedFields === 'none') return 'Has no effect on this list.'
  const fields = fieldsOf(searchedFields)
  return findsWhole ? `The complete ${fields} to find, in any format.` : `Text to find in ${fields}, ignoring case.`
}

function fieldsOf(searchedFields: string): string {
  const fields = searchedFields.split(/,\s*/).map((field) => `\`${field.replaceAll('`', '')}\``)
  return fields.length === 1 ? (fields[0] ?? '') : `${fields.slice(0, -1).join(', ')} or ${fields.at(-1)}`
}

function inHeaders({ method, path, versioned, translated }: Route): Ref[] {
  if (path.startsWith('/api/console/')) return []
  const takesKey = isIdempotent(method) && !path.startsWith('/api/ext/')
  return [
    ...(takesKey ? [shared('IdempotencyKey')] : []),
    ...(versioned && method !== 'GET' ? [shared('IfMatch'), ...(method === 'PUT' ? [shared('IfNoneMatch')] : [])] : []),
    ...(translated ? [shared('AcceptLanguage')] : []),
    shared('ServiceVersion'),
  ]
}
