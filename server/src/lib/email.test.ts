import { describe, expect, test } from 'vitest'
import { isEmail } from './email.ts'

const label63 = 'a'.repeat(63)

describe('an address that email can be delivered to', () => {
  test.each([
    'jane+tag@sub.example.co.uk',
    '"john doe"@example.com',
    '"a@b"@example.com',
    '"say \\"hi\\""@example.com',
    "o'brien@example.com",
    'Kim.Lee@Example.COM',
    'kim@xn--mnchen-3ya.de',
    'kim@example.xn--p1ai',
    'kim@3com.com',
    `${'a'.repeat(64)}@example.com`,
    `kim@${label63}.com`,
  ])('is accepted: %s', (text) => expect(isEmail(text)).toBe(true))
})

describe('anything else is refused', () => {
  test.each([
    ['plain', 'no @'],
    ['a@', 'no domain'],
    ['@b.com', 'no local part'],
    ['foo@bar', 'one label'],
    ['a..b@x.com', 'consecutive dots'],
    ['.a@x.com', 'leading dot'],
    ['a.@x.com', 'dot before the @'],
    ['a b@x.com', 'a space without quotes'],
    ['a@b@c.com', 'two @'],
    ['Jane <j@x.com>', 'a display name'],
    ['j(comment)@x.com', 'a comment'],
    ['a@-example.com', 'a label that starts with a hyphen'],
    ['a@example-.com', 'a label that ends with a hyphen'],
    ['a@example..com', 'an empty label'],
    ['a@example.com.', 'a final dot'],
    ['a@example.c', 'a last label of one letter'],
    ['a@example.c0m', 'a last label with a digit'],
    ['a@127.0.0.1', 'an address'],
    ['a@[127.0.0.1]', 'a domain literal'],
    ['a@ex_ample.com', 'an underscore'],
    ['jürgen@example.com', 'a local part that is not ASCII'],
    ['kim@münchen.de', 'a domain that is not ASCII'],
    ['"a\nb"@example.com', 'folding'],
    [`${'a'.repeat(65)}@example.com`, 'a local part of 65 characters'],
    [`kim@a${label63}.com`, 'a label of 64 characters'],
    [`kim@${`${label63}.`.repeat(4)}com`, 'more than 254 characters'],
  ])('%j: %s', (text) => expect(isEmail(text)).toBe(false))
})
