import { expect, test } from 'vitest'
import { simulatedBy } from './simulator.ts'

test.each([
  ['bounce@simulator.carillon.example', 'bounce'],
  ['Bounce+ana@Simulator.Carillon.Example', 'bounce'],
  ['complaint@simulator.carillon.example', 'complaint'],
  ['deferred+1@simulator.carillon.example', 'deferred'],
  ['slow@simulator.carillon.example', 'slow'],
  ['ana@simulator.carillon.example', 'delivered'],
  ['bounce@carillon.example', null],
  ['bounce@simulator.carillon.example.org', null],
  ['bounce@simulator.carillon.example@example.com', null],
])('%s acts out %s', (address, expected) => expect(simulatedBy(address)).toBe(expected))
