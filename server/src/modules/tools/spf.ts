/** Parses and checks the text of SPF records (RFC 7208), without DNS queries. */
import { isIPv4, isIPv6 } from 'node:net'
import { dnsName } from '../../lib/urls.ts'
import type { SpfReply } from './schema.ts'
import { hasValidMacros } from './spf-macros.ts'

export type SpfReport = SpfReply['data']

/** The warnings, in the order of the reply. The sentences are stable, because callers may compare them. */
export const WARNINGS = {
  none: 'No SPF record was found.',
  failed: 'The DNS look-up failed.',
  timedOut: 'The DNS look-up timed out.',
  several: 'More than one SPF record was found; receivers return a permanent error. The first is shown.',
  lookups: 'The record needs more than 10 DNS look-ups; receivers return a permanent error.',
  voids: 'More than 2 DNS look-ups of the record find nothing; receivers return a permanent error.',
  queries: 'The record needs more than 20 DNS queries. Not all of its terms were followed.',
  mxHosts: 'An `mx` has more than 10 hosts; receivers return a permanent error.',
  loop: 'The `include` and `redirect` terms form a loop.',
  targetless: 'An `include` or `redirect` names a domain without an SPF record; receivers return a permanent error.',
  endless: 'The record ends without `all` or `redirect`, so other senders are treated as neutral.',
  passAll: 'The record ends with `+all`, which lets any server send for this domain.',
  neutralAll: 'The record ends with `?all`, so other senders are treated as neutral.',
  ptr: 'The record uses `ptr`, which is slow and unreliable and should not be used.',
  afterAll: 'Mechanisms after `all` are never evaluated.',
  unknown: 'The record contains a term that is unknown, incomplete or names no domain.',
  macro: 'The record contains an invalid macro; receivers return a permanent error.',
  address: 'The record contains an invalid IP address or prefix length.',
  duplicate: 'The record contains the same term more than once.',
  redirectWithAll: 'The record has both `all` and `redirect`; the `redirect` is never followed.',
  long: 'The record is longer than 450 bytes and may not fit into one DNS answer.',
  longString: 'A string of the record is longer than 255 bytes.',
} as const

export type Warning = keyof typeof WARNINGS

/** The sentences of warnings, in the order of the table. */
export const sentences = (warnings: Set<Warning>): string[] =>
  (Object.keys(WARNINGS) as Warning[]).filter((warning) => warnings.has(warning)).map((warning) => WARNINGS[warning])

export type Term = {
  /** The published text. */
  text: string
  is: 'mechanism' | 'modifier'
  /** The name in lower case, without qualifier. */
  name: string
  qualifier: string
  /** The domain, in the form for DNS queries. With `%` in it, only a receiver can expand it. */
  domain?: string
  problem?: 'unknown' | 'macro' | 'address'
}

/** Is this TXT record an SPF record? It must be `v=spf1`, alone or before a space, in any case. */
export const isSpf = (text: string) => /^v=spf1( |$)/i.test(text)

/** The terms of a record after its version, in order. */
export const termsOf = (record: string): Term[] => record.split(' ').slice(1).filter(Boolean).map(parseTerm)

function parseTerm(text: string): Term {
  const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/i.exec(text)
  if (modifier) {
    const [, name = '', value = ''] = modifier
    const term = { text, is: 'modifier', name: name.toLowerCase(), qualifier: '' } as const
    if (NAMING_MODIFIERS.has(term.name)) return { ...term, ...named(value) }
    return REPORT_MODIFIERS.has(term.name) ? term : { ...term, problem: 'unknown' }
  }
  const [, qualifier = '', name = '', rest = ''] = /^([+\-~?]?)([a-z0-9]*)(.*)$/is.exec(text) ?? []
  const term = { text, is: 'mechanism', name: name.toLowerCase(), qualifier: qualifier || '+' } as const
  const read = Object.hasOwn(MECHANISMS, term.name) ? MECHANISMS[term.name] : undefined
  return { ...term, ...(read ? read(rest) : { problem: 'unknown' }) }
}

const NAMING_MODIFIERS = new Set(['redirect', 'exp'])
// RFC 6652.
const REPORT_MODIFIERS = new Set(['ra', 'rp', 'rr'])

type Rest = Pick<Term, 'domain' | 'problem'>

/** Parsers for the text after the name of each mechanism. */
const MECHANISMS: Record<string, (rest: string) => Rest> = {
  all: (rest) => (rest === '' ? {} : { problem: 'unknown' }),
  include: afterColon,
  exists: afterColon,
  a: hosts,
  mx: hosts,
  ptr: (rest) => (rest === '' ? {} : afterColon(rest)),
  ip4: (rest) => network(rest, isIPv4, 32),
  ip6: (rest) => network(rest, (ip) => isIPv6(ip) && !ip.includes('%'), 128),
}

function afterColon(rest: string): Rest {
  return rest.startsWith(':') ? named(rest.slice(1)) : { problem: 'unknown' }
}

function named(domain: string): Rest {
  if (domain.includes('%')) return hasValidMacros(domain) ? { domain } : { problem: 'macro' }
  const name = dnsName(domain)
  return name === null ? { problem: 'unknown' } : { domain: name }
}

/** `[:domain][/prefix][//prefix]`. A slash inside a macro belongs to the domain. */
function hosts(rest: string): Rest {
  const [suffix = '', prefix4, prefix6] = /(?:\/([^/{}]*))?(?:\/\/([^/{}]*))?$/.exec(rest) ?? []
  const domain = rest.slice(0, rest.length - suffix.length)
  if (!isPrefix(prefix4, 32) || !isPrefix(prefix6, 128)) return { problem: 'address' }
  return domain === '' ? {} : afterColon(domain)
}

function network(rest: string, isAddress: (ip: string) => boolean, bits: number): Rest {
  const [, address = '', prefix] = /^:([^/]*)(?:\/(.*))?$/s.exec(rest) ?? []
  return isAddress(address) && isPrefix(prefix, bits) ? {} : { problem: 'address' }
}

const isPrefix = (text: string | undefined, bits: number) => text === undefined || (/^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= bits)

const RECORD_BYTES_MAX = 450
const STRING_BYTES_MAX = 255

/** Parses the record of these TXT strings (D-SPF-2), with the warnings about its text. */
export function describeSpf(strings: string[]): { record: string; details: SpfReport['details']; warnings: Set<Warning> } {
  const record = strings.join('')
  const terms = termsOf(record)
  const all = terms.findIndex(isAll)
  const policy = terms[all]
  const mechanisms = terms.filter((term) => term !== policy).map((term) => term.text)
  return {
    record,
    details: { version: 'spf1', mechanisms, policy: policy ? `${policy.qualifier}all` : null },
    warnings: new Set([...warningsOfTerms(terms, all), ...warningsOfSize(strings)]),
  }
}

export const isAll = ({ name, is, problem }: Term) => name === 'all' && is === 'mechanism' && !problem

function* warningsOfTerms(terms: Term[], all: number): Iterable<Warning> {
  const has = (name: string) => terms.some((term) => term.name === name && !term.problem)
  const qualifier = terms[all]?.qualifier
  if (all < 0 && !has('redirect')) yield 'endless'
  if (qualifier === '+') yield 'passAll'
  if (qualifier === '?') yield 'neutralAll'
  if (has('ptr')) yield 'ptr'
  if (all >= 0 && terms.slice(all + 1).some((term) => term.is === 'mechanism')) yield 'afterAll'
  if (terms.some((term) => term.problem === 'unknown')) yield 'unknown'
  if (terms.some((term) => term.problem === 'macro')) yield 'macro'
  if (terms.some((term) => term.problem === 'address')) yield 'address'
  if (new Set(terms.map(duplicateKey)).size < terms.length) yield 'duplicate'
  if (all >= 0 && has('redirect')) yield 'redirectWithAll'
}

/** Terms with the same key are duplicates. The qualifier `+` can be omitted, and a modifier may occur only once. */
const duplicateKey = ({ is, name, qualifier, text }: Term) =>
  is === 'modifier' ? `${name}=` : `${qualifier}${text.toLowerCase().replace(/^[+\-~?]/, '')}`

function* warningsOfSize(strings: string[]): Iterable<Warning> {
  if (Buffer.byteLength(strings.join('')) > RECORD_BYTES_MAX) yield 'long'
  if (strings.some((string) => Buffer.byteLength(string) > STRING_BYTES_MAX)) yield 'longString'
}
