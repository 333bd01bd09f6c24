import { describe, expect, test } from 'vitest'
import { echoSeed, numericSeed } from './seed.ts'

describe('a seed', () => {
  test.each([
    ['0', 0],
    ['12345', 12345],
    ['4294967295', 4294967295],
    ['abc', 3128432319],
    ['launch-demo', 90679808],
    ['007', 1654607097],
    ['-5', 933895375],
    ['4294967296', 1813816320],
  ])('%s becomes the number %i', (seed, number) => expect(numericSeed(seed)).toBe(number))

  test('gives different numbers for different words', () => {
    expect(new Set(['abc', 'xyz', 'abd', ' ', '42 '].map(numericSeed)).size).toBe(5)
  })

  test.each([
    ['12345', 12345],
    ['0', 0],
    ['007', '007'],
    ['4294967296', '4294967296'],
    ['abc', 'abc'],
  ])('%s is returned as %o', (seed, echo) => expect(echoSeed(seed)).toBe(echo))
})
