import { expect, test } from 'vitest'
import { slowWithMany } from '../../../test/house/adversarial.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { linkFaults } from './publishable.ts'
import type { Step } from './schema.ts'

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('a graph with many links to its own journey is checked in linear time', () => {
  const step = (external_id: string, type: string, data: object, ...to: string[]) =>
    ({ external_id, type, data, children: to.map((external_id) => ({ external_id })) }) as unknown as Step
  const ENTRANCES = 10
  const workOf = (count: number) => {
    const links = times(count).map((at) => step(`link-${at}`, 'link', { journey_id: 1 }))
    const entrances = times(ENTRANCES).map((at) => step(`entrance-${at}`, 'entrance', {}, ...links.map(({ external_id }) => external_id)))
    return () => expect(linkFaults(1 as JourneyId, [...entrances, ...links], () => [])).toHaveLength(count)
  }
  expect(slowWithMany(workOf, 16_384)).toBeNull()
})
