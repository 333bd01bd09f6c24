import { expect, test } from 'vitest'
import { type ReportTargets, targetsOf } from './record.ts'

const only = (addresses: string[], urls: string[] = []): ReportTargets => ({ addresses, urls })

test.each<[string[], ReportTargets | null]>([
  [['v=TLSRPTv1; rua=mailto:tls@example.org'], only(['tls@example.org'])],
  [
    ['v=TLSRPTv1;rua=mailto:tls%2Bin@example.org?subject=x , https://example.org/tls;'],
    only(['tls+in@example.org'], ['https://example.org/tls']),
  ],
  [['another', 'v=TLSRPTv1; rua=https://example.org/tls'], only([], ['https://example.org/tls'])],
  [[`v=TLSRPTv1; rua=${'mailto:a@example.org,'.repeat(9)}`], only(Array(5).fill('a@example.org'))],
  [['v=TLSRPTv1; rua=mailto:a@example.org', 'v=TLSRPTv1; rua=mailto:b@example.org'], null],
  [['v=TLSRPTv10; rua=mailto:a@example.org'], null],
  [['v=TLSRPTv1; rua=http://example.org/tls'], null],
  [['v=TLSRPTv1; rua=mailto:a@example.org%0D%0AX'], null],
  [['v=TLSRPTv1; rua=mailto:%E0%A4%A'], null],
  [['v=TLSRPTv1'], null],
])('%j', (texts, expected) => {
  expect(targetsOf(texts)).toEqual(expected)
})
