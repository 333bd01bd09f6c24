/** What a project reads about TLS of the emails that the server delivered to the Internet of mail. */
import { gunzipSync } from 'node:zlib'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { runToEnd } from '../../src/infra/queue/jobs.ts'
import { createInboxStreams } from '../../src/modules/inbox/index.ts'
import { allJobs } from '../../src/workers.ts'
import type { MxBehaviour } from '../internet/mx-host.ts'
import { type MailWorld, mailWorld } from '../mail-queue.ts'

test('deliveries with and without TLS are counted by domain', async () => {
  await using w = await mailWorld()
  const hosts: [string, MxBehaviour][] = [
    ['secure.example.org', {}],
    ['own.example.org', { tls: 'self-signed' }],
    ['plain.example.org', { tls: 'none' }],
    ['broken.example.org', { tls: 'garbage' }],
    ['refusing.example.org', { script: { RCPT: '550 5.1.1 No such user' } }],
  ]
  for (const [domain, behaviour] of hosts) {
    w.internet.host(`mx.${domain}`, behaviour)
    w.internet.domain(domain, `mx.${domain}`)
    await w.mailTo(domain)
  }
  await w.events()
  for (const domain of ['plain.example.org', 'broken.example.org', 'broken.example.org']) await w.mailTo(domain)
  await w.events()
  const { results } = (await w.get('/api/client/tls-results')).body
  expect(results.map(({ domain, policy, result, count }: any) => `${domain} ${policy} ${result} ${count}`).sort()).toEqual([
    'broken.example.org no-policy-found validation-failure 3',
    'null no-policy-found success 2',
    'plain.example.org no-policy-found starttls-not-supported 2',
  ])
})

test('domains whose DNS does not respond keep no other one without its report', async () => {
  await using w = await mailWorld()
  const { dns } = w.internet
  const silent = Array.from({ length: 201 }, (_, index) => `a${index}.example.org`)
  for (const domain of silent) dns.fault(`_smtp._tls.${domain}`, 'servfail')
  const receiver = await w.receiver()
  dns.set('_smtp._tls.z.example.org', { txt: [`v=TLSRPTv1; rua=${receiver.url}`] })
  await w.ctx.db.run(
    sql`insert into tls_results (project_id, day, domain, policy, result, count)
        select ${w.ctx.projectId}, date_trunc('day', ${w.clock.now()}::timestamptz, 'UTC'), domain, 'tlsa', 'success', 1
        from unnest(${[...silent, 'z.example.org']}::text[]) domain`,
  )
  w.advance('1 day')
  await sendReports(w)
  expect(receiver.requests).toHaveLength(1)
})

test('a domain whose record cannot be stored keeps no other one without its report', async () => {
  await using w = await mailWorld()
  const { dns } = w.internet
  const receiver = await w.receiver()
  dns.set('_smtp._tls.a.example.org', { txt: ['v=TLSRPTv1; rua=https://a.example/\0x'] })
  dns.set('_smtp._tls.z.example.org', { txt: [`v=TLSRPTv1; rua=${receiver.url}`] })
  await w.ctx.db.run(
    sql`insert into tls_results (project_id, day, domain, policy, result, count)
        select ${w.ctx.projectId}, date_trunc('day', ${w.clock.now()}::timestamptz, 'UTC'), domain, 'tlsa', 'success', 1
        from unnest(${['a.example.org', 'z.example.org']}::text[]) domain`,
  )
  w.advance('1 day')
  await sendReports(w)
  expect(receiver.requests).toHaveLength(1)
})

/** Lets the job run once. A drain would repeat it for as long as it finds domains. */
function sendReports(w: MailWorld) {
  const jobs = allJobs(createInboxStreams()).filter(({ name }) => name === 'tls-reports.send')
  return Promise.all(jobs.map((job) => runToEnd(job, w.ctx, new AbortController().signal)))
}

test('a domain with a policy that asks for reports gets one a day, signed, although its TLS is broken', async () => {
  await using w = await mailWorld({ DNS_VALIDATES: 'true' })
  const { dns } = w.internet
  const domain = 'asks.example.org'
  const host = w.internet.host(`mx.${domain}`)
  dns.set(`mx.${domain}`, { a: [host.ip], isSecure: true })
  dns.set(domain, { mx: [[10, `mx.${domain}`]], isSecure: true })
  const wrong = { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32) }
  dns.set(`_25._tcp.mx.${domain}`, { tlsa: [wrong], isSecure: true })
  const receiver = await w.receiver()
  dns.set(`_smtp._tls.${domain}`, { txt: [`v=TLSRPTv1; rua=mailto:tls@${domain},${receiver.url}`] })
  await w.mailTo(domain)
  await w.events()
  const day = w.clock.now().toISOString().slice(0, 10)
  expect(host.mails).toHaveLength(0)

  w.advance('1 day')
  receiver.answer(503)
  const send = () => sendReports(w)
  await Promise.all([send(), send()])
  const events = await w.events()
  expect(events.filter(({ data }) => data.to === `tls@${domain}`)).toEqual([])
  expect([...host.mails]).toMatchObject([{ to: [`tls@${domain}`] }])
  const content = host.mails[0]?.content ?? Buffer.alloc(0)
  const { records } = (await w.get('/api/client/domains')).body.results[0]
  const resolver = async (name: string) => [[records.find((record: { name: string }) => record.name === name)?.value ?? '']]
  const { results } = await dkimVerify(content, { resolver: resolver as never, curTime: w.clock.now() })
  expect(results.map(({ status }) => status.result)).toEqual(['pass', 'pass'])
  const [head = '', , file = ''] = content.toString().split(/\r\n--report-\w+\r\n/)
  expect(head).toContain(`TLS-Report-Domain: ${domain}\r\nTLS-Report-Submitter: example.com\r\n`)
  expect(head).toContain('multipart/report; report-type="tlsrpt"')
  expect(file).toContain('Content-Type: application/tlsrpt+gzip')
  const encoded = file.slice(file.indexOf('\r\n\r\n') + 4, file.lastIndexOf('\r\n--'))
  expect(JSON.parse(gunzipSync(Buffer.from(encoded, 'base64')).toString())).toEqual({
    'organization-name': 'example.com',
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': 'postmaster@example.com',
    'report-id': `${day}.${domain}@example.com`,
    policies: [
      {
        policy: {
          'policy-type': 'tlsa',
          'policy-string': [`_25._tcp.mx.${domain}. IN TLSA 3 1 1 ${'00'.repeat(32)}`],
          'mx-host': [`mx.${domain}`],
          'policy-domain': domain,
        },
        summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 1 },
        'failure-details': [{ 'result-type': 'validation-failure', 'receiving-mx-hostname': `mx.${domain}`, 'failed-session-count': 1 }],
      },
    ],
  })

  const posts = () => receiver.requests.map(({ headers }) => headers['content-type'])
  expect(posts()).toEqual(['application/tlsrpt+gzip'])
  receiver.answer(201)
  for (const wait of ['1 hour', '1 hour']) {
    w.advance(wait)
    await send()
  }
  expect(posts()).toEqual(['application/tlsrpt+gzip', 'application/tlsrpt+gzip'])
  await w.events()
  expect(host.mails).toHaveLength(1)
})
