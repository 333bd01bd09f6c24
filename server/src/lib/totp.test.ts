import { describe, expect, test } from 'vitest'
import { base32, codeAt, stepAt, stepOf, totpUrl } from './totp.ts'

const secret = Buffer.from('12345678901234567890')

describe('one-time codes', () => {
  // RFC 6238, appendix B, SHA-1.
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at %i seconds the code is %s', (seconds, code) => {
    expect(codeAt(secret, stepAt(new Date(seconds * 1000)), 8)).toBe(code)
  })

  test.each([
    [-31, undefined],
    [-30, 'before'],
    [0, 'now'],
    [29, 'now'],
    [30, 'after'],
    [60, undefined],
  ])('a code of a clock that is %i seconds off is accepted: %s', (seconds, expected) => {
    const now = new Date(1_700_000_010_000 - (1_700_000_010_000 % 30_000))
    const step = stepAt(now)
    const found = stepOf(secret, codeAt(secret, stepAt(new Date(now.getTime() + seconds * 1000))), now)
    const names = { [step - 1]: 'before', [step]: 'now', [step + 1]: 'after' }
    expect(found === undefined ? undefined : names[found]).toBe(expected)
  })

  test.each(['', '12345', '1234567', '12345é', 'abcdef'])('%j is no code', (code) => {
    expect(stepOf(secret, code, new Date(59_000))).toBeUndefined()
  })
})

// RFC 4648 §10.
test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('%j in base32 is %j', (text, encoded) => expect(base32(Buffer.from(text))).toBe(encoded))

test('the URL names the product and the member', () => {
  expect(totpUrl('Carillon', 'kim+a@example.com', Buffer.from('foobar'))).toBe(
    'otpauth://totp/Carillon:kim%2Ba%40example.com?secret=MZXW6YTBOI&issuer=Carillon',
  )
})
