import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rules } from '../../../test/arbitrary-rules.ts'
import { type World, world } from '../../../test/world.ts'
import { checkRule } from './check.ts'
import { compileRule } from './compile.ts'
import * as conditions from './conditions/index.ts'
import { describeRule } from './describe.ts'
import { type RuleMeta, ruleMeta } from './meta.ts'
import { conditionsOf, GROUPS, KIND_NAMES } from './nodes.ts'
import * as operators from './operators/index.ts'
import type { Rule } from './rule.ts'

const PATH = '/api/client/rules/meta'

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

const meta = ruleMeta()
const nameless = { list: () => undefined, subscription: () => undefined, campaign: () => undefined, journey: () => undefined }

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
const accepts = (schema: object, value: unknown) => ajv.validate(schema, value)

describe('GET /rules/meta', () => {
  test('describes every kind that is registered', async () => {
    const { status, body } = await w.get(PATH, { key: w.keys.support })
    expect(status).toBe(200)
    expect(body).toEqual(JSON.parse(JSON.stringify(meta)))
    expect(Object.keys(body.conditions)).toEqual(Object.keys(conditions))
    expect(Object.keys(body.operators)).toEqual(Object.keys(operators))
    expect(Object.keys(body.groups)).toEqual([...GROUPS])
  })

  test('refuses publishable keys', async () => {
    expect(await w.get(PATH, { key: w.keys.public })).toMatchObject({ status: 403, body: { error: { reason: 'not_publishable' } } })
  })

  test('contains none of our own keywords', () => {
    expect(JSON.stringify(meta)).not.toMatch(/"(trim|notBlank|problem|exactlyOne|freeForm)"/)
  })
})

describe('the example of', () => {
  test.each([...Object.entries(meta.groups), ...Object.entries(meta.conditions)])('%s is a rule', (name, { schema, example, sentence }) => {
    expect(example).toHaveProperty(name)
    expect(checkRule(example, 'rule')).toEqual([])
    expect(compileRule(example as Rule).conditions).not.toEqual([])
    expect(sentence).toBe(describeRule(example as Rule, nameless))
    expect(accepts(schema, example)).toBe(true)
    expect(accepts(schema, { ...(example as object), other: 1 })).toBe(false)
  })

  test.each([...Object.entries(meta.groups), ...Object.entries(meta.conditions)])('%s can be the rule of a list', async (name, part) => {
    const rule = { ...(part.example as object), ...(await referenceTo(name)) }
    const { status, text, body } = await w.post('/api/client/lists', { name, type: 'dynamic', rule })
    expect(status, text).toBe(201)
    expect(body.rule).toEqual(rule)
    const saved = await w.patch(`/api/client/lists/${body.id}`, { rule: { not: rule } })
    expect(saved.status, saved.text).toBe(200)
  })

  test.each(Object.entries(meta.operators))('the operator %s is an argument', (name, { argument, example, sentence }) => {
    const rule = { attribute: 'data.plan', [name]: example }
    expect(checkRule(rule, 'rule')).toEqual([])
    expect(describeRule(rule, nameless)).toBe(`plan ${sentence}`)
    expect(accepts(argument, example)).toBe(true)
    expect(accepts(argument, { other: 1 })).toBe(false)
  })

  /** A member with an id that exists, for conditions that refer to something. */
  async function referenceTo(name: string): Promise<object> {
    const { id } = (await w.get('/api/client/subscriptions')).body.results[0]
    if (name === 'subscription') return { subscription: id }
    if (name === 'list') return { list: (await w.post('/api/client/lists', { name: 'Testers', type: 'static' })).body.id }
    if (name === 'journey') {
      const { body } = await w.post('/api/client/journeys', { name: 'Welcome' })
      await w.put(`/api/client/journeys/${body.id}/steps`, { end: { type: 'exit', x: 0, y: 0 } })
      return { journey: body.id }
    }
    if (name !== 'campaign') return {}
    const { body } = await w.post('/api/client/campaigns', { type: 'trigger', name: 'Spring', subscription_id: id })
    return { campaign: body.id }
  }
})

describe('what is described is what the check does', () => {
  test.each(Object.entries(meta.attributes))('%s accepts the operators of its type', (attribute, { type }) => {
    const refused = Object.entries(meta.operators).filter(([name, { example }]) =>
      checkRule({ attribute, [name]: example }, 'rule').some(({ message }) => message.includes('cannot compare')),
    )
    expect(refused.map(([name]) => name)).toEqual(
      Object.entries(meta.operators).flatMap(([name, { types }]) => (types.includes(type) ? [] : [name])),
    )
    expect(refused.length).toBeLessThan(Object.keys(operators).length)
  })

  test.each<[string, object, boolean]>([
    ['attribute', { attribute: 'data.plan' }, false],
    ['attribute', { attribute: 'data.plan', is: 'pro', is_set: true }, false],
    ['bucket', { bucket: 'seed' }, false],
    ['bucket', { bucket: 'seed', at_least: 1, at_most: 9 }, false],
    ['bucket', { bucket: 'seed', starts_with: '1' }, false],
    ['device', { device: 'os' }, false],
    ['device', { device: 'colour', is: 'red' }, false],
    ['event', { event: 'purchase' }, true],
    ['event', { event: 'purchase', first: { before: '2026-01-01' } }, true],
    ['event', { event: 'purchase', first: {} }, false],
    ['event', { event: 'purchase', first: { before: '2026-01-01', after: '2025-01-01' } }, false],
    ['event', { event: 'purchase', where: [{ attribute: 'data.total' }] }, false],
    ['event', { event: 'purchase', within: '30 days' }, false],
  ])('of %s, the schema and the check agree about %j', (kind, condition, accepted) => {
    expect(accepts(meta.conditions[kind]?.schema as object, condition)).toBe(accepted)
    expect(checkRule(condition, 'rule').length === 0).toBe(accepted)
  })

  test('the schemas accept every condition that the check accepts', () => {
    const ids = { lists: [12], subscriptions: [4], campaigns: [9] }
    fc.assert(
      fc.property(rules(w.clock.now().getTime(), ids), (rule) => {
        fc.pre(checkRule(rule, 'rule').length === 0)
        for (const { condition } of conditionsOf(rule as Rule)) {
          const kind = KIND_NAMES.find((name) => Object.hasOwn(condition, name)) as string
          expect(accepts(meta.conditions[kind]?.schema as object, condition), JSON.stringify(condition)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('the limits are those that are enforced', () => {
    const leaf = meta.conditions.list?.example
    const nested = (levels: number): unknown => (levels === 0 ? leaf : { not: nested(levels - 1) })
    const wide = (count: number) => ({ any: Array.from({ length: count }, () => leaf) })
    const { levels, conditions } = meta.limits
    const { schema } = meta.groups.any as RuleMeta['groups'][string]
    const rules = (schema as { properties: { any: { maxItems: number } } }).properties.any.maxItems
    expect([checkRule(nested(levels), 'rule').length, checkRule(nested(levels + 1), 'rule').length]).toEqual([0, 1])
    expect([checkRule(wide(rules), 'rule').length, checkRule(wide(rules + 1), 'rule').length]).toEqual([0, 1])
    const full = Array.from({ length: conditions / rules }, () => wide(rules))
    expect(checkRule({ all: full }, 'rule')).toEqual([])
    expect(checkRule({ all: [...full, leaf] }, 'rule')).toHaveLength(1)
  })
})
