/** What a project reads about TLS of the emails that the server delivered to the Internet of mail. */
import { expect, test } from 'vitest'
import type { MxBehaviour } from '../internet/mx-host.ts'
import { mailWorld } from '../mail-queue.ts'

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
  await w.mailTo('plain.example.org')
  await w.events()
  const { results } = (await w.get('/api/client/tls-results')).body
  expect(results.map(({ domain, policy, result, count }: any) => `${domain} ${policy} ${result} ${count}`).sort()).toEqual([
    'broken.example.org no-policy-found validation-failure 1',
    'null no-policy-found success 2',
    'plain.example.org no-policy-found starttls-not-supported 2',
  ])
})
