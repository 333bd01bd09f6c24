import { describe, expect, test } from 'vitest'
import { fromAddress, type Head, is8Bit, isUtf8Head, onlyValue, preparedMail, readHead } from './head.ts'

const headOf = (...lines: string[]) => {
  const head = readHead(Buffer.from(`${lines.join('\r\n')}\r\n\r\nbody\r\n`))
  if (!head) throw new Error('The headers cannot be read.')
  return head
}

const prepared = (head: Head, added: { messageId: string; date: Date }) => Buffer.concat(preparedMail(head, added))

describe('the headers of a submitted email', () => {
  test.each([
    'Subject: x\r\nno end',
    'no colon\r\n\r\nx',
    ' folded first: x\r\n\r\n',
    'a b: x\r\n\r\n',
    `X: ${'x'.repeat(300_000)}\r\n\r\n`,
  ])('cannot be read: %#', (text) => expect(readHead(Buffer.from(text))).toBeNull())

  test.each([
    ['kim@example.com', ['From: kim@example.com']],
    ['kim@example.com', ['from:', ' "Kim, of \\"Shop\\"" <kim@example.com>']],
    [null, ['From: kim@example.com, lee@example.com']],
    [null, ['From: kim@example.com', 'From: lee@example.com']],
    [null, ['From: Kim']],
    [null, ['To: kim@example.com']],
  ])('say that the sender is %j: %j', (address, lines) => expect(fromAddress(headOf(...lines))).toBe(address))

  test('may come once or several times', () => {
    const head = headOf('Message-ID: <a@b>', 'X: 1', 'x: 2')
    expect([onlyValue(head, 'message-id'), onlyValue(head, 'x'), onlyValue(head, 'date')]).toEqual(['<a@b>', null, undefined])
  })

  test('are completed, and lose what must not be seen', () => {
    const head = headOf(
      'Bcc: secret@example.com,',
      ' hidden@example.com',
      'Return-Path: <x@y>',
      'Resent-BCC: z@y',
      'From: kim@example.com',
      'X-Long: a',
      '\tb',
    )
    const added = { messageId: '<key@example.com>', date: new Date('2026-11-23T09:00:00Z') }
    expect(prepared(head, added).toString()).toBe(
      [
        'Message-ID: <key@example.com>',
        'Date: Mon, 23 Nov 2026 09:00:00 +0000',
        'From: kim@example.com',
        'X-Long: a',
        '\tb',
        '',
        'body',
        '',
      ].join('\r\n'),
    )
  })

  test('lose an ARC chain that cannot be valid', () => {
    const raw = 'From: kim@example.com\r\nMessage-ID: <own@x>\r\nDate: today'
    const head = headOf('ARC-Seal: i=1; cv=none;', '\tb=x', 'ARC-Authentication-Results: i=1; example.org', raw)
    expect(prepared(head, { messageId: '<key@x>', date: new Date(0) }).toString()).toBe(`${raw}\r\n\r\nbody\r\n`)
  })

  test('keep their Message-ID, their date and their bytes', () => {
    const raw = Buffer.from('From: kim@example.com\r\nMESSAGE-ID: <own@x>\r\nDate: today\r\nSubject: h\xe9 \xc3\xa9\r\n\r\n\xff', 'latin1')
    const head = readHead(raw)
    expect(head && prepared(head, { messageId: '<key@x>', date: new Date(0) })).toEqual(raw)
    expect([head && isUtf8Head(head), is8Bit(raw), is8Bit(Buffer.from('x'))]).toEqual([true, true, false])
  })
})
