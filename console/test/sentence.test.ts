import { expect, test } from 'vitest'
import { partsOf } from '../src/parts/sentence-parts.ts'

test.each([
  ['Sent to `kim` at 2026-11-23T10:00:00.000Z.', ['Sent to ', ['name', 'kim'], ' at ', ['instant', '2026-11-23T10:00:00.000Z'], '.']],
  ['`name` is missing', [['name', 'name'], ' is missing']],
  ['2026-11-23T10:00:00Z', [['instant', '2026-11-23T10:00:00Z']]],
  ['On 2026-11-23 nothing was sent: `open', ['On 2026-11-23 nothing was sent: `open']],
  ['``', ['``']],
  ['', []],
])('%j has these parts', (sentence, parts) => {
  expect(partsOf(sentence).map(({ kind, text }) => (kind === 'words' ? text : [kind, text]))).toEqual(parts)
})
