import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { type EgressPolicy, type HostLookup, isAllowedAddress } from '../../lib/egress.ts'
import { resolveHost } from './dns/system.ts'

export type TcpOutcome = 'success' | 'refused' | 'timeout' | 'unreachable' | 'reset' | 'dns_error' | 'blocked' | 'error'

type TcpCheck = {
  /** A host name or an IP address; IPv6 with or without brackets. */
  host: string
  port: number
  policy: EgressPolicy
  lookup?: HostLookup
  limits?: typeof LIMITS
}

const LIMITS = { lookupMs: 3000, connectMs: 5000, totalMs: 10_000 }
const ADDRESSES_MAX = 3

/** Checks if a TCP connection is accepted (D-TCP-2). Sends nothing, and connects only to addresses that the egress policy allows. */
export async function tcpCheck({ host, port, policy, lookup = resolveHost, limits = LIMITS }: TcpCheck): Promise<TcpOutcome> {
  const total = AbortSignal.timeout(limits.totalMs)
  const addresses = await addressesOf(host.replace(/^\[|\]$/g, ''), lookup, limits.lookupMs)
  if (addresses.length === 0) return 'dns_error'
  const allowed = addresses.filter((address) => isAllowedAddress(policy, address)).slice(0, ADDRESSES_MAX)
  if (allowed.length === 0) return 'blocked'

  const outcomes: TcpOutcome[] = []
  for (const address of allowed) {
    const outcome = await dial(address, port, AbortSignal.any([total, AbortSignal.timeout(limits.connectMs)]))
    if (outcome === 'success') return outcome
    outcomes.push(outcome)
  }
  // On a machine without IPv6, `unreachable` for an IPv6 address is no result about the host.
  return outcomes.find((outcome) => outcome !== 'unreachable') ?? 'unreachable'
}

async function addressesOf(host: string, lookup: HostLookup, timeoutMs: number): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  const found = lookup(host).catch(() => [])
  const tooLate = once(AbortSignal.timeout(timeoutMs), 'abort').then(() => [])
  return (await Promise.race([found, tooLate])).map(({ address }) => address)
}

function dial(address: string, port: number, signal: AbortSignal): Promise<TcpOutcome> {
  const { promise, resolve } = Promise.withResolvers<TcpOutcome>()
  const socket = connect({ host: address, port, signal })
  socket.on('connect', () => {
    resolve('success')
    socket.destroy()
  })
  socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(OUTCOMES[code] ?? 'error'))
  return promise
}

const OUTCOMES: Record<string, TcpOutcome> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  ABORT_ERR: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'reset',
}
