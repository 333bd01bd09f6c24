import { expect, test } from 'vitest'
import { withGone } from '../src/parts/gone.ts'

const label = (id: number) => `List ${id} (archived)`
const summer = { value: '1', label: 'Summer' }

test.each([
  ['what is there stays as it is', [1], [summer]],
  ['what is gone can be removed', [1, 7, 7], [summer, { value: '7', label: 'List 7 (archived)' }]],
  ['nothing is chosen', [], [summer]],
])('%s', (_, chosen, options) => {
  expect(withGone([summer], chosen, label)).toEqual(options)
})
