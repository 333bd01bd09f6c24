/** What the DNS says about where email goes, as delivery asks for it. Faults of the DNS are answers, not errors. */
import { isIP } from 'node:net'
import type { Clock } from '../../../lib/clock.ts'
import type { HostLookup } from '../../../lib/egress.ts'
import type { MtaStsPolicy } from '../../../lib/mta-sts.ts'
import { reverseName } from '../../../lib/reverse-name.ts'
import { dnsName } from '../../../lib/urls.ts'
import type { SafeFetch } from '../safe-fetch.ts'
import type { AddressAnswer, MxAnswer, TlsaAnswer } from './answers.ts'
import { mxAnswer } from './mx-answer.ts'
import { openPolicies, type PolicyStore } from './policies.ts'
import { type Found, openRecords, type Records } from './records.ts'
import { nameServers } from './servers.ts'

export type { MtaStsPolicy } from '../../../lib/mta-sts.ts'
export type { AddressAnswer, MxAnswer, MxHost, TlsaAnswer } from './answers.ts'

export type MailResolver = {
  mx(domain: string): Promise<MxAnswer>
  /** Addresses that are not usable are left out before it is decided which are returned. */
  addresses(host: string, isUsable?: IsUsable): Promise<AddressAnswer>
  /** All addresses of both families, in no order. */
  everyAddress(host: string): Promise<AddressAnswer>
  /** The strings of each record, joined. */
  txt(name: string): Promise<string[] | 'none' | 'failed'>
  tlsa(name: string): Promise<TlsaAnswer>
  /** The names of an address (reverse DNS). */
  names(address: string): Promise<string[] | 'none' | 'failed'>
  /** The MTA-STS policy that applies now, or null. Its mode says what it asks for. */
  policy(domain: string): Promise<MtaStsPolicy | null>
}

type IsUsable = (address: string) => boolean

export type MailResolverOptions = {
  /** The setting `DNS_SERVERS`; without one, the servers of the system. */
  servers: readonly string[]
  /** The setting `DNS_VALIDATES`: whether the AD bit of the servers can be relied on. */
  validates: boolean
  clock: Clock
  random: () => number
  /** Opens the HTTPS client for policies, which finds hosts by the lookup that it gets. */
  openFetch: (lookup: HostLookup) => SafeFetch
  store: PolicyStore
  onError: (error: unknown) => void
  timeoutMs?: number
  policyPort?: number
}

const ADDRESSES_MAX = 2
const IMPLICIT_PREFERENCE = 0
export const NO_USABLE_ADDRESS = 'The host has only addresses that this server does not send email to.'

/** Opens a resolver with an empty cache. Disposing of it ends the queries that are under way. */
export function createMailResolver(options: MailResolverOptions): MailResolver & AsyncDisposable {
  const { validates, random, store, onError, clock, timeoutMs, policyPort } = options
  const closing = new AbortController()
  const servers = nameServers(options.servers, clock)
  const records = openRecords({ servers, clock, signal: closing.signal, ...(timeoutMs !== undefined && { timeoutMs }) })
  const secured = (isSecure: boolean) => validates && isSecure
  const addresses: MailResolver['addresses'] = (host, isUsable = () => true) =>
    findAddresses({ records, validates, random }, host, { isUsable, max: ADDRESSES_MAX })
  const txt: MailResolver['txt'] = async (name) => {
    const found = await records.find(name, 'TXT')
    return found.is === 'records' ? found.values : found.is
  }
  const fetch = options.openFetch(lookupBy(addresses))
  const policy = openPolicies({ txt, fetch, store, clock, onError, ...(policyPort !== undefined && { port: policyPort }) })
  return {
    addresses,
    everyAddress: (host) => findAddresses({ records, validates, random }, host, { isUsable: () => true, max: Number.POSITIVE_INFINITY }),
    txt,
    async mx(domain) {
      const name = dnsName(domain)
      if (name === null) return { is: 'no-domain', reason: 'This is not a domain name.' }
      const found = await records.find(name, 'MX')
      if (found.is === 'failed') return { is: 'failed', reason: `The MX records could not be looked up: ${found.reason}.` }
      if (found.is === 'records') return mxAnswer(found.values, { ...found, isSecure: secured(found.isSecure) }, random)
      if (!found.exists) return { is: 'no-domain', reason: 'The domain does not exist.' }
      return implicitMx(name, found.ttlS, await addresses(name), secured(found.isSecure))
    },
    async names(address) {
      const found = await records.find(reverseName(address), 'PTR')
      return found.is === 'records' ? found.values : found.is
    },
    async tlsa(name) {
      if (!validates) return { is: 'none' }
      const found = await records.find(name, 'TLSA')
      if (found.is === 'failed') return { is: 'failed', reason: `The TLSA records could not be looked up: ${found.reason}.` }
      return found.is === 'records' && found.isSecure && found.values.length > 0 ? { is: 'records', records: found.values } : { is: 'none' }
    },
    async policy(domain) {
      const name = dnsName(domain)
      return name === null ? null : policy(name)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await fetch[Symbol.asyncDispose]()
    },
  }
}

/** A domain without MX records is its own host, if it has an address (RFC 5321 §5.1). */
function implicitMx(domain: string, ttlS: number, found: AddressAnswer, isSecure: boolean): MxAnswer {
  if (found.is === 'failed') return found
  if (found.is === 'none') return { is: 'no-domain', reason: 'The domain has neither MX records nor addresses.' }
  return { is: 'hosts', hosts: [{ host: domain, preference: IMPLICIT_PREFERENCE }], isImplicit: true, isSecure, ttlS }
}

type Finding = { records: Records; validates: boolean; random: () => number }

/** Asks for IPv6 addresses only if there are not enough of IPv4. */
async function findAddresses(
  { records, validates, random }: Finding,
  host: string,
  { isUsable, max }: { isUsable: IsUsable; max: number },
): Promise<AddressAnswer> {
  const found: Found<'A' | 'AAAA'>[] = [await records.find(host, 'A')]
  const usable = (answer: Found<'A' | 'AAAA'>) => shuffled(valuesOf(answer).filter(isUsable), random)
  const first = usable(found[0] as Found<'A'>)
  if (first.length < max) found.push(await records.find(host, 'AAAA'))
  const all = [...first, ...(found[1] ? usable(found[1]) : [])].slice(0, max)
  // An answer that failed may have been held back by an attacker: the addresses that are used decide.
  const isSecure = validates && found.every((answer) => answer.is !== 'records' || answer.isSecure)
  if (all.length > 0) return { is: 'addresses', addresses: all, isSecure }
  const failure = found.find((answer) => answer.is === 'failed')
  if (failure) return { is: 'failed', reason: `The addresses of the host could not be looked up: ${failure.reason}.` }
  if (found.some((answer) => valuesOf(answer).length > 0)) return { is: 'none', reason: NO_USABLE_ADDRESS }
  return { is: 'none', reason: 'The host does not exist, or has no address.' }
}

const valuesOf = (found: Found<'A' | 'AAAA'>): string[] => (found.is === 'records' ? found.values : [])

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

const lookupBy =
  (addresses: MailResolver['addresses']): HostLookup =>
  async (host) => {
    const found = await addresses(host)
    return found.is === 'addresses' ? found.addresses.map((address) => ({ address, family: isIP(address) })) : []
  }
