/** DNS messages (RFC 1035): the question, and what an answer to it says. Pure. Nothing that a server sends makes it throw. */
import { isIPv4, isIPv6 } from 'node:net'
import {
  type Answer,
  AUTHENTIC_DATA,
  type DecodedPacket,
  decode,
  encode,
  type OptAnswer,
  RECURSION_DESIRED,
  type SoaAnswer,
  type StringAnswer,
} from 'dns-packet'
import type { TlsaRecord } from '../../../lib/dane.ts'

/** The values of the records that are asked for, by type. */
export type Values = {
  MX: { preference: number; exchange: string }
  A: string
  AAAA: string
  /** The strings of the record, joined. */
  TXT: string
  TLSA: TlsaRecord
  PTR: string
}

export type RecordType = keyof Values

export type Question = { name: string; type: RecordType; id: number }

/**
 * What a server said about a name.
 *
 * - `records`, `none`: the answer; `exists` says if the name does. Both hold for `ttlS` seconds.
 * - `alias`: the name stands for another one, whose records the server left out.
 * - `truncated`: the answer did not fit. `failed`: there is none from this server.
 */
export type Said<T extends RecordType> =
  | { is: 'records'; values: Values[T][]; isSecure: boolean; ttlS: number }
  | { is: 'none'; exists: boolean; isSecure: boolean; ttlS: number }
  | { is: 'alias'; of: string; isSecure: boolean; ttlS: number }
  | { is: 'truncated' }
  | { is: 'failed'; reason: string }

/** What is read over UDP at most, so that no network has to divide it (RFC 9715). */
const UDP_BYTES_MAX = 1232
/** Records of a set beyond this number are not read. */
const RECORDS_MAX = 50
const ALIASES_MAX = 8
const NEGATIVE_TTL_S = 60

const RCODE_MASK = 0x0f
const OPCODE_MASK = 0x7800
const NXDOMAIN = 3
const RCODES: Record<number, string> = { 1: 'FORMERR', 2: 'SERVFAIL', 4: 'NOTIMP', 5: 'REFUSED' }

/** A query that asks for recursion and, by its AD bit, whether the answer was validated (RFC 6840 §5.7). */
export function encodeQuestion({ name, type, id }: Question): Buffer {
  const opt: OptAnswer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: UDP_BYTES_MAX,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  }
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [{ name, type, class: 'IN' }],
    additionals: [opt],
  })
}

/** Reads a message. Null if it does not answer the question: a forged or damaged one must not end the wait for the right one. */
export function readAnswer<T extends RecordType>(message: Buffer, question: Question & { type: T }): Said<T> | null {
  const packet = decoded(message)
  if (!packet?.flag_qr || packet.id !== question.id || !repeats(packet, question)) return null
  if (packet.flag_tc) return { is: 'truncated' }
  const flags = packet.flags ?? 0
  const rcode = flags & RCODE_MASK
  const opt = packet.additionals?.find((record) => record.type === 'OPT')
  if ((flags & OPCODE_MASK) !== 0 || (opt && opt.extendedRcode !== 0)) return { is: 'failed', reason: 'an answer of an unknown kind' }
  if (rcode !== 0 && rcode !== NXDOMAIN) return { is: 'failed', reason: RCODES[rcode] ?? `RCODE ${rcode}` }
  return readRecords(packet, question, rcode !== NXDOMAIN)
}

function decoded(message: Buffer): DecodedPacket | null {
  try {
    return decode(message)
  } catch {
    return null
  }
}

/** Whether a packet repeats the question, as answers do (RFC 5452 §9.1). */
function repeats({ questions = [] }: DecodedPacket, { name, type }: Question): boolean {
  const [asked] = questions
  return questions.length === 1 && asked?.name.toLowerCase() === name && asked.type === type && asked.class === 'IN'
}

function readRecords<T extends RecordType>(packet: DecodedPacket, { name, type }: Question & { type: T }, exists: boolean): Said<T> {
  const isSecure = packet.flag_ad
  const inClass = (packet.answers ?? []).filter((record) => record.type !== 'OPT' && record.class === 'IN')
  const byName = Map.groupBy(inClass, (record) => record.name.toLowerCase())
  let [at, ttlS] = [name, Number.POSITIVE_INFINITY]
  for (let aliases = 0; aliases <= ALIASES_MAX; aliases++) {
    const records = byName.get(at) ?? []
    const own = records.filter((record) => record.type === type).slice(0, RECORDS_MAX)
    ttlS = Math.min(ttlS, ...[...own, ...records.filter(isAlias)].map(ttlOf))
    if (own.length > 0) {
      const values = own.map((record) => readValue(record, type)).filter(isValue)
      return values.length > 0 ? { is: 'records', values, isSecure, ttlS } : { is: 'failed', reason: 'records that cannot be read' }
    }
    const alias = records.find(isAlias)
    if (!alias) return nothingAt(packet, at === name ? null : at, exists, ttlS)
    at = alias.data.toLowerCase()
  }
  return { is: 'failed', reason: 'too many aliases' }
}

const isAlias = (record: Answer): record is StringAnswer => record.type === 'CNAME'
const ttlOf = (record: Answer) => ('ttl' in record ? (record.ttl ?? 0) : 0)
const isValue = <V>(value: V | null): value is V => value !== null

/** What it means that an answer ends without records. `alias` is the name at its end, if that is another one. */
function nothingAt(packet: DecodedPacket, alias: string | null, exists: boolean, ttlS: number): Exclude<Said<never>, { is: 'records' }> {
  const isSecure = packet.flag_ad
  const authorities = packet.authorities ?? []
  const soa = authorities.find((record): record is SoaAnswer => record.type === 'SOA')
  if (exists && !soa) {
    // A referral says who knows more: the server does not ask others.
    if (authorities.some(({ type }) => type === 'NS')) return { is: 'failed', reason: 'a referral to other name servers' }
    if (alias !== null) return { is: 'alias', of: alias, isSecure, ttlS }
  }
  // RFC 2308 §5
  const negativeTtlS = soa ? Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) : NEGATIVE_TTL_S
  return { is: 'none', exists, isSecure, ttlS: Math.min(ttlS, negativeTtlS) }
}

/** The value of a record, or null if it is none that can be used. Copied, because what was read is part of the packet. */
function readValue<T extends RecordType>(record: Answer, type: T): Values[T] | null {
  return (READERS[type] as (data: never) => Values[T] | null)((record as { data: unknown }).data as never)
}

const READERS: { [T in RecordType]: (data: never) => Values[T] | null } = {
  MX: ({ preference = 0, exchange }: { preference?: number; exchange: string }) => ({ preference, exchange: exchange.toLowerCase() }),
  A: (data: string) => (isIPv4(data) ? data : null),
  AAAA: (data: string) => (isIPv6(data) ? data : null),
  TXT: (data: Buffer[]) => Buffer.concat(data).toString('utf8'),
  PTR: (data: string) => data.toLowerCase(),
  TLSA: ({
    usage,
    selector,
    matchingType,
    certificate,
  }: {
    usage: number
    selector: number
    matchingType: number
    certificate: Buffer
  }) => ({
    usage,
    selector,
    matchingType,
    data: Buffer.from(certificate),
  }),
}
