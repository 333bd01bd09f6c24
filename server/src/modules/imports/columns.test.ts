import { describe, expect, test } from 'vitest'
import { columnsOf, targetOf } from './columns.ts'

describe('columns', () => {
  test.each([
    [['external_id', 'email', 'plan'], {}, ['external_id', 'email', 'data.plan']],
    [[' External_ID ', 'EMAIL', 'Plan'], {}, ['external_id', 'email', 'data.Plan']],
    [['external_id', 'data.age:number', 'a:b'], {}, ['external_id', 'data.age:number', 'data.a:b']],
    [['external_id', 'data.address.city', 'inc. GST', 'a\\b'], {}, ['external_id', 'data.address.city', 'data.inc\\. GST', 'data.a\\\\b']],
    [['email', 'Joined'], { Joined: 'data.joined:date(dmy)' }, ['email', 'data.joined:date(dmy)']],
    [['line', 'code', 'message', 'phone', "'=sum"], {}, [null, null, null, 'phone', 'data.=sum']],
    [['line', 'code', 'message', 'phone', 'line'], { line: 'external_id' }, [null, null, null, 'phone', 'external_id']],
    [['line', 'code', 'message', 'phone'], { line: 'external_id' }, ['external_id', 'data.code', 'data.message', 'phone']],
    [['no', 'notes', ''], { no: 'external_id', notes: null }, ['external_id', null, null]],
    [['id', 'email'], { id: 'anonymous_id', email: 'data.old_email' }, ['anonymous_id', 'data.old_email']],
    [['', 'external_id', ''], {}, [null, 'external_id', null]],
    [['external_id', '__proto__', 'constructor'], {}, ['external_id', 'data.__proto__', 'data.constructor']],
  ])('headers %j with mapping %j give the fields %j', (headers, mapping, fields) => {
    const found = columnsOf(headers, mapping)
    expect('columns' in found ? found.columns.map(({ field }) => field) : found.faults).toEqual(fields)
  })

  test.each([
    [['external_id', 'email', 'email'], {}, 'body', 'Two columns have the header `email`'],
    [['external_id', 'a\0b'], {}, 'body', 'U+0000'],
    [['external_id', ...Array.from({ length: 500 }, (_, index) => `c${index}`)], {}, 'body', 'at most 500 columns'],
    [['external_id', 'x'.repeat(256)], {}, 'body', 'Rename the column'],
    [['external_id', 'plan', 'data.plan'], {}, 'body', 'Two columns are mapped to `data.plan`'],
    [['external_id', 'a', 'b'], { a: 'data.x', b: 'data.x:number' }, 'mapping', 'Two columns are mapped to `data.x`'],
    [['external_id'], { missing: 'email' }, 'mapping', 'no column `missing`'],
    [['external_id', 'name'], { name: 'user.name' }, 'mapping', 'must be one of `external_id`'],
    [['external_id', 'name'], { name: 'data.' }, 'mapping', 'must be one of `external_id`'],
    [['external_id', 'data.a.b', 'data.a'], {}, 'body', 'mapped to `data.a` and another to `data.a.b`'],
    [['external_id', 'data.a..b'], {}, 'body', 'Rename the column'],
    [['external_id', 'a'], { a: 'data.a:date(dym)' }, 'mapping', '`:date(dmy)`'],
    [['locale', 'plan'], {}, 'mapping', 'No column is mapped to'],
    [['external_id', 'plan'], { external_id: null }, 'mapping', 'No column is mapped to'],
  ])('headers %j with mapping %j are refused', (headers, mapping, param, message) => {
    expect(columnsOf(headers, mapping)).toEqual({
      faults: [{ code: 'validation_failed', param, message: expect.stringContaining(message) }],
    })
  })
})

test.each([
  ['email', { profile: 'email' }],
  ['data.plan', { path: 'data.plan', keys: ['plan'], conversion: 'text' }],
  ['data.age:number', { path: 'data.age', keys: ['age'], conversion: { type: 'number', format: '' } }],
  ['data.since:date(mdy)', { path: 'data.since', keys: ['since'], conversion: { type: 'date', format: 'mdy' } }],
  ['data.utm:source', { path: 'data.utm:source', keys: ['utm:source'], conversion: 'text' }],
  ['data.address.city', { path: 'data.address.city', keys: ['address', 'city'], conversion: 'text' }],
  ['data.a\\.b\\c', { path: 'data.a\\.b\\\\c', keys: ['a.b\\c'], conversion: 'text' }],
  ['data.age:number(roman)', undefined],
  ['data.:number', undefined],
  ['Email', undefined],
  ['plan', undefined],
])('the target of %s is %j', (field, target) => expect(targetOf(field)).toEqual(target))
