import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../lib/errors.ts'
import { resolveRanges, UNITS, type Unit } from './ranges.ts'

const units = Object.keys(UNITS) as Unit[]

describe('a count', () => {
  test.each([
    [{}, { min: 2, max: 6 }],
    [{ sentenceCount: '4' }, { min: 4, max: 4 }],
    [
      { sentenceCount: '4', sentenceCountMin: '1', sentenceCountMax: '9' },
      { min: 4, max: 4 },
    ],
    [
      { sentenceCountMin: '3', sentenceCountMax: '5' },
      { min: 3, max: 5 },
    ],
    [{ sentenceCountMin: '9' }, { min: 9, max: 9 }],
    [{ sentenceCountMin: '3' }, { min: 3, max: 6 }],
    [{ sentenceCountMax: '1' }, { min: 1, max: 1 }],
    [{ sentenceCountMax: '20' }, { min: 2, max: 20 }],
  ])('of %o resolves to %o', (form, range) => expect(resolveRanges(form).sentenceCount).toEqual(range))

  test.each([
    [{}, undefined],
    [{ wordLength: '7' }, { min: 7, max: 7 }],
    [{ wordLengthMin: '7' }, { min: 7, max: 14 }],
    [{ wordLengthMax: '7' }, { min: 1, max: 7 }],
  ])('of characters of %o resolves to %o', (form, range) => expect(resolveRanges(form).wordLength).toEqual(range))

  test('with a Min above its Max is refused, with a fault for each', () => {
    const form = { lineCountMin: '3', lineCountMax: '2', wordLengthMin: '10', wordLengthMax: '9' }
    const refused = (() => {
      try {
        resolveRanges(form)
      } catch (error) {
        return error as ApiError
      }
    })()
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused?.status).toBe(422)
    expect(refused?.faults.map(({ code, param }) => [code, param])).toEqual([
      ['validation_failed', 'lineCountMin'],
      ['validation_failed', 'wordLengthMin'],
    ])
  })

  test('always resolves to a range within its limits that includes the requested values', () => {
    const asked = fc.constantFrom(...units).chain((unit) => {
      const { min, max } = UNITS[unit].limits
      const some = fc.option(fc.integer({ min, max }), { nil: undefined })
      return fc.tuple(fc.constant(unit), some, some)
    })
    fc.assert(
      fc.property(asked, ([unit, min, max]) => {
        fc.pre(min === undefined || max === undefined || min <= max)
        const form = { ...(min && { [`${unit}Min`]: `${min}` }), ...(max && { [`${unit}Max`]: `${max}` }) }
        const range = resolveRanges(form)[unit]
        if (!range) return unit === 'wordLength' && min === undefined && max === undefined
        const { limits } = UNITS[unit]
        return (
          limits.min <= range.min &&
          range.min <= range.max &&
          range.max <= limits.max &&
          (min === undefined || range.min === min) &&
          (max === undefined || range.max === max)
        )
      }),
    )
  })
})
