import { describe, expect, test } from 'vitest'
import { checkMobile } from './phone-mobile.ts'

const invalid = { isValid: false, countryIso2: null, countryIso3: null, countryCode: null }
const valid = (phoneNumber: string, countryIso2: string, countryIso3: string, countryCode: string) => ({
  isValid: true,
  phoneNumber,
  countryIso2,
  countryIso3,
  countryCode,
})

describe('a phone number', () => {
  test.each([
    ['+61412345678', valid('+61412345678', 'AU', 'AUS', '+61')],
    ['+61 (412) 345-678', valid('+61412345678', 'AU', 'AUS', '+61')],
    [' 61412345678', valid('+61412345678', 'AU', 'AUS', '+61')],
    ['4155552671', valid('+14155552671', 'US', 'USA', '+1')],
    ['+447911123456', valid('+447911123456', 'GB', 'GBR', '+44')],
  ])('%s is a mobile', (text, answer) => expect(checkMobile(text)).toEqual(answer))

  test.each(['+61291234567', '+442079460958', '0412345678', '61412345678', '  61412345678', '1', '+1'])('%s is not a mobile', (text) => {
    expect(checkMobile(text)).toStrictEqual(invalid)
  })
})
