import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDir } from '../../../test/child-server.ts'
import { rowsOf } from './read-export.ts'

const BOM = '\uFEFF'
const ANA = { email: 'ana@example.com', plan: 'pro' }
const KIM = { email: 'kim@example.com', plan: 'free' }
/** With it, the line does not fit into the part of the file by which its form is recognised. */
const LONG = { ...ANA, notes: 'x'.repeat(70_000) }
const linesOf = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

test.each([
  ['JSON lines whose first one is long', linesOf(LONG, KIM), [LONG, KIM]],
  ['one long line of JSON', JSON.stringify(LONG), [LONG]],
  ['JSON lines after a byte order mark', BOM + linesOf(ANA, KIM), [ANA, KIM]],
  ['a list after a byte order mark', BOM + JSON.stringify([ANA, KIM], null, 2), [ANA, KIM]],
  ['a reply of an API whose only line is long', JSON.stringify({ emails: [LONG, KIM] }), [LONG, KIM]],
  ['CSV after a byte order mark', `${BOM}email,plan\nana@example.com,pro\n`, [ANA]],
])('%s is read', async (_, text, expected) => {
  await using dir = await temporaryDir()
  const path = join(dir.path, 'export')
  await writeFile(path, text)
  const rows: unknown[] = []
  for await (const read of rowsOf(path)) rows.push('row' in read ? read.row : read.problem)
  expect(rows).toEqual(expected)
})
