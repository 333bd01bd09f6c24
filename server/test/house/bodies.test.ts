/** The body of every request is documented to its last member. */
import { expect, test } from 'vitest'
import { apiDescription } from '../../src/api-description/index.ts'
import type { JsonSchema, Operation } from '../../src/infra/http/openapi/types.ts'
import { VERSION } from '../../src/lib/versions.ts'
import { routes } from '../all-routes.ts'

/** Members that hold whatever their writer wants, and the reason. */
const FREE: Record<string, string> = {
  'UserUpsert.data': 'the attributes of a user are those of the project',
  'UserUpsert.^data\\.': 'an attribute of a user has any value',
  'EventInput.data': 'the attributes of an event are those of the project',
  'EventInput.user.data': 'the attributes of a user are those of the project',
  'EventInput.user.^data\\.': 'an attribute of a user has any value',
  'CampaignTriggerInput.data': 'templates read what the caller sends',
  'CampaignTestInput.data': 'templates read what the caller sends',
  'MessageInput.data': 'templates read what the caller sends',
  'MessageInput.user.data': 'the attributes of a user are those of the project',
  'MessageInput.user.^data\\.': 'an attribute of a user has any value',
  'CampaignPreviewInput.data': 'templates read what the caller sends',
  'PushTemplate.custom': 'data for the app of the project',
  'JourneyEntranceInput.data': 'steps read what the caller sends',
  'EventStep.data.event_data': 'the attributes of an event are those of the project',
  'UpdateStep.data.attributes': 'the attributes of a user are those of the project',
  'JourneySimulateInput.user.profile.data': 'the attributes of a user are those of the project',
  'JourneySimulateInput.inputs[].event.data': 'the attributes of an event are those of the project',
  'JourneySimulateInput.inputs[].profile.data': 'the attributes of a user are those of the project',
  'JourneySimulateInput.answers{}.body': 'another server answers what it wants',
}

const document = apiDescription({ routes, version: VERSION })
const nameIn = ({ $ref }: JsonSchema) => $ref?.split('/').at(-1)

/** Whether a schema says nothing of the value. `oneOf: [{ required: […] }]` is only a condition. */
function isBare({ type, properties, patternProperties, additionalProperties, oneOf, anyOf, items, ...rest }: JsonSchema): boolean {
  if (properties || patternProperties || oneOf || anyOf || 'const' in rest || rest.enum || rest.$ref) return false
  if (type === undefined) return true
  if ([type].flat().includes('array')) return items === undefined
  return [type].flat().includes('object') && typeof additionalProperties !== 'object'
}

/** The bare members of a schema, by their path from the nearest component. */
function bareIn(schema: JsonSchema, path: string, seen: Set<string>): string[] {
  const name = nameIn(schema)
  if (name !== undefined) {
    if (seen.has(name)) return []
    seen.add(name)
    return bareIn(document.components.schemas[name] ?? {}, name, seen)
  }
  const branches = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].filter((branch) => Object.keys(branch).join() !== 'required')
  return [
    ...(isBare(schema) ? [path] : []),
    ...Object.entries({ ...schema.properties, ...schema.patternProperties }).flatMap(([name, one]) => bareIn(one, `${path}.${name}`, seen)),
    ...(schema.items ? bareIn(schema.items, `${path}[]`, seen) : []),
    ...(typeof schema.additionalProperties === 'object' ? bareIn(schema.additionalProperties, `${path}{}`, seen) : []),
    ...branches.flatMap((branch) => bareIn(branch, path, seen)),
  ]
}

const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods) as Operation[])
const seen = new Set<string>()
const bare = operations.flatMap(({ operationId, requestBody }) =>
  Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => bareIn(schema, operationId, seen)),
)

test('no member of a request is without a schema, except those that are free', () => {
  expect(bare.filter((path) => !Object.hasOwn(FREE, path))).toEqual([])
})

test('every exception is needed', () => {
  expect(Object.keys(FREE).filter((path) => !bare.includes(path))).toEqual([])
})

test.each([
  ['the content of templates', 'CampaignTemplateInput', 'oneOf'],
  ['the steps of journeys', 'JourneyStepInput', 'oneOf'],
  ['rules', 'Rule', 'oneOf'],
  ['providers with their settings', 'ProviderInput', 'oneOf'],
  ['the proof of a consent', 'ConsentProof', 'oneOf'],
] as const)('%s are a choice of schemas', (_, name, word) => {
  expect(document.components.schemas[name]?.[word]?.length).toBeGreaterThan(3)
})
