import { expect, test } from 'vitest'
import { wavesOf } from './waves.ts'

const row = (external_id?: string, anonymous_id?: string) => ({
  profile: { ...(external_id && { external_id }), ...(anonymous_id && { anonymous_id }) },
})

test.each([
  [[row('a'), row('b'), row('c')], [[0, 1, 2]]],
  [
    [row('a'), row('a'), row('b'), row('a')],
    [[0, 2], [1], [3]],
  ],
  [
    [row('a', 'v'), row(undefined, 'v'), row('a')],
    [[0], [1, 2]],
  ],
  [
    [row('a'), row('b'), row('b', 'v'), row('a', 'v')],
    [[0, 1], [2], [3]],
  ],
  [[row('v'), row(undefined, 'v')], [[0, 1]]],
  [[], []],
])('rows about the same user keep their order: %#', (rows, waves) => {
  expect(wavesOf(rows).map((wave) => wave.map((found) => rows.indexOf(found)))).toEqual(waves)
})
