import { createHash } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { failingAfter } from '../../../test/failing-saves.ts'
import { select } from '../../../test/select.ts'
import type { Tenant, World } from '../../../test/world.ts'
import { world } from '../../../test/world.ts'
import { importUsers } from '../../import-batches.ts'
import { nextImportAt } from './index.ts'

const staticList = async (w: World, { keys }: Pick<Tenant, 'keys'> = w): Promise<number> =>
  (await w.post('/api/client/lists', { name: 'Imported', type: 'static' }, { key: keys.editor })).body.id

type Options = { query?: Record<string, string>; key?: string; headers?: Record<string, string> }

const send = (w: World, list: number, file: string | Buffer, { query = {}, key = w.keys.editor, headers = {} }: Options = {}) =>
  w.post(`/api/client/lists/${list}/import?${new URLSearchParams(query)}`, undefined, {
    raw: file,
    key,
    headers: { 'content-type': 'text/csv', ...headers },
  })

/** Sends a file, runs the import, and returns it. */
async function importFile(w: World, list: number, file: string | Buffer, options: Options = {}) {
  const { status, body, text } = await send(w, list, file, options)
  if (status !== 202) throw new Error(text)
  await w.drain()
  return (await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body
}

const user = async (w: World, externalId: string) => (await w.get(`/api/client/users/${encodeURIComponent(externalId)}`)).body

const members = async (w: World, list: number): Promise<unknown[]> =>
  (
    await select(
      w,
      `select u.external_id from list_memberships p join lists l on l.live_version_id = p.version_id join users u on u.id = p.user_id
       where l.id = $1 and p.is_member order by 1`,
      [list],
    )
  ).map(({ external_id }) => external_id)

const failuresOf = async (w: World, list: number, id: number) =>
  parse((await w.get(`/api/client/lists/${list}/imports/${id}/errors`)).text, { relax_column_count: true, bom: true }) as string[][]

const FILE = `external_id,email,plan,age
kim,kim@example.com,pro,41
ana,ana@example.com,,7
"zoë ""z""",zoe@example.com,"two
lines",
`
const TYPED = { mapping: '{"age":"data.age:number"}' }

describe('an import', () => {
  test('saves users and adds them to the list', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.users('kim')
    const sent = await send(w, list, FILE, { query: TYPED })
    expect(sent).toMatchObject({
      status: 202,
      headers: { location: `/api/client/lists/${list}/imports/${sent.body.id}` },
      body: { state: 'queued', list_id: list, rows: 0, progress: 0, columns: ['external_id', 'email', 'plan', 'age'] },
    })
    expect(sent.body.mapping).toEqual({ external_id: 'external_id', email: 'email', plan: 'data.plan', age: 'data.age:number' })
    await w.drain()
    const done = (await w.get(sent.headers.location as string)).body
    expect(done).toMatchObject({
      state: 'finished',
      reason: null,
      rows: 3,
      created: 2,
      updated: 1,
      unchanged: 0,
      skipped: 0,
      failed: 0,
      added: 3,
      progress: 1,
      bytes: Buffer.byteLength(FILE),
      started_at: '2026-11-23T09:00:00.000Z',
      finished_at: '2026-11-23T09:00:00.000Z',
    })
    expect(await user(w, 'kim')).toMatchObject({ email: 'kim@example.com', data: { plan: 'pro', age: 41 } })
    expect((await user(w, 'ana')).data).toEqual({ age: 7 })
    expect((await user(w, 'zoë "z"')).data).toEqual({ plan: 'two\nlines' })
    expect(await members(w, list)).toEqual(['ana', 'kim', 'zoë "z"'])
  })

  test('tells its progress in rows', async () => {
    await using w = await world()
    const list = await staticList(w)
    // The rows of the first half are long, so that half of the rows are most of the bytes.
    const rows = Array.from({ length: 2000 }, (_, at) => `p${at},${'x'.repeat(at < 1000 ? 200 : 1)}`)
    const { body: queued } = await send(w, list, `external_id,note\n${rows.join('\n')}\n`)
    expect(queued).toMatchObject({ rows: 0, rows_total: 2000, progress: 0 })
    for (const rows of [500, 1000, 1500]) {
      await importUsers(w.ctx)
      const path = `/api/client/lists/${list}/imports/${queued.id}`
      expect((await w.get(path)).body).toMatchObject({ state: 'running', rows, rows_total: 2000, progress: rows / 2000 })
    }
    await w.drain()
    expect((await w.get(`/api/client/lists/${list}/imports/${queued.id}`)).body).toMatchObject({
      state: 'finished',
      rows: 2000,
      progress: 1,
    })
  })

  test('of the same file again changes nothing', async () => {
    await using w = await world()
    const list = await staticList(w)
    await importFile(w, list, FILE, { query: TYPED })
    const before = await user(w, 'kim')
    w.advance('1 hour')
    expect(await importFile(w, list, FILE, { query: TYPED })).toMatchObject({ state: 'finished', rows: 3, unchanged: 3, added: 0 })
    expect(await user(w, 'kim')).toEqual(before)
  })

  test('keeps stored values where cells are empty', async () => {
    await using w = await world()
    const list = await staticList(w)
    await importFile(w, list, 'external_id,email,plan\nkim,kim@example.com,pro\n')
    expect(await importFile(w, list, 'external_id,email,plan\nkim,, \n')).toMatchObject({ unchanged: 1 })
    expect(await user(w, 'kim')).toMatchObject({ email: 'kim@example.com', data: { plan: 'pro' } })
  })

  test('reports each refused row, and saves the others', async () => {
    await using w = await world()
    const list = await staticList(w)
    const file = [
      'external_id,email,note',
      'kim,nowhere,=1+1',
      '',
      ',ana@example.com,"two',
      'lines"',
      'ben,ben@example.com,fine',
      'short,row',
      'long,long@example.com,x,y',
      `cho,cho@example.com,${'x'.repeat(70_000)}`,
      'dee,dee@example.com,a\0b',
    ].join('\r\n')
    const done = await importFile(w, list, file)
    expect(done).toMatchObject({ state: 'finished', rows: 7, created: 1, failed: 6, added: 1 })
    const [header, ...failures] = await failuresOf(w, list, done.id)
    expect(header).toEqual(['line', 'code', 'message', 'external_id', 'email', 'note'])
    expect(failures.map(([line, code, , ...cells]) => [line, code, ...cells.map((cell) => cell.slice(0, 20))])).toEqual([
      ['2', 'parameter_invalid_format', 'kim', 'nowhere', "'=1+1"],
      ['4', 'resource_missing', '', 'ana@example.com', 'two\r\nlines'],
      ['7', 'parameter_invalid_format', 'short', 'row'],
      ['8', 'validation_failed', 'long', 'long@example.com', 'x', 'y'],
      ['9', 'validation_failed', 'cho', 'cho@example.com', 'x'.repeat(20)],
      ['10', 'parameter_invalid_format', 'dee', 'dee@example.com', 'a\ufffdb'],
    ])
    expect(await members(w, list)).toEqual(['ben'])
  })

  test('applies rows about one user in order, even several in a batch', async () => {
    await using w = await world()
    const list = await staticList(w)
    const done = await importFile(w, list, 'external_id,anonymous_id,plan\nkim,,free\nkim,,pro\nkim,,pro\n,v1,seen\nkim,v1,\nana,,x\n')
    expect(done).toMatchObject({ rows: 6, created: 3, updated: 2, unchanged: 1, added: 2 })
    expect((await user(w, 'kim')).data).toEqual({ plan: 'pro' })
    expect(await members(w, list)).toEqual(['ana', 'kim'])
  })

  test('with update_existing=false adds existing users to the list and does not change them', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.users('kim')
    const file = 'external_id,email\nkim,other@example.com\nana,ana@example.com\nana,second@example.com\n'
    expect(await importFile(w, list, file, { query: { update_existing: 'false' } })).toMatchObject({
      rows: 3,
      created: 1,
      skipped: 2,
      added: 2,
    })
    expect(await user(w, 'kim')).toMatchObject({ email: 'kim@example.com' })
    expect(await user(w, 'ana')).toMatchObject({ email: 'ana@example.com' })
    expect(await members(w, list)).toEqual(['ana', 'kim'])
  })

  test('with update_existing=false leaves a user as it is whom only the anonymous id of a row names', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post('/api/client/users/batch', [{ anonymous_id: 'v-9', email: 'old@example.com' }])
    await w.drain()
    const file = 'external_id,anonymous_id,email\nc-1,v-9,new@example.com\n'
    expect(await importFile(w, list, file, { query: { update_existing: 'false' } })).toMatchObject({
      created: 0,
      updated: 0,
      skipped: 1,
      added: 1,
    })
    expect((await w.get('/api/client/users/c-1')).status).toBe(404)
    expect((await w.get('/api/client/users/v-9')).body).toMatchObject({ email: 'old@example.com' })
  })

  test('with update_existing=false creates the user of a row whose anonymous id is that of somebody else', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post('/api/client/users/batch', [{ external_id: 'c-2', anonymous_id: 'v-9' }, { anonymous_id: 'v-8' }])
    await w.drain()
    // The second row is about a user that no row before it has created.
    const file = 'external_id,anonymous_id,email\nc-1,v-9,new@example.com\nc-3,v-8,\nc-3,,third@example.com\n'
    const counts = { created: 2, skipped: 1, updated: 0, failed: 0 }
    const query = { update_existing: 'false' }
    expect(await importFile(w, list, file, { query: { ...query, dry_run: 'true' } })).toMatchObject(counts)
    expect(await importFile(w, list, file, { query })).toMatchObject({ ...counts, added: 3 })
    expect(await user(w, 'c-1')).toMatchObject({ email: 'new@example.com' })
    expect(await members(w, list)).toEqual(['c-1', 'c-3', null])
  })

  test.each<[string, string, Record<string, string>]>([
    ['semicolons', 'external_id;email\nkim;kim@example.com\n', {}],
    ['tabs', 'external_id\temail\nkim\tkim@example.com\n', {}],
    ['bars', 'external_id|email\nkim|kim@example.com', {}],
    ['a given delimiter', 'external_id|email;note\nkim|kim@example.com', { delimiter: '|' }],
    ['a line that names the delimiter', 'sep=;\r\nexternal_id;a,b,c,d;email\r\nkim;x;kim@example.com\r\n', {}],
    ['a byte order mark', '\ufeffexternal_id,email\r\nkim,kim@example.com\r\n', {}],
  ])('reads files with %s', async (_, file, query) => {
    await using w = await world()
    const list = await staticList(w)
    const mapping = query.delimiter ? { mapping: '{"email;note":"email"}' } : {}
    expect(await importFile(w, list, file, { query: { ...query, ...mapping } })).toMatchObject({ state: 'finished', created: 1, failed: 0 })
    expect(await user(w, 'kim')).toMatchObject({ email: 'kim@example.com' })
  })

  const latin1 = (text: string) => Buffer.from(text, 'latin1')
  const text = 'external_id,name,email\nkim,Zoë,kim@example.com\n'

  test.each<[string, Buffer, string, Record<string, string>]>([
    ['Latin-1', latin1(text), 'Zoë', {}],
    ['Windows-1252', latin1(text.replace('ë', '\x80')), 'Zo€', {}],
    ['Latin-1 that is also UTF-8', latin1(text.replace('ë', 'Ã©')), 'ZoÃ©', { encoding: 'windows-1252' }],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le'), 'Zoë', {}],
    ['UTF-16 without one', Buffer.from(text, 'utf16le'), 'Zoë', {}],
    ['UTF-16 in the other byte order', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), 'Zoë', {}],
  ])('reads files in %s', async (_, file, name, query) => {
    await using w = await world()
    const list = await staticList(w)
    expect(await importFile(w, list, file, { query })).toMatchObject({ state: 'finished', created: 1, failed: 0 })
    expect((await user(w, 'kim')).data).toEqual({ name })
  })

  test.each<[string, Buffer, string, Record<string, string>]>([
    ['latin1', latin1(text.replace('ë', 'Ã©')), 'ZoÃ©', {}],
    ['"ISO-8859-1"', latin1(text.replace('ë', 'Ã©')), 'ZoÃ©', {}],
    ['windows-1252', latin1(text.replace('ë', 'Ã©')), 'ZoÃ©', {}],
    ['utf-16le', Buffer.from(text, 'utf16le'), 'Zoë', {}],
    ['UTF-16BE', Buffer.from(text, 'utf16le').swap16(), 'Zoë', {}],
    ['utf-16', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), 'Zoë', {}],
    // Programs write UTF-8 whatever the file is.
    ['UTF-8', latin1(text), 'Zoë', {}],
    ['latin1', Buffer.from(text), 'Zoë', { encoding: 'utf-8' }],
  ])('reads files with the charset %s', async (charset, file, name, query) => {
    await using w = await world()
    const list = await staticList(w)
    const headers = { 'content-type': `text/csv; charset=${charset}` }
    expect(await importFile(w, list, file, { query, headers })).toMatchObject({ state: 'finished', created: 1, failed: 0 })
    expect((await user(w, 'kim')).data).toEqual({ name })
  })

  test('in UTF-16 or Latin-1 may have any length', async () => {
    await using w = await world()
    const list = await staticList(w)
    const rows = Array.from({ length: 1200 }, (_, index) => `k${index},${index < 1100 ? 'Zoe' : 'Zoë'} ${index} ${'x'.repeat(500)}`)
    for (const encoding of ['utf16le', 'latin1'] as const) {
      const file = Buffer.from(`external_id,${encoding}\n${rows.join('\n')}\n`, encoding)
      expect(await importFile(w, list, file)).toMatchObject({ state: 'finished', rows: 1200, failed: 0 })
      for (const index of [0, 1099, 1199]) expect((await user(w, `k${index}`)).data[encoding]).toBe(rows[index]?.split(',')[1])
    }
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('accepts files that are compressed with %s', async (encoding, compress) => {
    await using w = await world()
    const list = await staticList(w)
    const done = await importFile(w, list, compress(FILE), { headers: { 'content-encoding': encoding } })
    expect(done).toMatchObject({ state: 'finished', rows: 3, bytes: Buffer.byteLength(FILE) })
  })

  test('reads quoted line breaks and multi-byte characters across chunks', async () => {
    await using w = await world()
    const list = await staticList(w)
    const note = 'é🙂\n"ü",'.repeat(40)
    const rows = Array.from({ length: 1500 }, (_, index) => `"person ${index}","${note.replaceAll('"', '""')}${index}"`)
    const file = `external_id,note\n${rows.join('\n')}\n`
    expect(Buffer.byteLength(file)).toBeGreaterThan(3 * 262_144)
    expect(await importFile(w, list, file)).toMatchObject({ state: 'finished', rows: 1500, created: 1500, failed: 0 })
    for (const index of [0, 499, 500, 777, 1499]) expect((await user(w, `person ${index}`)).data).toEqual({ note: `${note}${index}` })
  })

  test('fails with a reason at a quotation mark that is not closed, and keeps the rows before it', async () => {
    await using w = await world()
    const list = await staticList(w)
    const done = await importFile(w, list, 'external_id,note\nkim,x\nana,"open\nben,y\n')
    expect(done).toMatchObject({
      state: 'failed',
      rows: 1,
      created: 1,
      reason: expect.stringContaining('The quotation mark that opens on line 3'),
    })
    expect(await members(w, list)).toEqual(['kim'])
  })

  test('of a file with only a header line finishes', async () => {
    await using w = await world()
    const list = await staticList(w)
    expect(await importFile(w, list, 'external_id,email\n')).toMatchObject({ state: 'finished', rows: 0, progress: 1 })
  })
})

describe('an error file', () => {
  test('can be imported again: its own columns are ignored, and cells are as they were', async () => {
    await using w = await world()
    const list = await staticList(w)
    const file = `external_id,email,formula,"it's; all"\nkim,nowhere,=1+1,"'=x"\nana,ana@example,"+a,\nb",'tis\nben,ben@example.com,,\n`
    const { id } = await importFile(w, list, file)
    const errors = (await w.get(`/api/client/lists/${list}/imports/${id}/errors`)).text
    const again = await importFile(w, list, errors)
    expect(again).toMatchObject({
      rows: 2,
      failed: 2,
      columns: ['line', 'code', 'message', 'external_id', 'email', 'formula', "it's; all"],
    })
    expect((await failuresOf(w, list, again.id)).map(([line, ...others]) => [line === 'line' ? line : '', ...others])).toEqual(
      (await failuresOf(w, list, id)).map(([line, ...others]) => [line === 'line' ? line : '', ...others]),
    )
    const corrected = errors.replace('nowhere', 'kim@example.com').replace('ana@example', 'ana@example.com')
    expect(await importFile(w, list, corrected)).toMatchObject({ rows: 2, created: 2, failed: 0 })
    expect((await user(w, 'kim')).data).toEqual({ formula: '=1+1', "it's; all": "'=x" })
    expect((await user(w, 'ana')).data).toEqual({ formula: '+a,\nb', "it's; all": "'tis" })
  })

  test('begins with a byte order mark, by which Excel knows UTF-8', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { id } = await importFile(w, list, 'external_id,name,email\nkim,Zoë,nowhere\n')
    const { text } = await w.get(`/api/client/lists/${list}/imports/${id}/errors`)
    expect(text).toMatch(/^\ufeffline,code,message,external_id,name,email\r?\n2,parameter_invalid_format,.*,kim,Zoë,nowhere/)
    expect(await importFile(w, list, text.replace('nowhere', 'zoe@example.com'))).toMatchObject({ created: 1, failed: 0 })
    expect((await user(w, 'kim')).data).toEqual({ name: 'Zoë' })
  })
})

describe('a row without ids', () => {
  const PATH = '/api/client/users/batch'

  test('belongs to the user with its email address or phone number, if exactly one has it', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post(PATH, [
      { external_id: 'kim', email: 'Kim@Example.com' },
      { external_id: 'ana', email: 'shared@example.com' },
      { external_id: 'ben', email: 'shared@example.com' },
      { anonymous_id: 'v1', phone: '+61412345678' },
    ])
    const file =
      'email,phone,plan\nkim@example.COM,,pro\nshared@example.com,,pro\nnew@example.com,,pro\n,0412 345 678,team\n,+61400000000,x\n,12,x\n'
    const dry = await importFile(w, list, file, { query: { dry_run: 'true' } })
    const real = await importFile(w, list, file)
    for (const done of [dry, real]) expect(done).toMatchObject({ rows: 6, updated: 2, created: 0, failed: 4, added: 2 })
    const failures = await failuresOf(w, list, real.id)
    expect(failures.slice(1).map(([line, code, message]) => [line, code, message])).toEqual([
      ['3', 'resource_missing', expect.stringContaining('several users have its email address')],
      ['4', 'resource_missing', expect.stringContaining('no user has its email address')],
      ['6', 'resource_missing', expect.stringContaining('no user has its phone number')],
      ['7', 'resource_missing', expect.stringContaining('no user has its phone number')],
    ])
    expect(await user(w, 'kim')).toMatchObject({ email: 'kim@example.COM', data: { plan: 'pro' } })
    expect((await user(w, 'v1')).data).toEqual({ plan: 'team' })
    expect(await select(w, `select id from users where project_id = $1`, [w.projectId])).toHaveLength(4)
  })

  test('sees the rows before it', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post(PATH, [{ external_id: 'kim', email: 'old@example.com' }])
    const file =
      'external_id,email,plan\nkim,new@example.com,a\n,old@example.com,b\n,new@example.com,c\nben,new@example.com,d\n,new@example.com,e\n'
    expect(await importFile(w, list, file)).toMatchObject({ rows: 5, updated: 2, created: 1, failed: 2 })
    expect((await user(w, 'kim')).data).toEqual({ plan: 'c' })
  })
})

describe('attribute paths', () => {
  test('set a value inside an object and keep what is beside it', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { address: { street: 'Elm', city: 'Perth' }, 'a.b': 1 } }])
    await importFile(w, list, 'external_id,data.address.city,data.a\\.b,c.d\nkim,Hobart,2,3\n')
    expect((await user(w, 'kim')).data).toEqual({ address: { street: 'Elm', city: 'Hobart' }, 'a.b': '2', 'c.d': '3' })
  })
})

describe('formats', () => {
  const FILE = 'external_id,joined,total,odd\nkim,31.12.1999,"1.234,50",01/02/2026\nana,1.2.2026,"7",03/04/2026\n'
  const fields = { joined: 'data.joined:date', total: 'data.total:number', odd: 'data.odd:date' }
  const given = (mapping: object) => ({ mapping: JSON.stringify(mapping) })

  test('are guessed by a dry run, which returns the first rows as they would be stored', async () => {
    await using w = await world()
    const list = await staticList(w)
    const dry = await importFile(w, list, FILE, { query: { ...given(fields), dry_run: 'true' } })
    const mapping = {
      external_id: 'external_id',
      joined: 'data.joined:date(dmy)',
      total: 'data.total:number(comma)',
      odd: 'data.odd:date(dmy)',
    }
    expect(dry).toMatchObject({ rows: 2, created: 2, failed: 0, mapping })
    expect(dry.guesses).toEqual({
      joined: ['data.joined:date(dmy)'],
      total: ['data.total:number(comma)'],
      odd: ['data.odd:date(dmy)', 'data.odd:date(mdy)'],
    })
    expect(dry.first_rows).toEqual([
      { line: 2, external_id: 'kim', data: { joined: '1999-12-31', total: 1234.5, odd: '2026-02-01' } },
      { line: 3, external_id: 'ana', data: { joined: '2026-02-01', total: 7, odd: '2026-04-03' } },
    ])
    expect(await importFile(w, list, FILE, { query: given(fields) })).toMatchObject({ failed: 2, mapping: fields, guesses: {} })
    expect(await importFile(w, list, FILE, { query: given(dry.mapping) })).toMatchObject({ created: 2, failed: 0 })
    expect((await user(w, 'kim')).data).toEqual({ joined: '1999-12-31', total: 1234.5, odd: '2026-02-01' })
  })

  test('are read with the month first in a project of the United States', async () => {
    await using w = await world()
    await w.patch(`/api/client/projects/${w.projectId}`, { locale: 'en-US' }, { key: w.keys.organisation })
    const list = await staticList(w)
    const dry = await importFile(w, list, FILE, { query: { ...given({ odd: 'data.odd:date' }), dry_run: 'true' } })
    expect(dry.guesses).toEqual({ odd: ['data.odd:date(mdy)', 'data.odd:date(dmy)'] })
  })

  test('leave values out of the first rows that the rows do not give', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post('/api/client/users/batch', [
      { external_id: 'kim', email: 'kim@example.com', data: { secret: 1, address: { street: 'Elm' } } },
    ])
    const file = `external_id,phone,data.address.city\nkim,0412 345 678,Hobart\n${Array.from({ length: 30 }, (_, index) => `k${index},,\n`).join('')}`
    const dry = await importFile(w, list, file, { query: { dry_run: 'true' } })
    expect(dry.first_rows).toHaveLength(10)
    expect(dry.first_rows[0]).toEqual({ line: 2, external_id: 'kim', phone: '+61412345678', data: { address: { city: 'Hobart' } } })
  })

  test('of attributes that a key may not read are neither in the first rows nor among the cells of refused rows', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/birthday', { personal_data: true })
    await w.put('/api/client/attributes/secret', { hidden: true })
    const list = await staticList(w)
    const file = [
      'external_id,email,birth day,plan,data.secret.code',
      'kim,kim@example.com,1990-01-01,pro,x1',
      'lee,nowhere,1991-02-02,free,x2',
      'mo,1992-03-03,pro,x3',
      'no,no@example.com,1993-04-04,pro,x4,more',
    ].join('\n')
    const { id } = await importFile(w, list, file, { query: { mapping: '{"birth day":"data.birthday"}', dry_run: 'true' } })
    const path = `/api/client/lists/${list}/imports/${id}`
    const seen = async (key: string) => {
      const rows = parse((await w.get(`${path}/errors`, { key })).text, { relax_column_count: true }) as string[][]
      const { first_rows } = (await w.get(path, { key })).body
      return [first_rows, rows.map(([, , , ...cells]) => cells.join())]
    }
    const header = 'external_id,email,birth day,plan,data.secret.code'
    expect(await seen(w.keys.support)).toEqual([
      [{ line: 2, external_id: 'kim', email: 'kim@example.com', data: { plan: 'pro' } }],
      [header, 'lee,nowhere,,free,', ',,,', ',,,,,'],
    ])
    expect(await seen(w.keys.editor)).toEqual([
      [{ line: 2, external_id: 'kim', email: 'kim@example.com', data: { birthday: '1990-01-01', plan: 'pro' } }],
      [header, 'lee,nowhere,1991-02-02,free,', ',,,', ',,,,,'],
    ])
  })

  test('the first rows of an erased user are deleted at once, and the others after 24 hours', async () => {
    await using w = await world()
    const list = await staticList(w)
    const file = 'external_id,email,phone\nkim,,\nlee,KIM@Example.com,\nana,,0412 345 678\nben,ben@example.com,\n'
    const { id } = await importFile(w, list, file, { query: { dry_run: 'true' } })
    const path = `/api/client/lists/${list}/imports/${id}`
    const rows = async () => (await w.get(path)).body.first_rows?.map((row: { external_id: string }) => row.external_id)
    await w.users('ben')
    await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com', phone: '+61412345678' }])
    expect(await rows()).toEqual(['kim', 'lee', 'ana', 'ben'])
    await w.delete('/api/client/users/kim')
    await w.drain()
    expect(await rows()).toEqual(['ben'])
    w.advance('25 hours')
    await w.drain()
    expect(await rows()).toBeUndefined()
  })
})

describe('consent', () => {
  const subscribe = (ids: number[]) => ({ subscription_ids: ids.join(), consent_source: 'Trade fair' })

  test('is stored for users without a state; users who opted out stay unsubscribed', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.users('out', 'confirmed', 'silent')
    const { body: type } = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', default_state: 0 })
    await w.patch('/api/client/users/out/subscriptions', [{ subscription_id: type.id, state: 0 }])
    await w.patch('/api/client/users/confirmed/subscriptions', [{ subscription_id: type.id, state: 2 }])
    const done = await importFile(w, list, 'external_id\nout\nconfirmed\nsilent\nnew\n', { query: subscribe([type.id]) })
    expect(done).toMatchObject({ consent_source: 'Trade fair', subscription_ids: [type.id], added: 4 })
    for (const [name, state] of [
      ['out', 0],
      ['confirmed', 2],
      ['silent', 1],
      ['new', 1],
    ] as const) {
      const { results } = (await w.get(`/api/client/users/${name}/subscriptions`)).body
      expect([name, results.find(({ subscription_id }: any) => subscription_id === type.id).state]).toEqual([name, state])
    }
    const sources = await select(w, 'select wording as source from consent_entries where subscription_id = $1 order by state, id', [
      type.id,
    ])
    expect(sources.map(({ source }) => source)).toEqual([null, 'Trade fair', 'Trade fair', null])
  })

  test('is proved by the import, the file and the key', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body: type } = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', default_state: 0 })
    const file = 'external_id\nkim\n'
    const done = await importFile(w, list, file, { query: { ...subscribe([type.id]), filename: 'fair.csv' } })
    const file_sha256 = createHash('sha256').update(file).digest('hex')
    expect(done).toMatchObject({ filename: 'fair.csv', file_sha256 })
    const { results: keys } = (await w.get('/api/client/keys?limit=-1')).body
    const { results } = (await w.get('/api/client/users/kim/consents')).body
    expect(results).toMatchObject([
      {
        source: 'import',
        wording: 'Trade fair',
        proof: { import_id: done.id, file: 'fair.csv', file_sha256, key_id: expect.any(Number) },
      },
    ])
    expect(keys.map(({ id }: any) => id)).toContain(results[0].proof.key_id)
  })

  test('is not stored for users that the file merges if one of them opted out', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post('/api/client/users/batch', [{ external_id: 'kim' }, { anonymous_id: 'a' }, { anonymous_id: 'b' }])
    const { body: type } = await w.post('/api/client/subscriptions', { name: 'News', channel: 'email', default_state: 0 })
    await w.patch('/api/client/users/b/subscriptions', [{ subscription_id: type.id, state: 0 }])
    await importFile(w, list, 'external_id,anonymous_id\nkim,a\nkim,b\n', { query: subscribe([type.id]) })
    expect(await members(w, list)).toEqual(['kim'])
    const { results } = (await w.get('/api/client/users/kim/subscriptions')).body
    expect(results.find(({ subscription_id }: any) => subscription_id === type.id).state).toBe(0)
    expect(await select(w, `select 1 from consent_entries where subscription_id = $1 and source = 'import'`, [type.id])).toEqual([])
  })

  test('needs a source and an existing subscription type', async () => {
    await using w = await world()
    const list = await staticList(w)
    expect(await send(w, list, FILE, { query: { subscription_ids: '1' } })).toMatchObject({
      status: 400,
      body: { code: 'parameter_missing', error: { param: 'consent_source' } },
    })
    expect(await send(w, list, FILE, { query: subscribe([999_999]) })).toMatchObject({
      status: 422,
      body: { error: { param: 'subscription_ids' } },
    })
  })
})

describe('a dry run', () => {
  // Users in several batches: some repeated in later batches, some refused, some existing.
  const rows = Array.from({ length: 1300 }, (_, index) => {
    const name = `p${index % 900}`
    return index % 50 === 49 ? `${name},nowhere,x` : `${name},${name}@example.com,${index % 7 === 0 ? index : 'same'}`
  })
  const file = `external_id,email,note\n${rows.join('\n')}\n`
  const counts = ({ rows, created, updated, unchanged, skipped, failed, added }: any) => ({
    rows,
    created,
    updated,
    unchanged,
    skipped,
    failed,
    added,
  })

  test.each([{}, { update_existing: 'false' }])('with %j reports the results of a real import, and changes nothing', async (query) => {
    await using w = await world()
    const list = await staticList(w)
    await w.users('p1', 'p2', 'p3')
    const dry = await importFile(w, list, file, { query: { ...query, dry_run: 'true' } })
    expect(dry).toMatchObject({ state: 'finished', dry_run: true, rows: 1300 })
    expect(await members(w, list)).toEqual([])
    expect((await w.get('/api/client/users?limit=100')).body.results).toHaveLength(3)
    const real = await importFile(w, list, file, { query })
    expect(counts(dry)).toEqual(counts(real))
    expect(real.created).toBe(879)
    expect(await failuresOf(w, list, dry.id)).toEqual(await failuresOf(w, list, real.id))
    expect(await select(w, 'select 1 from import_dry_run_rows where project_id = $1', [w.projectId])).toEqual([])
  })

  test('of a file that creates and merges users changes no users and appends nothing to the ingest queue', async () => {
    await using w = await world()
    const list = await staticList(w)
    await w.post('/api/client/users/batch', [{ external_id: 'kim' }, { anonymous_id: 'a' }])
    await w.drain()
    const { body } = await send(w, list, 'external_id,anonymous_id\nkim,a\nlee,\n', { query: { dry_run: 'true' } })
    expect(await importUsers(w.ctx)).toBe(1)
    const done = (await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body
    expect(counts(done)).toMatchObject({ rows: 2, created: 1, updated: 1, added: 2 })
    expect(await select(w, 'select 1 from queue_entries where project_id = $1', [w.projectId])).toEqual([])
    expect((await w.get('/api/client/users')).body.results.map(({ external_id }: any) => external_id)).toEqual(['a', 'kim'])
  })
})

describe('interruptions', () => {
  const LARGE = `external_id,email\n${Array.from({ length: 2500 }, (_, index) => `k${index},k${index}@example.com`).join('\n')}\n`

  test('at any statement repeat nothing and lose nothing', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, LARGE)
    for (const after of [1, 3, 5, 6, 7, 8, 9, 10, 11, 12]) {
      await importUsers(failingAfter(w.ctx, after, new Error('Connection terminated unexpectedly'))).catch(() => undefined)
    }
    const midway = (await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body
    expect(midway.rows % 500).toBe(0)
    await w.drain()
    const done = (await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body
    expect(done).toMatchObject({ state: 'finished', rows: 2500, created: 2500, unchanged: 0, added: 2500 })
    expect(await members(w, list)).toHaveLength(2500)
  })

  test('by internal errors fail the import after five attempts, with a reason', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, FILE)
    for (let attempt = 0; attempt < 5; attempt++) await importUsers(failingAfter(w.ctx, 3, new Error('a bug')))
    expect((await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('An internal error'),
      rows: 0,
    })
  })

  test('by internal errors are counted from zero after each successful batch', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, LARGE)
    for (let batch = 1; batch <= 5; batch++) {
      for (let attempt = 0; attempt < 4; attempt++) await importUsers(failingAfter(w.ctx, 3, new Error('a bug')))
      expect(await importUsers(w.ctx)).toBe(1)
      expect((await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body).toMatchObject({
        state: batch < 5 ? 'running' : 'finished',
        rows: batch * 500,
      })
    }
    expect(await members(w, list)).toHaveLength(2500)
  })

  test('by a cancellation keep the imported rows, and cancelling again changes nothing', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, LARGE)
    await importUsers(w.ctx)
    const path = `/api/client/lists/${list}/imports/${body.id}`
    expect((await w.get(path)).body).toMatchObject({ state: 'running', rows: 500 })
    const cancelled = await w.post(`${path}/cancel`)
    expect(cancelled).toMatchObject({ status: 200, body: { state: 'cancelled', rows: 500 } })
    expect((await w.post(`${path}/cancel`)).body).toEqual(cancelled.body)
    await w.drain()
    expect((await w.get(path)).body).toEqual(cancelled.body)
    expect(await members(w, list)).toHaveLength(500)
    const finished = await importFile(w, list, FILE)
    expect(await w.post(`/api/client/lists/${list}/imports/${finished.id}/cancel`)).toMatchObject({ status: 422 })
  })

  test('by archiving the list fail the import', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, FILE)
    await select(w, 'update lists set archived_at = now() where id = $1', [list])
    await w.drain()
    expect(await select(w, 'select state, reason from imports where id = $1', [body.id])).toEqual([
      { state: 'failed', reason: 'The list was archived.' },
    ])
  })

  test('by an ingest queue that falls behind last until it has caught up', async () => {
    await using w = await world()
    const list = await staticList(w)
    const { body } = await send(w, list, LARGE)
    await importUsers(w.ctx)
    w.advance('2 seconds')
    expect(await importUsers(w.ctx)).toBe(0)
    // The next batch is due, so that the job does not sleep until it is woken.
    expect(await nextImportAt(w.ctx)).toEqual(w.clock.now())
    await w.drain()
    expect(await nextImportAt(w.ctx)).toBeNull()
    expect((await w.get(`/api/client/lists/${list}/imports/${body.id}`)).body).toMatchObject({ state: 'finished', rows: 2500 })
  })

  test('several workers share the imports and apply each row once', async () => {
    await using w = await world()
    const foreign = await w.other()
    const [ours, theirs] = [await staticList(w), await staticList(w, foreign)]
    const first = await send(w, ours, LARGE)
    const second = await send(w, ours, FILE)
    const other = await send(w, theirs, LARGE, { key: foreign.keys.editor })
    const worker = async () => {
      let done: number
      do done = await importUsers(w.ctx)
      while (done > 0)
    }
    await Promise.all([worker(), worker(), worker()])
    await w.drain()
    for (const [list, id, rows, key] of [
      [ours, first.body.id, 2500, w.keys.support],
      [ours, second.body.id, 3, w.keys.support],
      [theirs, other.body.id, 2500, foreign.keys.support],
    ] as const) {
      expect((await w.get(`/api/client/lists/${list}/imports/${id}`, { key })).body).toMatchObject({
        state: 'finished',
        rows,
        created: rows,
      })
    }
    expect(await members(w, ours)).toHaveLength(2503)
    expect(await members(w, theirs)).toHaveLength(2500)
  })
})

describe('stored data', () => {
  test('of a file is deleted when the import ends, and of refused rows after 30 days', async () => {
    await using w = await world()
    const list = await staticList(w)
    const done = await importFile(w, list, 'external_id,email\nkim,nowhere\n')
    expect(await select(w, 'select 1 from import_chunks where import_id = $1', [done.id])).toEqual([])
    w.advance('29 days')
    await w.drain()
    expect(await failuresOf(w, list, done.id)).toHaveLength(2)
    w.advance('2 days')
    await w.drain()
    expect(await failuresOf(w, list, done.id)).toHaveLength(1)
    expect((await w.get(`/api/client/lists/${list}/imports/${done.id}`)).body).toEqual(done)
  })

  test('of an incomplete upload is deleted after an hour', async () => {
    await using w = await world()
    const list = await staticList(w)
    await select(
      w,
      `insert into imports (project_id, list_id, delimiter, columns, position, line, dry_run, update_existing, subscription_ids, created_at, received_at)
       values ($1, $2, ',', '[]', 0, 1, false, true, '{}', $3, $3)`,
      [w.projectId, list, w.clock.now()],
    )
    const count = async () => (await select(w, 'select 1 from imports where list_id = $1', [list])).length
    await w.drain()
    expect(await count()).toBe(1)
    expect((await w.get(`/api/client/lists/${list}/imports`)).body.results).toEqual([])
    w.advance('2 hours')
    await w.drain()
    expect(await count()).toBe(0)
  })
})
