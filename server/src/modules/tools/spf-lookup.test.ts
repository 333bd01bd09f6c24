import { describe, expect, test } from 'vitest'
import { WARNINGS } from './spf.ts'
import { lookUpSpf, type SpfResolver } from './spf-lookup.ts'

type Zone = Record<string, { txt?: (string | string[])[]; a?: string[]; aaaa?: string[]; mx?: string[]; fails?: string }>

const dnsError = (code: string) => Object.assign(new Error(code), { code, syscall: 'queryTxt' })

/** A resolver with one zone, which records the queries. */
function serving(zone: Zone) {
  const asked: string[] = []
  const answer =
    <T>(type: 'txt' | 'a' | 'aaaa' | 'mx', read: (records: (string | string[])[]) => T[]) =>
    async (name: string) => {
      asked.push(`${type} ${name}`)
      const entry = zone[name]
      if (entry?.fails) throw dnsError(entry.fails)
      const records = entry?.[type]
      if (!records) throw dnsError(entry ? 'ENODATA' : 'ENOTFOUND')
      return read(records)
    }
  const resolver: SpfResolver = {
    resolveTxt: answer('txt', (records) => records.map((record) => [record].flat())),
    resolve4: answer('a', (records) => records.flat()),
    resolve6: answer('aaaa', (records) => records.flat()),
    resolveMx: answer('mx', (records) => records),
  }
  return { resolver, asked }
}

const never = new AbortController().signal
const lookUp = (zone: Zone, domain = 'example.com') => lookUpSpf(domain, serving(zone).resolver, never)
const nothing = (warning: keyof typeof WARNINGS) => ({
  record: '',
  warnings: [WARNINGS[warning]],
  details: { version: null, mechanisms: [], policy: null },
})

describe('an SPF look-up', () => {
  test('finds the record among other TXT records', async () => {
    const zone = { 'example.com': { txt: ['site-verification=1', ['v=spf1 ip4:192.0.', '2.0/24 ~all']] } }
    expect(await lookUp(zone)).toEqual({
      record: 'v=spf1 ip4:192.0.2.0/24 ~all',
      warnings: [],
      details: { version: 'spf1', mechanisms: ['ip4:192.0.2.0/24'], policy: '~all' },
    })
  })

  test.each(['EXAMPLE.com', 'example.com.', 'example.com'])('queries %s by its DNS name', async (domain) => {
    const { resolver, asked } = serving({})
    await lookUpSpf(domain, resolver, never)
    expect(asked).toEqual(['txt example.com'])
  })

  test('queries an international domain in Punycode', async () => {
    const { resolver, asked } = serving({})
    await lookUpSpf('Exämple.com', resolver, never)
    expect(asked).toEqual(['txt xn--exmple-cua.com'])
  })

  test.each<[string, Zone, keyof typeof WARNINGS]>([
    ['a name that does not exist', {}, 'none'],
    ['a name without TXT records', { 'example.com': {} }, 'none'],
    ['TXT records without SPF', { 'example.com': { txt: ['v=spf10 -all'] } }, 'none'],
    ['a failing server', { 'example.com': { fails: 'ESERVFAIL' } }, 'failed'],
    ['no server', { 'example.com': { fails: 'ECONNREFUSED' } }, 'failed'],
    ['a server that does not respond', { 'example.com': { fails: 'ETIMEOUT' } }, 'timedOut'],
  ])('returns an empty record for %s', async (_, zone, warning) => expect(await lookUp(zone)).toEqual(nothing(warning)))

  test('ends at its deadline if the server does not respond', async () => {
    const silent = () => new Promise<never>(() => undefined)
    const resolver = { resolveTxt: silent, resolve4: silent, resolve6: silent, resolveMx: silent }
    const deadline = new AbortController()
    const report = lookUpSpf('example.com', resolver, deadline.signal)
    deadline.abort()
    expect(await report).toEqual(nothing('timedOut'))
  })

  test('returns the record if the deadline passes during later queries', async () => {
    const deadline = new AbortController()
    const { resolver } = serving({ 'example.com': { txt: ['v=spf1 a include:b.example.com -all'] } })
    const resolve4 = () => {
      deadline.abort()
      return new Promise<never>(() => undefined)
    }
    const slow = { ...resolver, resolve4 }
    expect(await lookUpSpf('example.com', slow, deadline.signal)).toMatchObject({
      record: 'v=spf1 a include:b.example.com -all',
      warnings: [WARNINGS.timedOut],
    })
  })

  test('does not hide a bug as a DNS error', async () => {
    const { resolver } = serving({})
    const broken = { ...resolver, resolveTxt: () => Promise.reject(new TypeError('a bug')) }
    await expect(lookUpSpf('example.com', broken, never)).rejects.toThrow(TypeError)
  })

  const txt = (record: string) => ({ txt: [record] })
  const hosts = (count: number) => Array.from({ length: count }, (_, i) => [`h${i}.example.com`, { a: ['192.0.2.1'] }] as const)
  const names = (count: number) => Array.from({ length: count }, (_, i) => `mx${i}.example.com`)
  const naming = (count: number) =>
    hosts(count)
      .map(([host]) => `a:${host}`)
      .join(' ')

  test.each<[string, Zone, (keyof typeof WARNINGS)[]]>([
    ['two records', { 'example.com': { txt: ['v=spf1 -all', 'v=spf1 ~all'] } }, ['several']],
    ['ten look-ups', { 'example.com': txt(`v=spf1 ${naming(10)} -all`), ...Object.fromEntries(hosts(10)) }, []],
    ['eleven look-ups', { 'example.com': txt(`v=spf1 ${naming(11)} -all`), ...Object.fromEntries(hosts(11)) }, ['lookups']],
    [
      'eleven look-ups across includes',
      {
        'example.com': txt(`v=spf1 include:b.example.com ${naming(5)} -all`),
        'b.example.com': txt(`v=spf1 ${naming(5)} -all`),
        ...Object.fromEntries(hosts(5)),
      },
      ['lookups'],
    ],
    ['look-ups after `all`', { 'example.com': txt(`v=spf1 -all ${naming(11)}`) }, ['afterAll']],
    [
      'look-ups that only a receiver can do',
      { 'example.com': txt(`v=spf1 ${[...'abcdefghijk'].map((letter) => `exists:%{i}.${letter}.io`).join(' ')} -all`) },
      ['lookups'],
    ],
    ['two void look-ups', { 'example.com': txt('v=spf1 a mx ~all') }, []],
    ['three void look-ups', { 'example.com': txt('v=spf1 a mx exists:nowhere.example.com ~all') }, ['voids']],
    [
      'a host with IPv6 only',
      {
        'example.com': { txt: ['v=spf1 a a:x.example.com mx exists:y.example.com ~all'], aaaa: ['2001:db8::1'] },
        'x.example.com': { aaaa: ['2001:db8::1'] },
      },
      [],
    ],
    ['an `mx` with ten hosts', { 'example.com': { ...txt('v=spf1 mx -all'), mx: names(10) } }, []],
    ['an `mx` with eleven hosts', { 'example.com': { ...txt('v=spf1 mx -all'), mx: names(11) } }, ['mxHosts']],
    [
      'an `mx` with eleven hosts in an include',
      {
        'example.com': txt('v=spf1 include:b.example.com -all'),
        'b.example.com': txt('v=spf1 mx:c.example.com -all'),
        'c.example.com': { mx: names(11) },
      },
      ['mxHosts'],
    ],
    ['an include of itself', { 'example.com': txt('v=spf1 include:example.com -all') }, ['loop']],
    [
      'a loop of includes',
      { 'example.com': txt('v=spf1 include:b.example.com -all'), 'b.example.com': txt('v=spf1 redirect=EXAMPLE.com.') },
      ['loop'],
    ],
    [
      'the same include on two paths',
      {
        'example.com': txt('v=spf1 include:b.example.com include:c.example.com -all'),
        'b.example.com': txt('v=spf1 include:d.example.com -all'),
        'c.example.com': txt('v=spf1 include:d.example.com -all'),
        'd.example.com': txt('v=spf1 ip4:192.0.2.1 -all'),
      },
      [],
    ],
    [
      'an include without a record',
      { 'example.com': txt('v=spf1 include:b.example.com -all'), 'b.example.com': { txt: ['x'] } },
      ['targetless'],
    ],
    ['an include of a name that does not exist', { 'example.com': txt('v=spf1 include:b.example.com -all') }, ['targetless']],
    [
      'an include that fails',
      { 'example.com': txt('v=spf1 include:b.example.com -all'), 'b.example.com': { fails: 'ESERVFAIL' } },
      ['failed'],
    ],
    ['a redirect with `all`', { 'example.com': txt('v=spf1 -all redirect=example.com') }, ['redirectWithAll']],
  ])('warns about %s', async (_, zone, warnings) => {
    expect((await lookUp(zone)).warnings).toEqual(warnings.map((warning) => WARNINGS[warning]))
  })

  test.each<[number, (keyof typeof WARNINGS)[]]>([
    [10, ['queries']],
    [11, ['lookups', 'queries']],
  ])('makes at most 20 queries and says so: %i terms that need two', async (terms, warnings) => {
    const names = Array.from({ length: terms }, (_, i) => `h${i}.example.com`)
    const zone = Object.fromEntries(names.map((name) => [name, { aaaa: ['2001:db8::1'] }]))
    const { resolver, asked } = serving({
      ...zone,
      'example.com': txt(`v=spf1 ${names.map((name) => `a:${name}`).join(' ')} -all`),
    })
    const report = await lookUpSpf('example.com', resolver, never)
    expect(asked).toHaveLength(20)
    expect(report.warnings).toEqual(warnings.map((warning) => WARNINGS[warning]))
  })
})
