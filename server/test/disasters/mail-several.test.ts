/** Several processes deliver from one mail queue. Observed at the mail hosts. */
import { expect, test, vi } from 'vitest'
import type { MxScript } from '../internet/mx-host.ts'
import { type MailGroup, prepareMailBlast, queueOf, startMailGroup } from './mail-blast.ts'

const USERS = 240
const DOMAINS = 4
const WAIT = { timeout: 60_000, interval: 50 }

/** A scheduled blast to users at some domains, whose hosts take a while to accept an email. Returns its id and the addresses, sorted. */
async function blastOver({ call, internet }: MailGroup, acceptMs: number, script: MxScript = {}) {
  for (let domain = 0; domain < DOMAINS; domain++) {
    internet.host(`mx.s${domain}.example.org`, { acceptMs, script })
    internet.domain(`s${domain}.example.org`, `mx.s${domain}.example.org`)
  }
  const addresses = Array.from({ length: USERS }, (_, at) => `user-${at}@s${at % DOMAINS}.example.org`)
  const campaign = await prepareMailBlast(call, addresses)
  await call('PATCH', `/campaigns/${campaign}`, { state: 'scheduled' })
  return { campaign, addresses: addresses.toSorted() }
}

const delivered = (own: MailGroup, users = USERS) =>
  vi.waitFor(async () => expect((await queueOf(own)).filter(({ state }) => state === 'delivered')).toHaveLength(users), WAIT)

/** The addresses that each email was accepted for, sorted: an address that got it twice is there twice. */
const taken = ({ internet }: MailGroup) =>
  internet.mx
    .mails()
    .flatMap(({ to }) => to)
    .sort()

test('two processes deliver from one queue: each recipient is accepted once', { timeout: 120_000 }, async () => {
  await using own = await startMailGroup(['all', 'all'])
  const { addresses } = await blastOver(own, 10)
  await delivered(own)
  expect(taken(own)).toEqual(addresses)
})

test('a restart with a full queue, whose hosts deferred everything: all is delivered, once', { timeout: 120_000 }, async () => {
  await using own = await startMailGroup(['api'])
  let isHealthy = false
  const first = await own.group.start('worker')
  const { addresses, campaign } = await blastOver(own, 0, { RCPT: () => (isHealthy ? undefined : '451 4.3.0 Later') })
  const deferred = async () => {
    const rows = await queueOf(own)
    expect([rows.length, rows.filter(({ state, attempts }) => state === 'queued' && attempts === 1).length]).toEqual([USERS, USERS])
  }
  await vi.waitFor(deferred, WAIT)
  expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null })
  await deferred()
  isHealthy = true
  await using _ = await own.group.start('worker')
  expect(await own.call('POST', '/mail-queue/retry', { campaign_id: campaign })).toEqual({ recipients: USERS })
  await delivered(own)
  expect(taken(own)).toEqual(addresses)
})
