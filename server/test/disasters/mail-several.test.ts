/** Several processes deliver from one mail queue. Observed at the mail hosts. */
import { expect, test, vi } from 'vitest'
import type { MxScript } from '../internet/mx-host.ts'
import { rowsOf } from '../statements.ts'
import { type MailGroup, prepareMailBlast, queueOf, startMailGroup } from './mail-blast.ts'

const USERS = 240
const DOMAINS = 4
/** How many connections a process makes to each host at most. */
const CONNECTIONS = 10
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

/** The transactions that are open, besides the one that counts them. */
const transactionsIn = async ({ group }: MailGroup): Promise<number> => {
  const [row] = await rowsOf<{ open: number }>(
    group.databaseUrl,
    `select count(*)::int as open from pg_stat_activity
     where datname = current_database() and xact_start is not null and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return row?.open ?? 0
}

test('two processes deliver from one queue: each recipient is accepted once', { timeout: 120_000 }, async () => {
  // Nothing fails, so no lease may end, on a busy machine either.
  await using own = await startMailGroup(['all', 'all'], { MESSAGE_LEASE_S: '60' })
  const { addresses } = await blastOver(own, 10)
  await delivered(own)
  expect(taken(own)).toEqual(addresses)
})

test('a process that is suspended for longer than its lease takes nothing from the one that continued', { timeout: 120_000 }, async () => {
  await using own = await startMailGroup(['api'])
  const suspended = await own.group.start('worker')
  // It is suspended while the hosts reply to none of the emails that it delivers, and so between its transactions, with all its connections made.
  const { addresses } = await blastOver(own, 2000)
  const contents = () =>
    own.internet.mx.hosts.values().reduce((sum, { commands }) => sum + commands.filter(({ line }) => line === 'DATA').length, 0)
  await vi.waitFor(() => expect(contents()).toBeGreaterThanOrEqual(DOMAINS * CONNECTIONS), WAIT)
  await vi.waitFor(async () => expect(await transactionsIn(own)).toBe(0), WAIT)
  process.kill(suspended.pid, 'SIGSTOP')
  const { mails, hosts } = own.internet.mx
  const made = new Map([...hosts.values()].map(({ name, counts }) => [name, counts.made]))
  const before = mails().length
  for (const host of own.internet.mx.hosts.values()) host.behaviour = {}
  await using _ = await own.group.start('worker')
  await delivered(own)
  const savedBy = () => rowsOf(own.group.databaseUrl, 'select address, attempts, history from mail_recipients order by mail_id')
  const saved = await savedBy()
  const connections = [...hosts.values()].map(({ counts }) => counts.made)
  process.kill(suspended.pid, 'SIGCONT')
  expect((await suspended.end('SIGTERM')).code).toBe(0)
  expect(await savedBy(), 'the results of the suspended process are dropped').toEqual(saved)
  expect([...new Set(taken(own))]).toEqual(addresses)
  // Each of its connections had sent the content of one email, and had asked to send that of another one.
  const over = mails()
    .slice(before)
    .filter(({ host, connection }) => connection <= (made.get(host) ?? 0))
  const inFlight = made.values().reduce((sum, count) => sum + count, 0)
  expect(over.length, 'what was not in flight is not sent').toBeLessThanOrEqual(inFlight)
  expect([...hosts.values()].map(({ counts }) => counts.made)).toEqual(connections)
})

test('a restart with a full queue, whose hosts deferred everything: all is delivered, once', { timeout: 120_000 }, async () => {
  await using own = await startMailGroup(['api'])
  let isHealthy = false
  const first = await own.group.start('worker')
  const { addresses, campaign } = await blastOver(own, 0, { RCPT: () => (isHealthy ? undefined : '451 4.3.0 Later') })
  const deferred = async () => {
    const rows = await queueOf(own)
    expect([rows.length, rows.filter(({ state, attempts }) => state === 'queued' && attempts > 0).length]).toEqual([USERS, USERS])
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
