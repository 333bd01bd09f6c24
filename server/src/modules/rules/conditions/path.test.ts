import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { pathOf, valueAt } from '../../../lib/attribute-paths.ts'
import { pathSql, pathTextSql } from './path.ts'

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

describe('a path', () => {
  test.each<[string, string, unknown]>([
    ['data.plan', '{"plan":"pro"}', 'pro'],
    ['data.a.b', '{"a":{"b":[1]}}', [1]],
    ['data.a.b', '{"a":{"a":"other","b":"deep"}}', 'deep'],
    ['data.a\\.b', '{"a.b":1,"a":{"b":2}}', 1],
    ['data.a.b', '{"a":null}', null],
    ['data.a.b', '{"a":"b"}', null],
    ['data.a.0', '{"a":["first"]}', null],
    ['data.a.length', '{"a":["first"]}', null],
    ['data.0', '{"0":"member"}', 'member'],
    ['data.toString', '{}', null],
    ['data.__proto__', '{"__proto__":5}', 5],
    ['data.a.constructor.name', '{"a":{}}', null],
  ])('%s of %s is %j, in memory and in SQL', async (attribute, data, value) => {
    const path = pathOf(attribute) as string[]
    expect(valueAt(path)(JSON.parse(data)) ?? null).toEqual(value)
    const Value = Type.Object({ value: Type.Unsafe<unknown>({}) })
    const given = sql`(select ${data}::jsonb as data) d`
    expect(await w.db.first(Value, sql`select ${pathSql(sql`d.data`, path)} as value from ${given}`)).toEqual({ value })
    const text = await w.db.first(Value, sql`select ${pathTextSql(sql`d.data`, path)} as value from ${given}`)
    if (typeof value === 'string' || value === null) expect(text).toEqual({ value })
  })
})
