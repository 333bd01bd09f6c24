import { describe, expect, test } from 'vitest'
import { matchesMx, parsePolicy, policyIdOf } from './mta-sts.ts'

describe('the announcement of a policy', () => {
  test.each([
    [['v=STSv1; id=20261122;'], '20261122'],
    [['v=spf1 -all', 'v=STSv1;id=a1'], 'a1'],
    [['v=STSv1; ext=x; id = b2 ; more=y'], 'b2'],
    [['v=STSv1; id=1;', 'v=STSv1; id=2;'], null],
    [['v=STSv12; id=1;'], null],
    [['v=STSv1; id=has-dash;'], null],
    [[`v=STSv1; id=${'x'.repeat(33)};`], null],
    [['v=STSv1;'], null],
    [['id=1; v=STSv1'], null],
    [[], null],
  ])('%j has the id %s', (texts, id) => {
    expect(policyIdOf(texts)).toBe(id)
  })
})

const policy = (...lines: string[]) => parsePolicy(lines.join('\r\n'), '1')

describe('a policy', () => {
  test('has a mode, hosts and an age', () => {
    expect(policy('version: STSv1', 'mode: enforce', 'mx: mail.Example.com', 'mx: *.example.net', 'max_age: 604800', '')).toEqual({
      id: '1',
      mode: 'enforce',
      mx: ['mail.example.com', '*.example.net'],
      maxAgeS: 604_800,
    })
  })

  test('may have lines that end with a line feed, unknown fields, and no hosts if it is none', () => {
    expect(parsePolicy('version:STSv1\nmode:none\nfuture: x\nmax_age:  60 \n', '1')).toEqual({ id: '1', mode: 'none', mx: [], maxAgeS: 60 })
  })

  test('counts the first of two fields, and an age of at most a year', () => {
    const lines = ['version: STSv1', 'mode: testing', 'mode: enforce', 'mx: a.example', 'max_age: 9999999999', 'max_age: 1']
    expect(policy(...lines)).toMatchObject({ mode: 'testing', maxAgeS: 31_557_600 })
  })

  test.each([
    ['no version', ['mode: enforce', 'mx: a.example', 'max_age: 1']],
    ['another version', ['version: STSv2', 'mode: enforce', 'mx: a.example', 'max_age: 1']],
    ['no mode', ['version: STSv1', 'mx: a.example', 'max_age: 1']],
    ['an unknown mode', ['version: STSv1', 'mode: enforced', 'mx: a.example', 'max_age: 1']],
    ['no host', ['version: STSv1', 'mode: enforce', 'max_age: 1']],
    ['a host that is none', ['version: STSv1', 'mode: enforce', 'mx: *', 'max_age: 1']],
    ['a wildcard inside', ['version: STSv1', 'mode: enforce', 'mx: a.*.example', 'max_age: 1']],
    ['no age', ['version: STSv1', 'mode: enforce', 'mx: a.example']],
    ['an age that is no number', ['version: STSv1', 'mode: enforce', 'mx: a.example', 'max_age: 1e9']],
    ['a web page', ['<html>', '</html>']],
    ['nothing', []],
  ])('with %s is none', (_, lines) => {
    expect(policy(...lines)).toHaveProperty('problem')
  })
})

describe('a pattern', () => {
  test.each([
    ['mail.example.com', 'MAIL.example.com.', true],
    ['mail.example.com', 'mail2.example.com', false],
    ['*.example.com', 'mx.example.com', true],
    ['*.example.com', 'a.mx.example.com', false],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'mx.notexample.com', false],
    ['*.com', 'com', false],
  ])('%s and the host %s: %s', (pattern, host, expected) => {
    expect(matchesMx(['other.test', pattern], host)).toBe(expected)
  })
})
