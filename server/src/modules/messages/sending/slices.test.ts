import { expect, test } from 'vitest'
import { createSliceSizes, slicesOf } from './slices.ts'

const lengths = (sizes: ReturnType<typeof createSliceSizes>, count: number, template = 1) =>
  [
    ...slicesOf(
      Array.from({ length: count }, () => template),
      sizes,
      (id) => id,
    ),
  ].map(({ length }) => length)

test('a slice has a hundred messages, and ten of a template that was not rendered before', () => {
  const sizes = createSliceSizes()
  expect(lengths(sizes, 25)).toEqual([10, 10, 5])
  sizes.record(1, 30_000)
  expect(lengths(sizes, 250)).toEqual([100, 100, 50])
  expect(lengths(sizes, 20, 2)).toEqual([10, 10])
})

test('a slice takes eight megabytes at most, and one message if that alone is larger', () => {
  const sizes = createSliceSizes()
  sizes.record(1, 500_000)
  expect(lengths(sizes, 40)).toEqual([16, 16, 8])
  sizes.record(1, 9_000_000)
  expect(lengths(sizes, 3)).toEqual([1, 1, 1])
})

test('slices grow again when the messages are smaller', () => {
  const sizes = createSliceSizes()
  sizes.record(1, 4_000_000)
  for (let time = 0; time < 60; time++) sizes.record(1, 20_000)
  expect(lengths(sizes, 100)).toEqual([100])
})

test('each slice knows what the ones before took', () => {
  const sizes = createSliceSizes()
  const slices = slicesOf(
    Array.from({ length: 300 }, () => 1),
    sizes,
    (id) => id,
  )
  expect(slices.next().value).toHaveLength(10)
  sizes.record(1, 800_000)
  expect(slices.next().value).toHaveLength(10)
  sizes.record(1, 1_600_000)
  expect(slices.next().value).toHaveLength(5)
})
