import type { TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { checker } from '../../lib/validate.ts'
import { CommerceForm, ContactForm, FoodForm, LoremForm, PhoneForm, SentimentForm, SpfForm, TcpForm } from './schema.ts'

const faults = (schema: TSchema, form: Record<string, string>) => checker(schema)(form).faults.map(({ code, param }) => `${param} ${code}`)
const EMPTY = 'parameter_invalid_empty'
const FORMAT = 'parameter_invalid_format'
const RANGE = 'validation_failed'

describe('a generator form', () => {
  test.each([
    ['1', []],
    ['100', []],
    ['0', [RANGE]],
    ['101', [RANGE]],
    ['999999', [RANGE]],
    ['', [EMPTY]],
    [' ', [EMPTY]],
    ['007', [FORMAT]],
    ['+5', [FORMAT]],
    ['5.0', [FORMAT]],
    ['5e1', [FORMAT]],
    ['0x10', [FORMAT]],
    [' 5', [FORMAT]],
    ['five', [FORMAT]],
    ['٥', [FORMAT]],
  ])('with count=%o gets %o', (count, codes) => expect(faults(ContactForm, { count })).toEqual(codes.map((code) => `count ${code}`)))

  test.each([
    [{ locale: 'PT-br' }, []],
    [{ locale: ' en ' }, []],
    [{ locale: 'xx' }, [`locale ${FORMAT}`]],
    [{ locale: 'base' }, [`locale ${FORMAT}`]],
    [{ locale: '' }, [`locale ${EMPTY}`]],
    [{ seed: 'x'.repeat(255) }, []],
    [{ seed: '😀'.repeat(255) }, []],
    [{ seed: 'x'.repeat(256) }, [`seed ${RANGE}`]],
    [{ seed: ' ' }, []],
    [{ seed: '' }, [`seed ${EMPTY}`]],
    [{ method: 'profile' }, ['method parameter_unknown']],
    [{ count: '0', locale: 'xx' }, [`count ${RANGE}`, `locale ${FORMAT}`]],
  ])('%o gets %o', (form, expected) => expect(faults(ContactForm, form)).toEqual(expected))

  test('lists every locale in the message about an unknown one, within 500 characters', () => {
    const [fault] = checker(FoodForm)({ locale: 'xx' }).faults
    expect(fault?.message).toMatch(/must be one of af_ZA, ar, .* zu_ZA\.$/)
    expect(fault?.message.length).toBeLessThanOrEqual(500)
  })

  test.each([
    [LoremForm, { method: 'words', wordCount: '50', separator: '', strategy: 'any-length' }, []],
    [LoremForm, { method: 'Words' }, [`method ${FORMAT}`]],
    [LoremForm, { method: '' }, [`method ${EMPTY}`]],
    [LoremForm, { wordCount: '51' }, [`wordCount ${RANGE}`]],
    [LoremForm, { wordLengthMax: '15' }, [`wordLengthMax ${RANGE}`]],
    [LoremForm, { lineCount: '21' }, [`lineCount ${RANGE}`]],
    [LoremForm, { sentenceCountMin: '0' }, [`sentenceCountMin ${RANGE}`]],
    [LoremForm, { paragraphCount: '6' }, [`paragraphCount ${RANGE}`]],
    [LoremForm, { paragraphCount: '' }, [`paragraphCount ${EMPTY}`]],
    [LoremForm, { strategy: 'any' }, [`strategy ${FORMAT}`]],
    [LoremForm, { separator: '😀'.repeat(16) }, []],
    [LoremForm, { separator: 'x'.repeat(17) }, [`separator ${RANGE}`]],
    [LoremForm, { priceMin: '1' }, ['priceMin parameter_unknown']],
    [CommerceForm, { priceMin: '-.5', priceMax: '+1e3' }, [`priceMax ${FORMAT}`]],
    [CommerceForm, { priceMin: '-1000000000000', priceMax: '1000000000000' }, []],
    [CommerceForm, { priceMax: '1000000000001' }, [`priceMax ${RANGE}`]],
    [CommerceForm, { priceMax: '9'.repeat(400) }, [`priceMax ${RANGE}`]],
    [CommerceForm, { priceMax: '5.' }, [`priceMax ${FORMAT}`]],
    [CommerceForm, { priceMax: '1,5' }, [`priceMax ${FORMAT}`]],
    [CommerceForm, { priceMax: 'NaN' }, [`priceMax ${FORMAT}`]],
    [CommerceForm, { priceDecimalPlaces: '0', priceSymbol: '' }, []],
    [CommerceForm, { priceDecimalPlaces: '11' }, [`priceDecimalPlaces ${RANGE}`]],
    [CommerceForm, { priceSymbol: '😀'.repeat(8) }, []],
    [CommerceForm, { priceSymbol: '123456789' }, [`priceSymbol ${RANGE}`]],
    [CommerceForm, { isbnVariant: '11' }, [`isbnVariant ${FORMAT}`]],
    [CommerceForm, { isbnSeparator: '' }, []],
    [CommerceForm, { isbnSeparator: ' ~' }, []],
    [CommerceForm, { isbnSeparator: '----' }, [`isbnSeparator ${RANGE}`]],
    [CommerceForm, { isbnSeparator: '–' }, [`isbnSeparator ${FORMAT}`]],
    [FoodForm, { method: 'dish' }, []],
  ])('%# gets its faults', (schema, form, expected) => expect(faults(schema, form as Record<string, string>)).toEqual(expected))
})

describe('the form of', () => {
  test.each([
    ['good', []],
    ['...', []],
    ['', [`text ${EMPTY}`]],
    [' \u00a0\n', [`text ${EMPTY}`]],
    ['😀'.repeat(100_000), []],
    ['x'.repeat(100_001), [`text ${RANGE}`]],
  ])('a sentiment, %#', (text, expected) => expect(faults(SentimentForm, { text })).toEqual(expected))

  test.each([
    ['+61 (412) 345-678', []],
    [' 61412345678', []],
    ['1'.repeat(32), []],
    ['1'.repeat(33), [`phone ${FORMAT}`]],
    ['', [`phone ${EMPTY}`]],
    ['  ', [`phone ${EMPTY}`]],
    ['+', [`phone ${FORMAT}`]],
    ['()', [`phone ${FORMAT}`]],
    ['  +61412345678', [`phone ${FORMAT}`]],
    ['++61412345678', [`phone ${FORMAT}`]],
    ['0412.345.678', [`phone ${FORMAT}`]],
    ['call me', [`phone ${FORMAT}`]],
  ])('a phone, %o, gets %o', (phone, expected) => expect(faults(PhoneForm, { phone })).toEqual(expected))

  test.each([
    ['example.com', []],
    [' Example.COM. ', []],
    ['_dmarc.example.com', []],
    ['exämple.com', []],
    ['localhost', [`domain ${FORMAT}`]],
    ['192.0.2.1', [`domain ${FORMAT}`]],
    ['kim@example.com', [`domain ${FORMAT}`]],
    ['https://example.com', [`domain ${FORMAT}`]],
    ['', [`domain ${EMPTY}`]],
  ])('an SPF look-up, %o, gets %o', (domain, expected) => expect(faults(SpfForm, { domain })).toEqual(expected))

  test.each([
    [{ domain_ip: 'localhost', port: '22' }, []],
    [{ domain_ip: '127.0.0.1', port: '1' }, []],
    [{ domain_ip: '[::1]', port: '65535' }, []],
    [{ domain_ip: '::1', port: '80' }, []],
    [{ domain_ip: '127.1', port: '80' }, [`domain_ip ${FORMAT}`]],
    [{ domain_ip: '2130706433', port: '80' }, [`domain_ip ${FORMAT}`]],
    [{ domain_ip: 'fe80::1%eth0', port: '80' }, [`domain_ip ${FORMAT}`]],
    [{ domain_ip: 'x', port: '0' }, [`port ${RANGE}`]],
    [{ domain_ip: 'x', port: '65536' }, [`port ${RANGE}`]],
    [{ domain_ip: 'x', port: 'abc' }, [`port ${FORMAT}`]],
    [{ domain_ip: 'x', port: '+22' }, [`port ${FORMAT}`]],
    [{ domain_ip: 'x', port: '022' }, [`port ${FORMAT}`]],
    [{ domain_ip: 'x', port: '22.0' }, [`port ${FORMAT}`]],
    [{ domain_ip: 'x' }, ['port parameter_missing']],
    [{}, ['domain_ip parameter_missing', 'port parameter_missing']],
  ])('a TCP check, %o, gets %o', (form, expected) => expect(faults(TcpForm, form as Record<string, string>)).toEqual(expected))
})
