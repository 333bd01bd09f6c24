import { expect, test } from 'vitest'
import { numberIn, risingNumbersIn, typedValue, typedValues } from '../src/parts/typed.ts'

test.each([
  ['', undefined],
  ['-', undefined],
  ['0.', 0],
  ['0.05', 0.05],
  ['1.50', 1.5],
  [7, 7],
])('the number in %o is %s', (typed, expected) => expect(numberIn(typed)).toBe(expected))

const ANY = { type: ['string', 'number', 'boolean'] }

test.each([
  ['1.', [], 1],
  ['-0.50', [], -0.5],
  ['.5', [], 0.5],
  ['007', [], '007'],
  ['007', ['number'], 7],
  ['0x10', [], '0x10'],
  ['true', [], true],
  ['true', ['string'], 'true'],
  ['12', ['string'], '12'],
  ['12 kg', ['number'], '12 kg'],
  ['', ['number'], ''],
])('%o for an attribute with values of %j is %o', (text, types, expected) => expect(typedValue(text, ANY, types)).toBe(expected))

test.each([
  [
    ['a', '7'],
    [7, 'a'],
    ['string', 'number'],
    ['a', 7],
  ],
  [['7', '8'], [7], ['string', 'number'], [7, '8']],
  [['7', '8'], [], ['number'], [7, 8]],
  [['true'], [true], ['string', 'boolean'], [true]],
])('the list of %o, which was %o, for an attribute with values of %j is %o', (texts, before, types, expected) =>
  expect(typedValues(texts, before, ANY, types)).toEqual(expected),
)

test.each([
  ['1000, 5000', [1000, 5000]],
  ['1000,5000', [1000, 5000]],
  ['50\n100  200', [50, 100, 200]],
  ['1.000, 5.000', [1000, 5000]],
  ['1’000, 5 000', null],
  ['1.5, 2', null],
  ['100, viele', null],
  ['', []],
  ['50, 50, 100', [50, 50, 100]],
  ['1,500, 5,000', null],
  ['100, 50', null],
])('the whole numbers in %o, which must not fall, are %o', (text, expected) => expect(risingNumbersIn(text)).toEqual(expected))
