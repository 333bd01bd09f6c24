import { describe, expect, test } from 'vitest'
import { describeSpf, isSpf, sentences, type Warning } from './spf.ts'

describe('an SPF record', () => {
  test.each([
    ['v=spf1', true],
    ['v=spf1 -all', true],
    ['V=SPF1 -all', true],
    ['v=spf10 -all', false],
    ['v=spf1-all', false],
    [' v=spf1 -all', false],
    ['spf2.0/pra -all', false],
  ])('is recognised: %s → %s', (text, expected) => expect(isSpf(text)).toBe(expected))

  test.each([
    ['v=spf1 ip4:192.0.2.0/24 include:_spf.example.net ~all', ['ip4:192.0.2.0/24', 'include:_spf.example.net'], '~all'],
    ['v=spf1 all', [], '+all'],
    ['v=spf1 MX -ALL', ['MX'], '-all'],
    ['v=spf1  a   mx  ?all ', ['a', 'mx'], '?all'],
    ['v=spf1 redirect=_spf.example.com', ['redirect=_spf.example.com'], null],
    ['v=spf1 a -all exp=explain.example.com', ['a', 'exp=explain.example.com'], '-all'],
    ['v=spf1 a -all mx ~all', ['a', 'mx', '~all'], '-all'],
    ['v=spf1', [], null],
  ])('is parsed: %s', (record, mechanisms, policy) => {
    expect(describeSpf([record])).toMatchObject({ record, details: { version: 'spf1', mechanisms, policy } })
  })

  test('consists of its strings, joined without a separator', () => {
    expect(describeSpf(['v=spf1 ip4:192.0.', '2.1 -all']).details).toEqual({
      version: 'spf1',
      mechanisms: ['ip4:192.0.2.1'],
      policy: '-all',
    })
  })

  test.each<[string, Warning[]]>([
    ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 a mx/24 a:x.example.com/24//64 include:_spf.example.net exists:%{i}.example.com -all', []],
    ['v=spf1 include:%{d1r/-}.example.com ra=postmaster ~all', []],
    ['v=spf1 redirect=example.com', []],
    ['v=spf1 a', ['endless']],
    ['v=spf1', ['endless']],
    ['v=spf1 a +all', ['passAll']],
    ['v=spf1 a all', ['passAll']],
    ['v=spf1 a ?all', ['neutralAll']],
    ['v=spf1 ptr -all', ['ptr']],
    ['v=spf1 ptr:example.com -all', ['ptr']],
    ['v=spf1 -all mx', ['afterAll']],
    ['v=spf1 -all exp=explain.example.com', []],
    ['v=spf1 ipv4:192.0.2.1 -all', ['unknown']],
    ['v=spf1 ip4=192.0.2.1 -all', ['unknown']],
    ['v=spf1 include -all', ['unknown']],
    ['v=spf1 include: -all', ['unknown']],
    ['v=spf1 include:example..com -all', ['unknown']],
    ['v=spf1 constructor -all', ['unknown']],
    ['v=spf1 a:example.com, -all', ['unknown']],
    ['v=spf1 -all.', ['endless', 'unknown']],
    ['v=spf1 exists:%{l1r+-}.%{D}.example.com exists:%%%_%-.example.com exists:%{i} a:%{v}.example.com/24 -all', []],
    ['v=spf1 exists:%{x}.example.com -all', ['macro']],
    ['v=spf1 exists:%{i.example.com -all', ['macro']],
    ['v=spf1 exists:%i.example.com -all', ['macro']],
    ['v=spf1 exists:100%.example.com -all', ['macro']],
    ['v=spf1 exists:%{d0}.example.com -all', ['macro']],
    ['v=spf1 exists:%{dr2}.example.com -all', ['macro']],
    ['v=spf1 exists:%{d;}.example.com -all', ['macro']],
    ['v=spf1 include:%{t}.example.com -all', ['macro']],
    ['v=spf1 include:%{d}com -all', ['macro']],
    ['v=spf1 include:%{d}.1 -all', ['macro']],
    ['v=spf1 redirect=%{q}.example.com', ['endless', 'macro']],
    ['v=spf1 -all exp=%{r}.example.com', ['macro']],
    ['v=spf1 ip4:192.0.2.256 -all', ['address']],
    ['v=spf1 ip4:192.0.2.0/33 -all', ['address']],
    ['v=spf1 ip4:192.0.2.0/024 -all', ['address']],
    ['v=spf1 ip4:2001:db8::1 -all', ['address']],
    ['v=spf1 ip4 -all', ['address']],
    ['v=spf1 ip6:192.0.2.1 -all', ['address']],
    ['v=spf1 ip6:2001:db8::/129 -all', ['address']],
    ['v=spf1 ip6:fe80::1%eth0 -all', ['address']],
    ['v=spf1 a/33 -all', ['address']],
    ['v=spf1 mx//129 -all', ['address']],
    ['v=spf1 a:example.com/x -all', ['address']],
    ['v=spf1 a mx a -all', ['duplicate']],
    ['v=spf1 a +A -all', ['duplicate']],
    ['v=spf1 a ?a -all', []],
    ['v=spf1 exp=a.example.com exp=b.example.com -all', ['duplicate']],
    ['v=spf1 redirect=example.com -all', ['redirectWithAll']],
    [`v=spf1 ${Array.from({ length: 30 }, (_, i) => `ip4:192.0.2.${i}`).join(' ')} -all`, ['long', 'longString']],
  ])('has the right warnings: %s', (record, warnings) => expect([...describeSpf([record]).warnings]).toEqual(warnings))

  test('is too long with 451 bytes, but not with 450', () => {
    const filled = (bytes: number) => ['v=spf1 exists:%{i}.', 'a'.repeat(200), 'b'.repeat(bytes - 224), ' -all']
    expect(describeSpf(filled(450)).warnings).toEqual(new Set())
    expect(describeSpf(filled(451)).warnings).toEqual(new Set(['long']))
  })

  test('has each warning once, in a fixed order', () => {
    expect(sentences(new Set<Warning>(['ptr', 'none', 'ptr']))).toEqual([
      'No SPF record was found.',
      'The record uses `ptr`, which is slow and unreliable and should not be used.',
    ])
  })
})
