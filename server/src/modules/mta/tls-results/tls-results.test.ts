import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type World, world } from '../../../../test/world.ts'
import type { DeliveryStep, RecipientOutcome } from '../../../infra/outgoing/mx/outcome.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { MtaStsPolicy } from '../../../lib/mta-sts.ts'
import { addTlsCounts } from './queries.ts'
import { countsToReport } from './reports.queries.ts'
import { type TlsCount, tlsCountsOf } from './results.ts'

const tls = (verified = true) => ({ protocol: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified })
const delivered = (peer: object, host = 'mx.example.org'): RecipientOutcome => ({
  is: 'delivered',
  host,
  peer,
  reply: { code: 250, response: '250 Ok' },
})
const failed = (reason: string, more: object = {}): DeliveryStep => ({
  is: 'failed',
  host: 'mx.example.org',
  stage: 'STARTTLS',
  peer: {},
  reason,
  ...more,
})
const policy = (mode: MtaStsPolicy['mode']): MtaStsPolicy => ({ id: '1', mode, mx: ['mx.example.org'], maxAgeS: 1 })
const countsOf = (about: Partial<Parameters<typeof tlsCountsOf>[0]>) =>
  tlsCountsOf({ domain: 'example.org', policy: null, steps: [], outcomes: [], ...about }).map(
    ({ domain, policy, result }) => `${domain} ${policy} ${result}`,
  )

describe('an attempt without a policy', () => {
  test.each<[string, DeliveryStep[], RecipientOutcome[], string[]]>([
    ['with TLS', [], [delivered({ tls: tls(false) })], ['null no-policy-found success']],
    ['without TLS', [], [delivered({})], ['example.org no-policy-found starttls-not-supported']],
    ['with TLS that failed', [failed('It broke.')], [delivered({})], ['example.org no-policy-found validation-failure']],
    ['without TLS, which had failed before', [], [delivered({ hadBrokenTls: true })], ['example.org no-policy-found validation-failure']],
    ['without a connection', [{ ...failed('Refused.'), stage: 'CONNECT' } as DeliveryStep], [], []],
    ['that was refused', [], [{ is: 'permanent', reason: 'No.' }], []],
    ['that was refused instead of TLS', [failed('The host refused.', { reply: { code: 421, response: '421 Busy' } })], [], []],
  ])('%s', (_, steps, outcomes, expected) => {
    expect(countsOf({ steps, outcomes })).toEqual(expected)
  })
})

describe('an attempt under a policy', () => {
  test.each<[string, MtaStsPolicy['mode'], RecipientOutcome, string]>([
    ['a valid certificate', 'enforce', delivered({ tls: tls() }), 'example.org sts success'],
    ['a bad certificate', 'testing', delivered({ tls: tls(false) }), 'example.org sts certificate-not-trusted'],
    ['a host that it does not name', 'testing', delivered({ tls: tls() }, 'other.example.org'), 'example.org sts validation-failure'],
    ['no TLS', 'testing', delivered({}), 'example.org sts starttls-not-supported'],
    ['TLSA records of the host', 'testing', delivered({ tls: tls(false), isDane: true }), 'example.org tlsa success'],
    ['that asks for nothing', 'none', delivered({ tls: tls(false) }), 'null no-policy-found success'],
  ])('with %s', (_, mode, outcome, expected) => {
    expect(countsOf({ policy: policy(mode), outcomes: [outcome] })).toEqual([expected])
  })

  test.each([
    ['TLS could not be established: certificate has expired.', {}, 'certificate-expired'],
    ["TLS could not be established: Hostname/IP does not match certificate's altnames: Host: mx.", {}, 'certificate-host-mismatch'],
    ['TLS could not be established: unable to verify the first certificate.', {}, 'certificate-not-trusted'],
    ['TLS could not be established: self-signed certificate in certificate chain.', {}, 'certificate-not-trusted'],
    ['TLS could not be established: wrong version number.', {}, 'validation-failure'],
    ['The host does not offer STARTTLS.', { noTls: true }, 'starttls-not-supported'],
  ])('counts for each host that %s', (reason, more, result) => {
    const steps = [failed(reason, more)]
    const outcomes = [delivered({ tls: tls() })]
    expect(countsOf({ policy: policy('enforce'), steps, outcomes })).toEqual([`example.org sts ${result}`, 'example.org sts success'])
  })
})

test('failures have their mail host, successes have none', () => {
  const [steps, outcomes] = [[failed('It broke.')], [delivered({}, 'mx2.example.org')]]
  const hostsIn = (about: object) =>
    tlsCountsOf({ domain: 'example.org', policy: policy('testing'), steps, outcomes, ...about }).map(({ host }) => host)
  expect([hostsIn({}), hostsIn({ outcomes: [delivered({ tls: tls() })] })]).toEqual([['mx.example.org'], ['mx.example.org', undefined]])
  expect(hostsIn({ steps: [] })).toEqual(['mx2.example.org'])
})

test('a host whose certificate does not agree with its TLSA records is counted under DANE', () => {
  const step = { ...failed('TLS could not be established: it does not agree.'), peer: { isDane: true } } as DeliveryStep
  expect(countsOf({ steps: [step] })).toEqual(['example.org tlsa validation-failure'])
})

describe('counts', () => {
  let w: World
  beforeAll(async () => {
    w = await world()
  })
  afterAll(() => w[Symbol.asyncDispose]())

  const add = (counts: TlsCount[]) => inTx(w.ctx, (ctx) => addTlsCounts(ctx, counts))
  const success = (domain: string | null): TlsCount => ({ domain, policy: 'sts', result: 'success' })
  const list = async (query = '') => (await w.get(`/api/client/tls-results?limit=100${query}`)).body

  test('add up over a day, and are read by day and domain', async () => {
    await add([success('a.example'), success('a.example'), success(null), { ...success('a.example'), result: 'certificate-expired' }])
    await add([success('a.example')])
    w.advance('1 day')
    await add([success('b.example')])
    const { results } = await list()
    const rows = results.map(({ day, domain, result, count }: any) => `${day} ${domain} ${result} ${count}`)
    expect(rows[0]).toBe('2026-11-24T00:00:00.000Z b.example success 1')
    expect(rows.slice(1).sort()).toEqual([
      '2026-11-23T00:00:00.000Z a.example certificate-expired 1',
      '2026-11-23T00:00:00.000Z a.example success 3',
      '2026-11-23T00:00:00.000Z null success 1',
    ])
  })

  test('beyond 1,000 domains a day are counted together', async () => {
    w.advance('1 day')
    await add(Array.from({ length: 1000 }, (_, at) => success(`d${at}.example`)))
    await add([success('d0.example'), success('another.example'), success('one-more.example')])
    const { results } = await list('&sort=count&direction=desc')
    expect(results.slice(0, 3).map(({ domain, count }: any) => [domain, count])).toEqual(
      expect.arrayContaining([
        ['d0.example', 2],
        [null, 2],
      ]),
    )
    expect((await list('&q=another.example')).results).toEqual([])
    const { keys } = await w.other()
    expect((await w.get('/api/client/tls-results', { key: keys.secret })).body.results).toEqual([])
  })

  test('name the mail hosts that failed most', async () => {
    w.advance('1 day')
    const key = { project_id: w.projectId, day: new Date(w.clock.now().toISOString().slice(0, 10)), domain: 'c.example' }
    const failure = (host: string): TlsCount => ({ domain: 'c.example', policy: 'sts', result: 'certificate-expired', host })
    await add([failure('mx1.c.example'), failure('mx1.c.example'), failure('mx2.c.example'), success('c.example')])
    await add([failure('mx2.c.example')])
    const found = async () => (await countsToReport(w.ctx, key)).map(({ result, count, hosts }) => ({ result, count, hosts }))
    expect(await found()).toEqual([
      { result: 'certificate-expired', count: 4, hosts: { 'mx1.c.example': 2, 'mx2.c.example': 2 } },
      { result: 'success', count: 1, hosts: {} },
    ])
    await add(Array.from({ length: 30 }, (_, at) => failure(`host-${at}.example`)))
    const [failures] = await found()
    expect([failures?.count, Object.keys(failures?.hosts ?? {}).length, failures?.hosts['mx2.c.example']]).toEqual([34, 20, 2])
  })

  test('end after 30 days', async () => {
    w.advance('40 days')
    await w.drain('tls-results.purge')
    expect((await list()).results).toEqual([])
  })
})
