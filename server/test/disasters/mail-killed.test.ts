/**
 * A process that delivers email is killed at random times, while mail hosts answer with random faults. Observed at the mail hosts and at a
 * webhook endpoint. `MAIL_USERS=5000 MAIL_KILLS=20 MAIL_SEED=7` makes a long test.
 */
import { expect, test, vi } from 'vitest'
import type { Internet } from '../internet/internet.ts'
import type { MxScript, Reaction } from '../internet/mx-host.ts'
import { belowOf, seedFrom } from '../random.ts'
import { acceptedBy, type MailGroup, prepareMailBlast, type QueuedRow, queueOf, startMailGroup } from './mail-blast.ts'

const USERS = Number(process.env.MAIL_USERS ?? 300)
const KILLS = Number(process.env.MAIL_KILLS ?? 3)

const below = belowOf(seedFrom('MAIL_SEED'))
/** A host that ends the connection. */
const ends = (then: 'reset' | 'close', reply?: string): Reaction => ({ then, ...(reply !== undefined && { reply }) })
/** One of so many. */
const FAULTY = 6

/** Domains whose hosts have a kind of fault each, until they are healed. `refused` has the addresses that were refused for good. */
function openDomains(internet: Internet): { domains: string[]; refused: Set<string>; heal(): void } {
  const refused = new Set<string>()
  let isHealed = false
  const sometimes = (reaction: string | Reaction) => () => (!isHealed && below(FAULTY) === 0 ? reaction : undefined)
  const known = new Set<string>()
  // A mailbox exists or not from the first command to the last: an email that was accepted and not saved is accepted again.
  const refuse = ({ line }: { line: string }) => {
    const address = line.slice(line.indexOf('<') + 1, line.indexOf('>'))
    if (!known.has(address) && !refused.has(address)) (isHealed || below(FAULTY) !== 0 ? known : refused).add(address)
    return refused.has(address) ? '550 5.1.1 No such user' : undefined
  }
  const scripts: MxScript[] = [
    {},
    { RCPT: sometimes('451 4.3.0 Later') },
    { RCPT: refuse },
    { RCPT: sometimes(ends('reset')) },
    { BODY: sometimes(ends('reset')) },
    { MAIL: sometimes(ends('close', '421 4.7.0 Busy')) },
  ]
  const domains = scripts.map((script, at) => {
    const domain = `f${at}.example.org`
    internet.host(`mx.${domain}`, { script, acceptMs: 20 })
    internet.domain(domain, `mx.${domain}`)
    return domain
  })
  const heal = () => {
    isHealed = true
  }
  return { domains, refused, heal }
}

/** Starts a worker, and kills it when the hosts accepted some more emails. Returns the addresses whose acceptance it had not saved. */
async function killOnce(own: MailGroup): Promise<{ unsaved: string[]; claimed: number }> {
  const { group, internet } = own
  const worker = await group.start('worker')
  await internet.mx.accepted(internet.mx.mails().length + 10 + below(USERS / 10))
  await worker.end('SIGKILL')
  // The hosts complete what they have received.
  const hosts = [...internet.mx.hosts.values()]
  await vi.waitFor(() => expect(hosts.filter(({ counts }) => counts.open > 0 || counts.late > 0)).toEqual([]), {
    timeout: 60_000,
    interval: 5,
  })
  const accepted = acceptedBy(own)
  const rows = await queueOf(own)
  return {
    unsaved: rows.filter(({ address, state }) => state !== 'delivered' && accepted.has(address)).map(({ address }) => address),
    claimed: rows.filter(({ state }) => state === 'claimed').length,
  }
}

/** Has all waiting email tried again until none waits. */
async function deliverRest(own: MailGroup, campaign_id: number): Promise<QueuedRow[]> {
  await using _ = await own.group.start('worker')
  await vi.waitFor(
    async () => {
      await own.call('POST', '/mail-queue/retry', { campaign_id })
      const rows = await queueOf(own)
      expect(rows.length).toBe(USERS)
      expect(rows.filter(({ state }) => state === 'queued' || state === 'claimed')).toEqual([])
    },
    { timeout: 60_000, interval: 200 },
  )
  const completed = () => own.receiver.requests.filter(({ json }) => json.type === 'delivery.completed').map(({ json }) => json.id)
  // The webhook deliveries of a dead worker are sent again when its lease ends.
  await vi.waitFor(() => expect(new Set(completed()).size).toBeGreaterThanOrEqual(USERS), { timeout: 60_000, interval: 50 })
  return queueOf(own)
}

test('a blast whose worker is killed loses no recipient, and repeats only what was in flight at a kill', {
  timeout: 120_000 + USERS * 100,
}, async () => {
  await using own = await startMailGroup(['api'])
  const { call, internet, receiver } = own
  const { domains, refused, heal } = openDomains(internet)
  const addresses = Array.from({ length: USERS }, (_, at) => `user-${at}@${domains[at % domains.length]}`)
  const campaign = await prepareMailBlast(call, addresses)
  await call('PATCH', `/campaigns/${campaign}`, { state: 'scheduled' })
  const mayRepeat = new Set<string>()
  let inFlight = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const { unsaved, claimed } = await killOnce(own)
    expect(unsaved.length).toBeLessThanOrEqual(claimed)
    inFlight += claimed
    for (const address of unsaved) mayRepeat.add(address)
  }
  heal()
  const rows = await deliverRest(own, campaign)

  expect(rows.map(({ address }) => address).sort()).toEqual(addresses.toSorted())
  const accepted = acceptedBy(own)
  const stateOf = (address: string) => (refused.has(address) ? 'failed' : 'delivered')
  expect(rows.filter(({ address, state }) => state !== stateOf(address))).toEqual([])
  expect(rows.filter(({ address, state }) => (state === 'delivered') !== accepted.has(address))).toEqual([])
  const repeated = [...accepted].filter(([, times]) => times > 1).map(([address]) => address)
  expect(repeated.filter((address) => !mayRepeat.has(address))).toEqual([])
  expect(repeated.length).toBeLessThanOrEqual(inFlight)

  const events = Map.groupBy(receiver.requests, ({ json }) => json.id as string)
  const several = [...events].filter(([, some]) => new Set(some.map(({ body }) => body)).size > 1)
  expect(several.map(([id]) => id)).toEqual([])
  const completed = [...events.values()].flatMap(([one]) => (one?.json.type === 'delivery.completed' ? [one.json.data] : []))
  const ids = completed.map((data) => (data as { message_id: number }).message_id)
  expect(ids.toSorted((a, b) => a - b)).toEqual(rows.map(({ mail_id }) => mail_id).toSorted((a, b) => a - b))
})
