import { describe, expect, test } from 'vitest'
import { rowReader } from './items.ts'

const read = (fields: (string | null)[], cells: string[]) => rowReader(fields.map((field) => ({ header: field ?? '', field })))(cells)

describe('a row', () => {
  test.each([
    [['external_id', 'email'], ['kim', ' kim@example.com '], { external_id: 'kim', email: 'kim@example.com' }],
    [['external_id', 'email', 'data.plan'], ['kim', '', '  '], { external_id: 'kim' }],
    [['external_id', null], ['kim', 'whatever'], { external_id: 'kim' }],
    [['anonymous_id', 'locale'], ['v1', 'en_AU'], { anonymous_id: 'v1', locale: 'en-AU' }],
    [['external_id', 'data.zip'], ['kim', '02000'], { external_id: 'kim', data: { zip: '02000' } }],
    [['external_id', 'data.note'], ['kim', ' two words '], { external_id: 'kim', data: { note: ' two words ' } }],
    [['external_id', 'data.age:number'], ['kim', ' -1.5e3 '], { external_id: 'kim', data: { age: -1500 } }],
    [['external_id', 'data.vip:boolean'], ['kim', 'Yes'], { external_id: 'kim', data: { vip: true } }],
    [['external_id', 'data.vip:boolean'], ['kim', '0'], { external_id: 'kim', data: { vip: false } }],
    [['external_id', 'data.since:date'], ['kim', '2026-02-28'], { external_id: 'kim', data: { since: '2026-02-28' } }],
    [['external_id', 'anonymous_id'], ['\u00a0kim\t', ' v1 '], { external_id: 'kim', anonymous_id: 'v1' }],
    [['external_id', 'email', 'data.plan'], ['kim'], { external_id: 'kim' }],
    [['external_id', 'data.plan'], ['kim', 'pro', '', ' '], { external_id: 'kim', data: { plan: 'pro' } }],
    [['external_id', 'data.address.city'], ['kim', 'Hobart'], { external_id: 'kim', paths: { 'data.address.city': 'Hobart' } }],
    [['external_id', 'data.a\\.b'], ['kim', 'x'], { external_id: 'kim', data: { 'a.b': 'x' } }],
    [['external_id', 'data.total:number(comma)'], ['kim', '1.234,50'], { external_id: 'kim', data: { total: 1234.5 } }],
    [['external_id', 'email'], ['', 'x@example.com'], { email: 'x@example.com' }],
    [['phone'], [' +61412345678 '], { phone: '+61412345678' }],
  ])('of the columns %j with the cells %j becomes %j', (fields, cells, profile) => expect(read(fields, cells)).toEqual({ profile }))

  test('can set an attribute named __proto__', () => {
    const row = read(['external_id', 'data.__proto__'], ['kim', 'x'])
    const { data } = 'profile' in row ? row.profile : {}
    expect(Object.entries(data ?? {})).toEqual([['__proto__', 'x']])
  })

  test.each([
    [['external_id', 'email'], ['kim', 'x@example.com', 'x'], 'validation_failed', 'The row has 3 cells, but the header has 2.'],
    [['external_id', 'email', 'data.a'], ['', '', 'x'], 'resource_missing', 'Fill in its `external_id` or `anonymous_id`'],
    [['external_id', 'email'], ['kim', 'nowhere'], 'parameter_invalid_format', '`email` is not a valid email address'],
    [['external_id', 'timezone'], ['kim', 'Mars'], 'parameter_invalid_format', '`timezone` is not a time zone'],
    [['external_id'], ['x'.repeat(256)], 'validation_failed', 'at most 255 characters'],
    [['external_id', 'data.note'], ['kim', 'a\0b'], 'parameter_invalid_format', 'U+0000'],
    [['external_id', 'data.age:number'], ['kim', '1,5'], 'parameter_invalid_format', '`data.age` is not a number'],
    [['external_id', 'data.age:number'], ['kim', '1e999'], 'parameter_invalid_format', '`data.age` is not a number'],
    [['external_id', 'data.age:number'], ['kim', '0x10'], 'parameter_invalid_format', '`data.age` is not a number'],
    [['external_id', 'data.vip:boolean'], ['kim', 'maybe'], 'parameter_invalid_format', '`data.vip` is not a boolean'],
    [['external_id', 'data.since:date'], ['kim', '2026-02-30'], 'parameter_invalid_format', '`data.since` is not a date'],
  ])('of the columns %j with the cells %j is refused', (fields, cells, code, message) => {
    expect(read(fields, cells)).toEqual({ faults: [expect.objectContaining({ code, message: expect.stringContaining(message) })] })
  })
})
