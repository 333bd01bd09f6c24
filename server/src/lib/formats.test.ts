import { describe, expect, test } from 'vitest'
import { formats } from './formats.ts'

const examples: [name: string, good: string[], bad: string[]][] = [
  ['email', ['kim@example.com'], ['kim']],
  ['timezone', ['Australia/Sydney'], ['+10:00']],
  ['locale', ['en_AU'], ['en AU']],
  ['phone', ['+61 (0)412/345.678-9', '1'], ['', '++61', '61+', '0412 ext 5', '٠', '0412\n']],
  ['time', ['2026-11-20'], ['2026-02-30']],
  ['date-or-time', ['0001-01-01'], ['0000-01-01']],
  ['website-url', ['', 'example.com'], ['localhost']],
  ['deeplink-url', ['', 'https://example.com'], ['http://example.com']],
  ['identifier', ['user-1', 'ü 😀', 'next\u0085line', '__proto__'], ['a\0b', 'a\nb', 'a\u007fb', 'a\u001fb']],
  ['https-url', ['https://example.com'], ['javascript:alert(1)', 'https://']],
  [
    'origin',
    ['https://example.com', 'http://localhost:5173', 'https://[::1]:8443', 'http://example.com:443', 'http://127.0.0.1'],
    ['https://example.com:443', 'http://example.com:80', 'https://example.com/', 'https://kim@example.com', 'wss://example.com', 'null'],
  ],
  ['hostname-or-ip', ['localhost', '[::1]'], ['127.1']],
  ['spf-domain', ['example.com', 'Example.com.'], ['localhost', '192.0.2.1']],
  ['no-control', ['whsec_abc', 'ü 😀'], ['a\0b', 'a\u007fb', 'a\u0085b', 'a\tb']],
]

describe.each(examples)('the format %s', (name, good, bad) => {
  test.each(good)('accepts %j', (text) => expect(formats[name]?.test(text)).toBe(true))
  test.each(bad)('refuses %j', (text) => expect(formats[name]?.test(text)).toBe(false))
  test('describes the problem as the end of a sentence', () => expect(formats[name]?.problem).toMatch(/^(?:is|must) .*[^.]$/))
})

test('every format has an example', () => expect(examples.map(([name]) => name)).toEqual(Object.keys(formats)))
