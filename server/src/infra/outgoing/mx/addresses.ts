/** The addresses of mail hosts that may be connected to. The owner of a domain chooses its hosts, so private addresses and those of this server are refused. */
import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type EgressPolicy, egressPolicy, isAllowedAddress } from '../../../lib/egress.ts'
import { type MailResolver, NO_USABLE_ADDRESS } from '../dns/mail-resolver.ts'

type Tools = { policy: EgressPolicy; resolver: Pick<MailResolver, 'addresses'>; isLoopbackOnly: boolean }

export type UsableAddresses = { is: 'addresses'; addresses: string[]; isSecure: boolean } | { is: 'none' | 'failed'; reason: string }

const LOOPBACK = egressPolicy(['127.0.0.0/8', '::1/128'])
const NOTHING = egressPolicy([])
const isLoopback = (ip: string): boolean => isAllowedAddress(LOOPBACK, ip) && !isAllowedAddress(NOTHING, ip)

/** The addresses of a host, without those that mail may not be sent to. */
export async function usableAddresses({ policy, resolver, isLoopbackOnly }: Tools, host: string): Promise<UsableAddresses> {
  const own = ownAddresses()
  const isUsable = (address: string): boolean => {
    if (isLoopbackOnly && !isLoopback(address))
      throw new Error(`${host} has the address ${address}, but only loopback connections are allowed here.`)
    return isAllowedAddress(policy, address) && (isLoopback(address) || !own.has(address))
  }
  const answer = await resolver.addresses(host, isUsable)
  if (answer.is !== 'addresses') return answer
  // Connections are made to nothing else, whatever the resolver returns.
  const addresses = answer.addresses.filter(isUsable)
  return addresses.length > 0 ? { ...answer, addresses } : { is: 'none', reason: NO_USABLE_ADDRESS }
}

/** The addresses of this machine. None if the system does not tell them: a sandbox may deny the sockets that ask (`AF_NETLINK`). */
export function ownAddresses(onError?: (error: unknown) => void): Set<string> {
  try {
    const networks = Object.values(networkInterfaces()).flat()
    return new Set(networks.map((network) => network?.address ?? ''))
  } catch (error) {
    onError?.(error)
    return new Set()
  }
}

let connections = 0

/** One of this server’s addresses of the same family, in turn. */
export function sourceFor(sources: readonly string[], address: string): string | undefined {
  const fitting = sources.filter((source) => isIPv6(source) === isIPv6(address))
  return fitting[connections++ % fitting.length]
}
