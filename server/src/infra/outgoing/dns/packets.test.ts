import { type Answer, decode, encode } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeQuestion, type RecordType, readAnswer } from './packets.ts'

const question = <T extends RecordType>(type: T) => ({ name: 'example.com', type, id: 4711 })

const answerTo = (type: RecordType, answers: Answer[], more: { flags?: number; authorities?: Answer[]; additionals?: Answer[] } = {}) =>
  encode({ type: 'response', id: 4711, questions: [{ name: 'Example.COM', type, class: 'IN' }], answers, ...more })

const mx: Answer = { type: 'MX', name: 'EXAMPLE.com', ttl: 100, data: { preference: 10, exchange: 'MX.example.com' } }
const soa: Answer = { type: 'SOA', name: 'com', ttl: 200, data: { mname: 'a', rname: 'b', minimum: 90 } }
const ns: Answer = { type: 'NS', name: 'com', ttl: 200, data: 'ns.example.com' }
const alias = (name: string, data: string, ttl = 300): Answer => ({ type: 'CNAME', name, ttl, data })

test('a question asks for recursion, for the AD bit, and for answers that no network divides', () => {
  expect(decode(encodeQuestion(question('MX')))).toMatchObject({
    id: 4711,
    flag_rd: true,
    flag_ad: true,
    questions: [{ name: 'example.com', type: 'MX', class: 'IN' }],
    additionals: [{ type: 'OPT', udpPayloadSize: 1232 }],
  })
})

describe('an answer', () => {
  test.each<[string, Buffer, object | null]>([
    ['has records', answerTo('MX', [mx]), { is: 'records', values: [{ preference: 10, exchange: 'mx.example.com' }], ttlS: 100 }],
    ['ignores other names', answerTo('MX', [{ ...mx, name: 'other.com' }]), { is: 'none', exists: true, ttlS: 60 }],
    ['follows aliases', answerTo('MX', [alias('example.com', 'a.com', 50), { ...mx, name: 'a.com' }]), { is: 'records', ttlS: 50 }],
    ['ends with an alias', answerTo('MX', [alias('example.com', 'a.com')]), { is: 'alias', of: 'a.com', ttlS: 300 }],
    ['has an alias of nothing', answerTo('MX', [alias('example.com', 'a.com')], { authorities: [soa] }), { is: 'none', ttlS: 90 }],
    ['has a ring of aliases', answerTo('MX', [alias('example.com', 'a.com'), alias('a.com', 'example.com')]), { is: 'failed' }],
    ['is nothing, for as long as the zone says', answerTo('MX', [], { authorities: [soa] }), { is: 'none', exists: true, ttlS: 90 }],
    ['is that the name does not exist', answerTo('MX', [], { flags: 3, authorities: [soa] }), { is: 'none', exists: false }],
    ['is a referral', answerTo('MX', [], { authorities: [ns] }), { is: 'failed', reason: 'a referral to other name servers' }],
    ['is SERVFAIL', answerTo('MX', [], { flags: 2 }), { is: 'failed', reason: 'SERVFAIL' }],
    ['is an unknown code', answerTo('MX', [], { flags: 9 }), { is: 'failed', reason: 'RCODE 9' }],
    [
      'is an unknown extended code',
      answerTo('MX', [], {
        additionals: [
          { type: 'OPT', name: '.', udpPayloadSize: 1, extendedRcode: 1, ednsVersion: 0, flags: 0, flag_do: false, options: [] },
        ],
      }),
      { is: 'failed' },
    ],
    ['is truncated', answerTo('MX', [], { flags: 1 << 9 }), { is: 'truncated' }],
    ['is damaged', answerTo('MX', [mx]).subarray(0, -3), null],
    ['is empty', Buffer.alloc(0), null],
    ['is a question', encodeQuestion(question('MX')), null],
  ])('%s', (_, message, expected) => {
    const said = readAnswer(message, question('MX'))
    if (expected === null) expect(said).toBeNull()
    else expect(said).toMatchObject(expected)
  })

  test('joins the strings of a text', () => {
    const answers: Answer[] = [{ type: 'TXT', name: 'example.com', ttl: 60, data: ['one ', 'text'] }]
    expect(readAnswer(answerTo('TXT', answers), question('TXT'))).toMatchObject({ values: ['one text'] })
  })

  test('is secure if its AD bit is set', () => {
    expect(readAnswer(answerTo('MX', [mx], { flags: 1 << 5 }), question('MX'))).toMatchObject({ isSecure: true })
    expect(readAnswer(answerTo('MX', [mx]), question('MX'))).toMatchObject({ isSecure: false })
  })
})

describe('a hostile answer', () => {
  const whole: Record<RecordType, Buffer> = {
    MX: answerTo('MX', [alias('example.com', 'a.com'), { ...mx, name: 'a.com' }, mx], { authorities: [soa, ns] }),
    A: answerTo('A', [{ type: 'A', name: 'example.com', ttl: 1, data: '192.0.2.1' }]),
    AAAA: answerTo('AAAA', [{ type: 'AAAA', name: 'example.com', ttl: 1, data: '2001:db8::1' }]),
    TXT: answerTo('TXT', [{ type: 'TXT', name: 'example.com', ttl: 1, data: ['one', 'two'] }]),
    TLSA: answerTo('TLSA', [
      { type: 'TLSA', name: 'example.com', ttl: 1, data: { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32) } },
    ]),
    PTR: answerTo('PTR', [{ type: 'PTR', name: 'example.com', ttl: 1, data: 'mail.example.com' }]),
  }
  const KINDS = ['records', 'none', 'alias', 'truncated', 'failed']
  const SERVED = fc.constantFrom<RecordType>('MX', 'A', 'AAAA', 'TXT', 'TLSA', 'PTR')

  test('is read or ignored, whatever is changed in it', () => {
    const changes = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(SERVED, changes, fc.nat(40), (type, changed, cut) => {
        const message = Buffer.from(whole[type])
        // The header and the question stay, so that the rest is read.
        for (const [at, value] of changed) message[Math.min(29 + at, message.length - 1)] = value
        const said = readAnswer(message.subarray(0, message.length - (cut > 20 ? 0 : cut)), question(type))
        expect(said === null || KINDS.includes(said.is)).toBe(true)
        if (said?.is === 'records' && (type === 'A' || type === 'AAAA'))
          for (const value of said.values) expect(value).toMatch(/^[\d.a-f:]+$/)
      }),
      { numRuns: 3000 },
    )
  })

  test('with the longest chains of pointers that fit costs little', () => {
    const head = Buffer.from(answerTo('MX', []))
    head.writeUInt16BE(600, 6)
    const chain = Buffer.alloc(16_384 - head.length)
    // Each pointer leads to the one before it, and every twelfth byte begins a record.
    for (let at = 0; at + 2 <= chain.length; at += 2) chain.writeUInt16BE(0xc000 | Math.min(0x3fff, head.length + Math.max(at - 2, 0)), at)
    const started = process.cpuUsage().user
    expect(readAnswer(Buffer.concat([head, chain]), question('MX'))).toBeNull()
    expect((process.cpuUsage().user - started) / 1000).toBeLessThan(500)
  })
})
