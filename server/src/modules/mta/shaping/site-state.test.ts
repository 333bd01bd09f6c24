import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { RecipientOutcome } from '../../../infra/outgoing/mx/outcome.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { type Hosts, hostsAfter, hostsToTry } from './hosts.ts'
import { createScheduler } from './scheduler.ts'
import { siteEventsOf } from './site-events.ts'
import { admit, limitsNow, OPEN_SITE, type SiteEvent, type SiteState, siteAfter, siteAt } from './site-state.ts'
import { limitsOf } from './sites.ts'

const NOW = Date.parse('2026-11-20T02:00:00.000Z')
const limits = limitsOf('mx-1')
const busy: SiteEvent = { is: 'replied', code: 421, response: '421 4.3.2 Service not available' }
const refused: SiteEvent = { is: 'unreachable', isRefused: true }
const silent: SiteEvent = { is: 'unreachable', isRefused: false }
const delivered: SiteEvent = { is: 'delivered' }
function replied(response: string): SiteEvent {
  const enhancedCode = /^\d{3}[ -](\d\.\d+\.\d+)/.exec(response)?.[1]
  return { is: 'replied', code: Number(response.slice(0, 3)), response, ...(enhancedCode !== undefined && { enhancedCode }) }
}

/** The state after these events, all at one time. */
const after = (events: SiteEvent[], state: SiteState = OPEN_SITE, nowMs = NOW, site = 'mx-1'): SiteState =>
  events.reduce((before, event) => siteAfter(before, site, event, limits, nowMs), state)

/** How many connections it may have then. */
const connectionsAfter = (events: SiteEvent[], state?: SiteState): number => limitsNow(after(events, state), limits).connections

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

describe('the number of connections', () => {
  test('is halved by 421 and by a connection that is refused', () => {
    expect([busy, busy, busy, busy, busy].map((_, at, all) => connectionsAfter(all.slice(0, at + 1)))).toEqual([5, 2, 1, 1, 1])
    expect(connectionsAfter([refused])).toBe(5)
    expect(connectionsAfter([silent])).toBe(10)
  })

  test('grows by one with every 100 deliveries, up to the limit', () => {
    const halved = after([busy])
    expect(connectionsAfter(times(99, delivered), halved)).toBe(5)
    expect(connectionsAfter(times(100, delivered), halved)).toBe(6)
    expect(connectionsAfter(times(1000, delivered), halved)).toBe(10)
  })

  test('is at least 1 and at most the limit, whatever happens', () => {
    const arbitraryEvent = fc.oneof(
      { weight: 20, arbitrary: fc.constant(delivered) },
      { weight: 2, arbitrary: fc.constantFrom<SiteEvent>(busy, refused, silent, replied('451 4.7.1 Rate limit'), replied('550 5.1.1 x')) },
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(arbitraryEvent, fc.integer({ min: 0, max: 10 * MINUTE_MS })), { maxLength: 400 }), (steps) => {
        let state = OPEN_SITE
        let now = NOW
        for (const [event, later] of steps) {
          now += later
          state = siteAfter(state, 'mx-1', event, limits, now)
          const { connections } = limitsNow(siteAt(state, now), limits)
          expect(connections).toBeGreaterThanOrEqual(1)
          expect(connections).toBeLessThanOrEqual(limits.connections)
        }
      }),
    )
  })
})

describe('a site is slowed', () => {
  const temporarily = replied('421 4.7.0 Messages from 192.0.2.1 temporarily deferred')
  test('by a reply about its rate, and is open again later', () => {
    const state = after([temporarily])
    expect(state).toMatchObject({ is: 'slowed', until: NOW + 90 * MINUTE_MS, because: 'reputation-rate' })
    expect(limitsNow(state, limits)).toMatchObject({ connections: 1, mails_per_second: 1 / 60 })
    expect(siteAt(state, NOW + 90 * MINUTE_MS)).toMatchObject({ is: 'open', because: null })
  })

  test('by the third reply of a kind within an hour, not by the second, and not by older ones', () => {
    const busyServer = replied('451 4.3.2 Server busy')
    expect(after([busyServer, busyServer]).is).toBe('open')
    expect(after([busyServer, busyServer, busyServer]).is).toBe('slowed')
    const later = after([busyServer], after([busyServer, busyServer]), NOW + HOUR_MS)
    expect(later.is).toBe('open')
  })

  test.each([
    'Throttled',
    'Throttling',
    'We throttle',
    'Rate limited',
    'Rate limiting',
    'Over the rate limits',
    'Rate-limited',
    'Server busy',
    'You are sending mail too quickly',
  ])('by three that say %s', (text) =>
    expect(after(times(3, replied(`451 4.7.1 ${text}: <kim@example.org>`)))).toMatchObject({ is: 'slowed', because: 'rate' }),
  )

  test('by the codes of Comcast, at Comcast', () => {
    const reply = replied('421 4.1.0 192.0.2.1 Throttled - try again later. RL000001')
    expect(after([reply, reply], OPEN_SITE, NOW, 'comcast')).toMatchObject({ is: 'slowed', because: 'comcast-rate' })
  })

  test.each([
    ['a recipient who is unknown', '550 5.1.1 User unknown'],
    ['a full mailbox', '452 4.2.2 Mailbox full'],
    ['greylisting', '451 4.7.1 Greylisted, try again in 300 seconds'],
    [
      'a busy mailbox',
      '450-4.2.1 The user you are trying to contact is receiving mail at a rate that 450-4.2.1 prevents additional messages from being delivered.',
    ],
    ['a busy mailbox without a code', '450 The user you are trying to contact is receiving mail too quickly.'],
    ['a mailbox with a limit of its own', '452 4.2.1 Rate limit of the mailbox exceeded'],
    ['an address with such a word', '450 4.1.1 <throttle@example.org>: User unknown'],
    ['an address at such a domain', '450 4.7.1 <kim@throttled.example.org>: Try again'],
    ['a longer word', '450 4.3.0 Throttleneck is away'],
  ])('not by %s', (_, response) => {
    expect(after(times(50, replied(response))).is).toBe('open')
    expect(connectionsAfter(times(50, replied(response)))).toBe(10)
  })
})

describe('a site is suspended', () => {
  test('for two hours by the refusal of Yahoo that says so, at Yahoo only', () => {
    const reply = replied('421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume')
    expect(after([reply], OPEN_SITE, NOW, 'yahoo')).toMatchObject({
      is: 'suspended',
      until: NOW + 2 * HOUR_MS,
      because: 'yahoo-deferred',
    })
    expect(after([reply]).is).toBe('slowed')
  })

  test('by ten connections in a row that failed, not if one in between worked', () => {
    expect(after(times(9, silent)).is).toBe('open')
    expect(after(times(10, silent))).toMatchObject({ is: 'suspended', until: NOW + 5 * MINUTE_MS, because: 'unreachable' })
    expect(after([...times(9, silent), delivered, ...times(9, silent)]).is).toBe('open')
    expect(after([...times(9, silent), replied('550 5.1.1 x'), ...times(9, silent)]).is).toBe('open')
  })

  test('and then probed with one email; each failure suspends it for longer, up to an hour', () => {
    let state = after(times(10, silent))
    let now = NOW
    const waits = times(6, 0).map(() => {
      const wait = state.until - now
      expect(admit(state, limits, { wanted: 5, inFlight: 0 }, now)).toMatchObject({
        admission: { admitted: 0, limit: 'suspended', nextAt: state.until },
      })
      now = state.until
      const probing = admit(state, limits, { wanted: 5, inFlight: 0 }, now)
      expect(probing).toMatchObject({ state: { is: 'probing' }, admission: { admitted: 1 } })
      expect(admit(probing.state, limits, { wanted: 5, inFlight: 1 }, now).admission.admitted).toBe(0)
      state = after([silent], probing.state, now)
      return wait / MINUTE_MS
    })
    expect(waits).toEqual([5, 10, 20, 40, 60, 60])
    const recovered = after([delivered], siteAt(state, state.until), state.until)
    expect(recovered).toMatchObject({ is: 'open', suspensions: 0, failures: 0 })
  })

  test('a reply ends probing too, unless the server is busy', () => {
    const probing = siteAt(after(times(10, silent)), NOW + 5 * MINUTE_MS)
    expect(after([replied('550 5.1.1 x')], probing, NOW + 5 * MINUTE_MS).is).toBe('open')
    expect(after([busy], probing, NOW + 5 * MINUTE_MS).is).toBe('probing')
    // One of three that slow a site.
    expect(after([replied('451 4.3.2 Server busy')], probing, NOW + 5 * MINUTE_MS)).toMatchObject({ is: 'open', because: null })
  })
})

describe('what may start', () => {
  test('is two emails for each connection, and what the rate allows', () => {
    expect(admit(OPEN_SITE, limits, { wanted: 500, inFlight: 0 }, NOW).admission).toEqual({
      admitted: 20,
      limit: 'connections',
      nextAt: null,
    })
    expect(admit(OPEN_SITE, limits, { wanted: 500, inFlight: 18 }, NOW).admission.admitted).toBe(2)
    expect(admit(OPEN_SITE, limits, { wanted: 3, inFlight: 0 }, NOW).admission).toEqual({ admitted: 3, nextAt: null })
    const slow = { ...limits, mails_per_second: 0.5 }
    const first = admit(OPEN_SITE, slow, { wanted: 5, inFlight: 0 }, NOW)
    expect(first.admission).toEqual({ admitted: 1, limit: 'rate', nextAt: NOW + 2000 })
    expect(admit(first.state, slow, { wanted: 5, inFlight: 1 }, NOW + 1999).admission.admitted).toBe(0)
    expect(admit(first.state, slow, { wanted: 5, inFlight: 1 }, NOW + 2000).admission.admitted).toBe(1)
  })

  test('of several sites does not depend on the others, and ends with what finishes', () => {
    let now = NOW
    const scheduler = createScheduler({ now: () => now, processes: () => 1, overrides: {} })
    const [a, b] = [
      { key: 'google', label: 'Google' },
      { key: 'mx-1', label: 'example.org' },
    ]
    expect(scheduler.admit(a, 100).admitted).toBe(10)
    expect(scheduler.admit(a, 100).admitted).toBe(0)
    for (const _ of times(10, 0)) scheduler.record(a, silent)
    expect(scheduler.admit(b, 100).admitted).toBe(20)
    scheduler.finish(a, 10)
    expect(scheduler.admit(a, 1)).toMatchObject({ admitted: 0, limit: 'suspended' })
    expect(scheduler.sites()).toMatchObject([
      { key: 'google', is: 'suspended', because: 'unreachable', inFlight: 0 },
      { key: 'mx-1', is: 'open', inFlight: 20 },
    ])
    now += 5 * MINUTE_MS
    expect(scheduler.admit(a, 5).admitted).toBe(1)
  })

  test('is divided between processes', () => {
    const scheduler = createScheduler({ now: () => NOW, processes: () => 2, overrides: {} })
    expect(scheduler.limitsOf({ key: 'google', label: 'Google' })).toMatchObject({ connections: 2, mails_per_second: 50 })
    expect(scheduler.connectionLimitsOf({ key: 'google', label: 'Google' })).toEqual({
      connections: 2,
      mailsPerConnection: 50,
      isTlsRequired: true,
    })
    expect(scheduler.admit({ key: 'google', label: 'Google' }, 100).admitted).toBe(4)
  })

  test('looks for unused sites once a minute at most, when there are too many', () => {
    let now = NOW
    const scheduler = createScheduler({ now: () => now, processes: () => 1, overrides: {} })
    const use = (from: number, count: number) => {
      for (let at = from; at < from + count; at++) scheduler.admitConnection({ key: `mx-${at}`, label: '' })
    }
    use(0, 50_000)
    const scans = vi.spyOn(Map.prototype, Symbol.iterator)
    use(50_000, 20)
    expect(scans).toHaveBeenCalledTimes(1)
    now += HOUR_MS + 1
    use(50_020, 1)
    expect(scans).toHaveBeenCalledTimes(2)
    scans.mockRestore()
    expect(scheduler.sites().map(({ key }) => key)).toEqual(['mx-50020'])
  })

  test.each<[string, SiteEvent[], number]>([
    ['all of its connections', [], 10],
    ['what 421 has left of them, while there were several processes', [busy], 2],
  ])('is for a process that is alone again %s', (_, events, connections) => {
    let processes = 1
    const scheduler = createScheduler({ now: () => NOW, processes: () => processes, overrides: {} })
    const site = { key: 'mx-1', label: 'example.org' }
    scheduler.record(site, delivered)
    processes = 2
    for (const event of [delivered, ...events]) scheduler.record(site, event)
    expect(scheduler.limitsOf(site).connections).toBe(Math.min(5, connections))
    processes = 1
    expect(scheduler.limitsOf(site).connections).toBe(connections)
  })

  test('new connections are limited by the minute', () => {
    const site = { key: 'mx-1', label: 'example.org' }
    const scheduler = createScheduler({ now: () => NOW, processes: () => 1, overrides: { 'mx-1': { connections_per_minute: 3 } } })
    expect(times(4, 0).map(() => scheduler.admitConnection(site).isAdmitted)).toEqual([true, true, true, false])
    expect(scheduler.admitConnection(site).nextAt).toBe(NOW + 20_000)
  })
})

describe('what an attempt says of the site', () => {
  const host = 'mx.example.org'
  const temporary = { is: 'temporary', reason: '', host, scope: 'site' } as const
  const busyReply = { code: 421, response: '421 busy' }
  const slowDown = (to: string): RecipientOutcome => ({ ...temporary, reply: { code: 451, response: `451 4.3.2 Server busy: ${to}` } })
  const accepted: RecipientOutcome = { is: 'delivered', host, peer: {}, reply: { code: 250, response: '250 OK' } }

  test.each<[string, RecipientOutcome, SiteEvent | null]>([
    ['a reply', { ...temporary, reply: busyReply }, { is: 'replied', ...busyReply }],
    ['a reply of ours', { is: 'permanent', reason: '', reply: { code: 550, response: '550 5.4.4 No address' } }, null],
    ['a refused connection', { ...temporary, fault: 'refused' }, refused],
    ['silence', { ...temporary, fault: 'failed' }, silent],
    ['silence after the content', { is: 'uncertain', reason: '', host, fault: 'failed' }, silent],
    ['a fault of TLS or of the DNS', temporary, null],
  ])('%s', (_, outcome, expected) => {
    expect(siteEventsOf('mx-1', [outcome])).toEqual(expected ? [expected] : [])
  })

  test.each<[string, RecipientOutcome[], number]>([
    ['one 421', times(4, { ...temporary, reply: busyReply }), 1],
    ['one lost connection', times(10, { ...temporary, fault: 'failed' }), 1],
    ['three replies of one kind', ['a', 'b', 'c'].map(slowDown), 1],
    ['what was accepted', times(100, accepted), 1],
    ['what was accepted and a reply about the others', [accepted, slowDown('a'), accepted], 2],
  ])('to several recipients counts once: %s', (_, outcomes, count) => {
    expect(siteEventsOf('mx-1', outcomes)).toHaveLength(count)
  })
})

describe('hosts', () => {
  const run = (events: [string, Parameters<typeof hostsAfter>[2]][], hosts: Hosts = {}) =>
    events.reduce((before, [host, event]) => hostsAfter(before, host, event, NOW), hosts)

  test('that fail 100 times in a row are skipped for half an hour, unless there is no other', () => {
    const failed = run(times(100, ['mx1', 'failed']))
    expect(hostsToTry(run(times(99, ['mx1', 'failed'])), ['mx1', 'mx2'], NOW)).toEqual(['mx1', 'mx2'])
    expect(hostsToTry(failed, ['mx1', 'mx2'], NOW)).toEqual(['mx2'])
    expect(hostsToTry(failed, ['mx1'], NOW)).toEqual(['mx1'])
    expect(hostsToTry(failed, ['mx1', 'mx2'], NOW + 30 * MINUTE_MS)).toEqual(['mx1', 'mx2'])
    expect(hostsToTry(run([['mx1', 'connected']], failed), ['mx1', 'mx2'], NOW)).toEqual(['mx1', 'mx2'])
  })

  test('that work take no memory, and others only so much', () => {
    expect(
      run([
        ['mx1', 'failed'],
        ['mx1', 'connected'],
      ]),
    ).toEqual({})
    const many = run(times(80, 0).map((_, at) => [`mx${at}`, 'failed']))
    expect(Object.keys(many)).toHaveLength(50)
  })
})
