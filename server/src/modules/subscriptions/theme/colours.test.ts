import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contrast, textOn } from './colours.ts'

describe('colours', () => {
  test.each([
    ['#ffffff', '#000000', 21],
    ['#ffffff', '#ffffff', 1],
    ['#767676', '#ffffff', 4.54],
    ['#0000ff', '#ffffff', 8.59],
  ])('%s and %s have a contrast of %d', (a, b, expected) => {
    expect(contrast(a, b)).toBeCloseTo(expected, 2)
    expect(contrast(b, a)).toBeCloseTo(expected, 2)
  })

  test.each([
    ['#1f4fd8', '#ffffff'],
    ['#ffd400', '#000000'],
    ['#FFD400', '#000000'],
    ['#ffffff', '#000000'],
    ['#000000', '#ffffff'],
  ])('on %s text is %s', (colour, expected) => expect(textOn(colour)).toBe(expected))

  test('text has sufficient contrast on every colour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
        const colour = `#${number.toString(16).padStart(6, '0')}`
        expect(contrast(colour, textOn(colour))).toBeGreaterThanOrEqual(4.5)
      }),
    )
  })
})
