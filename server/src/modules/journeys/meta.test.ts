import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { checkRule, RuleSchema } from '../rules/index.ts'
import { journeyMeta } from './meta.ts'
import * as kinds from './steps/index.ts'
import type { StepKind } from './steps/step.ts'

type Json = { properties?: Record<string, Json>; items?: Json }

const JOURNEYS = '/api/client/journeys'
const PATH = `${JOURNEYS}/meta`

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w[Symbol.asyncDispose]())

const { steps, settings } = journeyMeta()
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })

const put = async (map: object) => {
  const { body } = await w.post(JOURNEYS, { name: 'Welcome' })
  return w.put(`${JOURNEYS}/${body.id}/steps`, map)
}

describe('GET /journeys/meta', () => {
  test('describes every kind of step', async () => {
    const { status, body } = await w.get(PATH, { key: w.keys.support })
    expect(status).toBe(200)
    expect(body).toEqual(JSON.parse(JSON.stringify({ settings, steps })))
    expect(Object.keys(body.steps)).toEqual(Object.keys(kinds))
    expect(body.steps.delay).toMatchObject({ label: 'Wait', paths: ['default', 'past', 'missing'], waits: true })
    expect(body.steps.wait_until).toMatchObject({ paths: ['bought', 'timeout'], waits: false })
    expect(body.steps.gate).toMatchObject({
      paths: ['yes', 'no'],
      named_paths: { member: 'branches', others: ['else'], none: ['yes', 'no'] },
    })
    for (const { also } of Object.values<{ also: string[] }>(body.steps)) expect(also).not.toEqual([])
  })

  test('describes the settings of journeys, and what the schema takes is saved', async () => {
    const given = { holdout_percent: 10, goals: [{ name: 'Bought', event_name: 'purchase', within_days: 14 }], max_entries_per_day: 3 }
    expect(ajv.compile(settings)(given)).toBe(true)
    expect(ajv.compile(settings)({ holdout_percent: 101 })).toBe(false)
    const { body } = await w.post(JOURNEYS, { name: 'With goals' })
    expect(await w.patch(`${JOURNEYS}/${body.id}`, { settings: given })).toMatchObject({ status: 200, body: { settings: given } })
  })

  test('has the schema of rules wherever a step may have one', () => {
    const { examples } = RuleSchema as unknown as { examples: object[] }
    const rules = (schema: Json): Json[] =>
      Object.entries({ ...schema.properties, ...schema.items?.properties }).flatMap(([name, member]) =>
        name === 'rule' ? [member] : rules(member),
      )
    const found = Object.values(steps).flatMap(({ settings }) => rules(settings))
    expect(found).toHaveLength(5)
    for (const rule of found) expect(rule).toMatchObject({ type: 'object', title: 'Rule', examples })
  })

  test('refuses publishable keys', async () => {
    expect(await w.get(PATH, { key: w.keys.public })).toMatchObject({ status: 403, body: { error: { reason: 'not_publishable' } } })
  })

  test('contains none of our own keywords', () => {
    expect(JSON.stringify(steps)).not.toMatch(/"(trim|notBlank|problem|freeForm)"/)
  })
})

test.each(Object.entries<StepKind>(kinds))('the type %s tells the ways out that its settings can name', (type, { paths }) => {
  const { named_paths } = steps[type] ?? {}
  const named = ['branches', 'conditions'].flatMap((member) => {
    const found = paths({ [member]: [{ path: 'gold' }] }).map(({ path }) => path)
    return found.includes('gold')
      ? [{ member, others: found.filter((path) => path !== 'gold'), none: paths({}).map(({ path }) => path) }]
      : []
  })
  expect(named_paths === undefined ? [] : [named_paths]).toEqual(named)
})

describe('the example of a step', () => {
  test.each(Object.entries(steps))('of the type %s is accepted as its data', async (type, { settings, example }) => {
    expect(ajv.validate(settings, example)).toBe(true)
    expect(ajv.validate(settings, { ...example, other: 1 })).toBe(false)
    // The ids of an example are those of no project.
    const data = Object.fromEntries(Object.entries(example).filter(([name]) => !name.endsWith('_id')))
    const { status, text, body } = await put({ one: { type, x: 0, y: 0, data } })
    expect(status, text).toBe(200)
    expect(body.one.data).toEqual(data)
  })

  test.each(Object.entries(steps).filter(([, { example }]) => 'rule' in example))(
    'of the type %s has a rule that is one',
    (_, { example }) => {
      expect(checkRule(example.rule, 'rule')).toEqual([])
    },
  )

  test.each(Object.entries(steps))('of the type %s allows a loop if users wait there', async (type, { waits }) => {
    const other = { type: 'update', x: 0, y: 0, children: [{ external_id: 'one' }] }
    const { status } = await put({ one: { type, x: 0, y: 0, children: [{ external_id: 'other' }] }, other })
    expect(status).toBe(waits ? 200 : 422)
  })

  test.each(Object.entries(steps))('of the type %s is also in words', (_, { label, description, sentence, example }) => {
    expect(label).toMatch(/^[A-Z]/)
    expect(description).toMatch(/^[A-Z].*\.$/)
    expect(sentence).toMatch(/^[\da-z].*[^.]$/)
    for (const value of valuesIn(example)) expect(sentence).toContain(String(value))
  })
})

/** The names and ids in an example. Settings that are true, false, relative weights or words of our own are described otherwise. */
const valuesIn = ({ campaign_id, journey_id, event_name, rate_limit, days, hours, rate_interval }: Record<string, unknown>) =>
  [campaign_id, journey_id, event_name, rate_limit, days, hours, rate_interval].filter((value) => value !== undefined)
