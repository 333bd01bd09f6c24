import { describe, expect, test } from 'vitest'
import { sizeOf } from '../src/parts/sizes.ts'
import { checksOf, type System } from '../src/screens/system/checks.ts'

const READ_AT = '2026-11-23T10:00:00.000Z'
const queue = (oldest_at: string | null): System['queues'][number] => ({ name: 'mail', waiting: 1, oldest_at })
const sound: System = {
  version: '0.1.0',
  node_version: '24.12.0',
  is_production: true,
  database: { version: '17.2', is_embedded: true, is_durable: true, size_bytes: 1, tables: [] },
  migrations: { applied: 9, name: 'users', applied_at: READ_AT, expected: 9 },
  queues: [queue(null), queue('2026-11-23T09:55:01.000Z')],
  parked: 0,
  processes: [],
  disk: { free_bytes: 10, size_bytes: 100 },
  retention: [],
  read_at: READ_AT,
}
const failing = (changes: Partial<System>) =>
  checksOf({ ...sound, ...changes })
    .filter(({ passes }) => passes !== true)
    .map(({ id, passes }) => `${id} ${passes}`)

describe('the checks of a server', () => {
  test.each<[Partial<System>, string[]]>([
    [{}, []],
    [{ migrations: { ...sound.migrations, applied: 8 } }, ['schema false']],
    [{ database: { ...sound.database, is_durable: false } }, ['durable false']],
    [{ queues: [queue(null), queue('2026-11-23T09:55:00.000Z')] }, ['queues false']],
    [{ parked: 1 }, ['parked false']],
    [{ disk: { free_bytes: 9, size_bytes: 100 } }, ['disk false']],
    [{ disk: null, is_production: false }, ['disk null', 'production null']],
  ])('with %j are %j', (changes, expected) => expect(failing(changes)).toEqual(expected))
})

test.each([
  [0, '0 byte'],
  [999, '999 byte'],
  [1000, '1 kB'],
  [5_100_273_664, '5.1 GB'],
])('%d bytes are %s', (bytes, text) => expect(sizeOf('en', bytes)).toBe(text))
