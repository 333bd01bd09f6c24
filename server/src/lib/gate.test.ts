import { expect, test } from 'vitest'
import { createGate } from './gate.ts'

test('a gate runs so many calls at a time, the others in order, and goes on after one that fails', async () => {
  const gate = createGate(2)
  const began: number[] = []
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const calls = ends.map(({ promise }, index) =>
    gate(async () => {
      began.push(index)
      await promise
      return index
    }),
  )
  await Promise.resolve()
  expect(began).toEqual([0, 1])
  ends[1]?.reject(new Error('failed'))
  await expect(calls[1]).rejects.toThrow('failed')
  await expect.poll(() => began).toEqual([0, 1, 2])
  for (const { resolve } of ends) resolve()
  expect(await Promise.all([calls[0], calls[2], calls[3]])).toEqual([0, 2, 3])
  expect(began).toEqual([0, 1, 2, 3])
})
