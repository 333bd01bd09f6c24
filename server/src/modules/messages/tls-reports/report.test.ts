import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compressedReport } from './report.ts'

test('failures are reported by mail host, and those without a name together', () => {
  const hosts = { 'mx1.example.org': 3, 'mx2.example.org': 1 }
  const counts = [
    { policy: 'sts' as const, result: 'certificate-expired' as const, count: 6, hosts },
    { policy: 'sts' as const, result: 'starttls-not-supported' as const, count: 1, hosts: { 'mx1.example.org': 1 } },
    { policy: 'sts' as const, result: 'success' as const, count: 9, hosts: {} },
  ]
  const about = { day: new Date('2026-11-23'), domain: 'example.org', submitter: 'example.com', contact: 'postmaster@example.com' }
  const report = JSON.parse(gunzipSync(compressedReport({ ...about, counts, policy: null, tlsa: [] })).toString())
  const expired = { 'result-type': 'certificate-expired' }
  expect(report.policies).toMatchObject([
    {
      summary: { 'total-successful-session-count': 9, 'total-failure-session-count': 7 },
      'failure-details': [
        { ...expired, 'receiving-mx-hostname': 'mx1.example.org', 'failed-session-count': 3 },
        { ...expired, 'receiving-mx-hostname': 'mx2.example.org', 'failed-session-count': 1 },
        { ...expired, 'failed-session-count': 2 },
        { 'result-type': 'starttls-not-supported', 'receiving-mx-hostname': 'mx1.example.org', 'failed-session-count': 1 },
      ],
    },
  ])
  expect(report.policies[0]['failure-details'][2]).not.toHaveProperty('receiving-mx-hostname')
})
