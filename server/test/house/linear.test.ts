/**
 * Whatever is done with a text of a caller takes time linear in its length. The texts are those of `adversarial.ts`; what they are given to
 * is derived from the schemas, routes and registries, so that what is added is covered.
 */
import { describe, expect, test } from 'vitest'
import { parseJson, parsePairs, toRecord } from '../../src/infra/http/body.ts'
import { compileRoute } from '../../src/infra/http/compile.ts'
import { encodingFor } from '../../src/infra/http/encoding.ts'
import { PAGING_PARAMETERS, readPageRequest } from '../../src/infra/http/paging.ts'
import { withoutFailedChain } from '../../src/lib/arc.ts'
import { guessDelimiter } from '../../src/lib/csv.ts'
import { formats } from '../../src/lib/formats.ts'
import { Exact } from '../../src/lib/shapes.ts'
import { checkedSchemas, checker } from '../../src/lib/validate.ts'
import { columnsOf } from '../../src/modules/imports/columns.ts'
import { converterFrom } from '../../src/modules/imports/encoding.ts'
import { unescapeFormula } from '../../src/modules/imports/failures.ts'
import { rowReader } from '../../src/modules/imports/items.ts'
import { readRows, sepLineOf } from '../../src/modules/imports/rows.ts'
import * as conditions from '../../src/modules/rules/conditions/index.ts'
import * as operators from '../../src/modules/rules/operators/index.ts'
import { readKeyword } from '../../src/modules/subscriptions/read-keyword.ts'
import { isMailbox, splitAddresses } from '../../src/modules/templates/kinds/email.ts'
import { applyProfile, noUsers } from '../../src/modules/users/identity.ts'
import { checkItem } from '../../src/modules/users/index.ts'
import { routes } from '../all-routes.ts'
import { ratioOf } from '../cpu-time.ts'
import { slowTexts } from './adversarial.ts'

const LENGTH = 1_048_576
const NOON = new Date('2026-11-28T12:00:00.000Z')

type Json = Record<string, any>

const KEYWORDS = ['trim', 'notBlank', 'minLength', 'maxLength', 'pattern', 'format', 'numericRange', 'enum', 'const']

/** The keywords of every string in a schema, each combination once. Limits of length count as the same: they cost the same. */
function stringsIn(schema: unknown, found: Map<string, Json>): void {
  if (typeof schema !== 'object' || schema === null) return
  const node = schema as Json
  if ([node.type].flat().includes('string')) {
    const kept = Object.fromEntries(KEYWORDS.filter((name) => name in node).map((name) => [name, node[name]]))
    const { minLength, maxLength, ...rest } = kept
    const same = { ...rest, ...(minLength !== undefined && { minLength: 1 }), ...(maxLength !== undefined && { maxLength: 255 }) }
    found.set(JSON.stringify({ ...same, ...('enum' in same && { enum: ['a'] }) }), { ...same, type: 'string' })
  }
  for (const [name, inner] of Object.entries(node)) if (name !== 'enum' && name !== 'examples') stringsIn(inner, found)
}

for (const route of routes) compileRoute(route)
const strings = new Map<string, Json>()
for (const schema of [
  ...checkedSchemas,
  ...Object.values(conditions).map(({ shape }) => shape),
  ...Object.values(operators).map(({ args }) => args),
]) {
  stringsIn(schema, strings)
}

/** Refusals are expected; only the time counts. */
const attempt = (run: () => unknown) => {
  try {
    run()
  } catch {
    // Refused.
  }
}

test.each(Object.entries(formats))('the format %s takes linear time', (name, { test }) => {
  expect(slowTexts(name, (text) => attempt(() => test(text)), LENGTH)).toEqual([])
})

test.each([...strings])('a string with %s takes linear time', (name, schema) => {
  const check = checker(Exact({ text: schema as never }))
  expect(slowTexts(name, (text) => check({ text }), LENGTH)).toEqual([])
})

test('there are strings of every format and with every keyword', () => {
  const all = [...strings.values()]
  expect(Object.keys(formats).filter((format) => !all.some((node) => node.format === format))).toEqual([])
  expect(KEYWORDS.filter((name) => !all.some((node) => name in node))).toEqual(['const'])
})

const lists = [...new Map(routes.flatMap(({ list }) => (list ? [[list.resource, list]] : []))).values()]

test.each(PAGING_PARAMETERS)('the query parameter %s takes linear time', (name) => {
  for (const list of lists.slice(0, 2)) expect(slowTexts(name, (text) => readPageRequest(list, { [name]: text }), LENGTH)).toEqual([])
})

const pathReaders = new Map(routes.flatMap(({ params = {} }) => Object.entries(params).map(([name, param]) => [param.read, name] as const)))

test.each([...pathReaders].map(([read, name]) => [name, read] as const))('the path parameter %s takes linear time', (name, read) => {
  expect(slowTexts(name, (text) => attempt(() => read(text, name)), LENGTH)).toEqual([])
})

describe('what reads a whole text takes linear time:', () => {
  const fields = [
    'external_id',
    'anonymous_id',
    'email',
    'phone',
    'timezone',
    'locale',
    'data.a',
    'data.b:number',
    'data.c:boolean',
    'data.d:date',
    'data.e.f',
    'data.g:number(point)',
    'data.h:number(comma)',
    'data.i:date(dmy)',
    'data.j:date(mdy)',
    'data.k:date(ymd)',
    'data.l:date(unix)',
  ]
  const cells = fields.map((field): [string, (text: string) => unknown] => {
    const mapped = columnsOf(['id', 'given'], { id: 'external_id', given: field })
    const own = columnsOf(['given'], { given: field })
    const { columns } = (field === 'external_id' ? own : mapped) as { columns: never[] }
    const read = rowReader(columns)
    return [`the cell of ${field}`, (text) => read(field === 'external_id' ? [text] : ['1', text])]
  })
  const readers: [string, (text: string) => unknown][] = [
    ['a query or a form', (text) => toRecord(parsePairs(text))],
    ['the name of a query parameter', (text) => toRecord(parsePairs(`${encodeURIComponent(text)}=1`))],
    ['JSON', (text) => parseJson(Buffer.from(text))],
    ['a JSON string', (text) => parseJson(Buffer.from(JSON.stringify(text)))],
    ['rows of CSV', (text) => readRows(Buffer.from(text), { delimiter: ',', line: 1, isLast: true, rowsMax: 1000 })],
    ['the delimiter of CSV', (text) => guessDelimiter(Buffer.from(text))],
    ['the line of CSV that names the delimiter', (text) => sepLineOf(Buffer.from(`sep=,${text}`))],
    ['a file in UTF-8 or Windows-1252', (text) => converterFrom(undefined)(Buffer.from(`\xff${text}`, 'latin1'))],
    ['a file in UTF-16', (text) => converterFrom('utf-16le')(Buffer.from(text, 'utf16le'))],
    ['a cell of an error file', (text) => unescapeFormula(`'${text}`)],
    ['a field of a mapping', (text) => columnsOf(['id'], { id: text })],
    ['a path of an item', (text) => checkItem({ external_id: 'kim', [`data.${text}`]: 1 })],
    ['a header of CSV', (text) => columnsOf(['external_id', text], {})],
    ['headers of CSV', (text) => columnsOf(text.split(/[ .@",[({]/), {})],
    ['Accept-Encoding', encodingFor],
    ['a keyword of a text message', (text) => readKeyword(text, 'de')],
    ['a mailbox', isMailbox],
    ['mailboxes', splitAddresses],
    ['a header of an ARC chain', (text) => withoutFailedChain([{ name: 'arc-seal', raw: `ARC-Seal:${text}` }])],
    ...cells,
  ]
  test.each(readers)('%s', (name, read) => {
    expect(slowTexts(name, (text) => attempt(() => read(text)), LENGTH)).toEqual([])
  })
})

/** As many members as asked for, each with a name of its own. */
const numbered = (prefix: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`${prefix}m${number}`, 1]))

test.each<[string, (count: number) => unknown]>([
  ['checking values at paths', (count) => checkItem({ external_id: 'kim', ...numbered('data.', count) })],
  ['checking values at paths into one object', (count) => checkItem({ external_id: 'kim', ...numbered('data.a.', count) })],
  [
    'setting values at paths',
    (count) => applyProfile(noUsers(), { external_id: 'kim', paths: numbered('data.a.', count) }, NOON, () => null),
  ],
])('%s takes linear time', (_, run) => {
  expect(
    ratioOf(
      (text) => run(text.length / 250),
      (length) => ' '.repeat(length),
    ),
  ).toBeLessThan(3)
})
