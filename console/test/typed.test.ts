import { expect, test } from 'vitest'
import { numberIn, typedValue } from '../src/parts/typed.ts'

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
