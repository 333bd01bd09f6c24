/** Random faults of hosts, against what must hold whatever they do. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Internet, openInternet } from '../../../../test/internet/internet.ts'
import type { MxScript, MxStage, Reaction } from '../../../../test/internet/mx-host.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { egressPolicy } from '../../../lib/egress.ts'
import { createMxClient } from './client.ts'
import type { AttemptOutcome, Route } from './outcome.ts'

let internet: Internet
beforeAll(async () => {
  internet = await openInternet(inject('authorityDir'))
})
afterAll(() => internet[Symbol.asyncDispose]())

const STAGES: MxStage[] = ['GREETING', 'EHLO', 'HELO', 'STARTTLS', 'MAIL', 'RCPT', 'DATA', 'BODY', 'QUIT']
const LATE_MS = 250
const ends = (then: NonNullable<Reaction['then']>): Reaction => ({ then })

/** What a host does at one command: mostly what it should. */
const reaction = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('550 5.1.1 no', '451 4.7.1 later', '421 4.7.0 slow down', '503 5.5.1 what?', '354 surprise') },
  { weight: 1, arbitrary: fc.constantFrom(ends('close'), ends('reset'), ends('half-close'), ends('silence')) },
  { weight: 1, arbitrary: fc.constantFrom<Reaction>({ reply: 'garbage' }, { delayMs: 5 }, { ...ends('close'), reply: '421 4.3.2 bye' }) },
)

/** A host with the reactions to its commands, in the order in which they come. */
const behaviour = fc.record({
  tls: fc.constantFrom('valid', 'none', 'garbage', 'self-signed', 'closes') as fc.Arbitrary<'valid'>,
  extensions: fc.constantFrom<string[]>(['PIPELINING', '8BITMIME'], ['PIPELINING', 'SIZE 100000', 'DSN'], ['SIZE 10000'], []),
  connectionsMax: fc.constantFrom(1, 2, 100),
  reactions: fc.array(reaction, { minLength: 20, maxLength: 60 }),
  isLate: fc.boolean(),
})

const scene = fc.record({
  hosts: fc.array(behaviour, { minLength: 1, maxLength: 2 }),
  mails: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 8 }),
  connections: fc.integer({ min: 1, max: 3 }),
  mailsPerConnection: fc.integer({ min: 1, max: 4 }),
})

/** A host that asks for more after MAIL or RCPT has accepted them in its own view, and lies. */
const sane = (stage: MxStage, answer: string | Reaction | undefined) =>
  (stage === 'MAIL' || stage === 'RCPT') && typeof answer === 'string' && answer.startsWith('3') ? undefined : answer

function scriptOf(reactions: (string | Reaction | undefined)[], isLate: boolean): MxScript {
  let at = 0
  const script: MxScript = Object.fromEntries(STAGES.map((stage) => [stage, () => sane(stage, reactions[at++ % reactions.length])]))
  // The mail is accepted, but the reply comes when the client has left.
  return isLate ? { ...script, BODY: () => (at++ % 4 === 0 ? { delayMs: LATE_MS } : undefined) } : script
}

let scenes = 0

test('each recipient has one outcome, and what a host has accepted is delivered or uncertain', async () => {
  await fc.assert(
    fc.asyncProperty(scene, async ({ hosts, mails, connections, mailsPerConnection }) => {
      const name = `scene${++scenes}`
      const added = hosts.map(({ reactions, isLate, ...rest }, index) =>
        internet.host(`mx${index}.${name}.test`, { ...rest, script: scriptOf(reactions, isLate) }),
      )
      const limits = { greetingMs: 120, tlsMs: 120, commandMs: 120, blockMs: 120, finalMs: 120, idleMs: 50 }
      const client = createMxClient({
        policy: egressPolicy(['127.0.0.0/8']),
        clock: createTestClock(),
        name: 'carillon.test',
        port: internet.mx.port,
        isLoopbackOnly: true,
        limits,
        resolver: {
          addresses: async (host) => ({ is: 'addresses', addresses: [internet.mx.hosts.get(host)?.ip ?? ''], isSecure: false }),
          tlsa: async () => ({ is: 'none' }),
        },
      })
      const route: Route = {
        site: name,
        domain: `${name}.test`,
        hosts: added.map((host, index) => ({ host: host.name, preference: index })),
        steps: [],
      }
      const sent = mails.map((count, mail) => {
        const to = Array.from({ length: count }, (_, index) => `m${mail}-r${index}@${name}.test`)
        const content = Buffer.from(`Subject: ${mail}\r\n\r\nHello\r\n`)
        return { to, outcome: client.deliver(route, { from: 'b@example.com', to, content }, { connections, mailsPerConnection }) }
      })
      const all: { to: string[]; outcome: AttemptOutcome }[] = []
      for (const { to, outcome } of sent) all.push({ to, outcome: await outcome })
      client.close()
      await expect.poll(() => added.every(({ counts }) => counts.open === 0)).toBe(true)

      for (const { to, outcome } of all) {
        expect([...outcome.recipients.keys()]).toEqual(to)
        for (const [address, { is }] of outcome.recipients) {
          const accepted = added.flatMap((host) => host.mails.flatMap((mail) => mail.to.filter((other) => other === address))).length
          if (is === 'delivered') expect(accepted).toBe(1)
          else if (is === 'uncertain') expect(accepted).toBeLessThanOrEqual(1)
          else expect(accepted).toBe(0)
        }
      }
      for (const { counts } of added) {
        expect(counts.mostOpen).toBeLessThanOrEqual(connections)
        expect(Math.max(0, ...counts.mailsPerConnection)).toBeLessThanOrEqual(mailsPerConnection)
      }
    }),
    { numRuns: 60 },
  )
}, 120_000)
