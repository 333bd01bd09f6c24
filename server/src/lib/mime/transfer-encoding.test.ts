import { describe, expect, test } from 'vitest'
import { encodeText, quotedPrintable } from './transfer-encoding.ts'

describe('the encoding suits the text', () => {
  test.each<[string, string, string]>([
    ['ASCII', 'Hello\nKim', '7bit'],
    ['ASCII in a line of 998', 'x'.repeat(998), '7bit'],
    ['ASCII in a line of 999', 'x'.repeat(999), 'quoted-printable'],
    ['a trailing space, which relays may remove', 'Hello \nKim', 'quoted-printable'],
    ['From at the start of a line, which mailboxes mark', 'Hello\nFrom here', 'quoted-printable'],
    ['a NUL', 'seven\u0000letters', 'quoted-printable'],
    ['some umlauts', 'Grüße aus dem schönen Lausanne an alle, die dies lesen', 'quoted-printable'],
    ['Japanese', '日本語のメール', 'base64'],
  ])('%s', (_, text, encoding) => {
    expect(encodeText(text).encoding).toBe(encoding)
  })
})

describe('quoted-printable', () => {
  test.each<[string, string, string]>([
    ['plain', 'Hello = Kim', 'Hello =3D Kim'],
    ['bytes above ASCII', 'ü', '=C3=BC'],
    ['a space and a tab at the end of a line', 'a \r\nb\t', 'a=20\r\nb=09'],
    ['a line of 76 needs no break', 'x'.repeat(76), 'x'.repeat(76)],
    ['a line of 77 does', 'x'.repeat(77), `${'x'.repeat(75)}=\r\nxx`],
    ['no break within an escape', `${'x'.repeat(74)}üx`, `${'x'.repeat(74)}=\r\n=C3=BCx`],
    ['an escape that fills the line', `${'x'.repeat(73)}=`, `${'x'.repeat(73)}=3D`],
    ['From at the start', 'From here\r\nFrom', '=46rom here\r\nFrom'],
  ])('%s', (_, text, expected) => {
    expect(quotedPrintable(Buffer.from(text))).toBe(expected)
  })

  test('no line is longer than 76', () => {
    const encoded = quotedPrintable(Buffer.from('Grüße = an alle '.repeat(500)))
    expect(Math.max(...encoded.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(76)
  })
})
