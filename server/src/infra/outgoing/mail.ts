/** What the delivery of email needs of the outside: where email goes, and connections to mail hosts. */
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Clock } from '../../lib/clock.ts'
import { egressPolicy, type HostLookup } from '../../lib/egress.ts'
import { isDomainName } from '../../lib/urls.ts'
import { createMailResolver, type MailResolver } from './dns/mail-resolver.ts'
import type { PolicyStore } from './dns/policies.ts'
import { ownAddresses, usableAddresses } from './mx/addresses.ts'
import { createMxClient } from './mx/client.ts'
import type { MxClient } from './mx/outcome.ts'
import { createSafeFetch } from './safe-fetch.ts'
import { type TcpOutcome, tcpCheck } from './tcp-check.ts'

export type MailOutside = {
  resolver: MailResolver
  client: MxClient
  /** How this server names itself to mail hosts. */
  name: string
  /** Whether a mail host accepts a connection on the port to which email is delivered. Sends nothing. */
  reach(host: string): Promise<TcpOutcome>
}

/** The settings of the server. */
type Settings = {
  EGRESS_ALLOW_CIDRS: readonly string[]
  DNS_SERVERS: readonly string[]
  DNS_VALIDATES: boolean
  MTA_HOSTNAME: string | undefined
  MTA_PORT: number
  MTA_SOURCE_ADDRESSES: readonly string[]
}

type Options = {
  config: Settings
  clock: Clock
  random: () => number
  /** Additional trusted root certificates in PEM. */
  ca: string[]
  baseUrl: string
  /** The policies by which domains ask for TLS. */
  store: PolicyStore
  /** `problem` says what is not possible because of the error. */
  onError(error: unknown, problem: string): void
  /** Connections to another address than loopback are errors: for tests. */
  isLoopbackOnly: boolean
}

/** Shorter than those of a delivery, because a caller waits. */
const REACH_LIMITS = { lookupMs: 7000, connectMs: 4000, totalMs: 5000 }

const USER_AGENT = 'Carillon-MTA-STS/1.0'

/** Opens a resolver and a client without connections. Disposing of the result closes both. */
export function openMail(options: Options): MailOutside & AsyncDisposable {
  const { config, clock, random, ca, baseUrl, store, onError, isLoopbackOnly } = options
  const policy = egressPolicy([...config.EGRESS_ALLOW_CIDRS])
  const resolver = createMailResolver({
    servers: config.DNS_SERVERS,
    validates: config.DNS_VALIDATES,
    clock,
    random,
    openFetch: (lookup) => createSafeFetch({ policy, ca, userAgent: USER_AGENT, lookup }),
    store,
    onError: (error) => onError(error, 'an MTA-STS policy could not be refreshed'),
  })
  const { MTA_PORT: port, MTA_SOURCE_ADDRESSES: sources } = config
  const name = nameOf(config, baseUrl)
  ownAddresses((error) => onError(error, 'the addresses of this machine cannot be read, so email to them is not refused'))
  const client = createMxClient({ policy, resolver, clock, ca, name, port, sources, isLoopbackOnly })
  return {
    resolver,
    client,
    name,
    reach: (host) => tcpCheck({ host, port, policy, limits: REACH_LIMITS, lookup: lookupOf({ policy, resolver, isLoopbackOnly }) }),
    async [Symbol.asyncDispose]() {
      client.close()
      await resolver[Symbol.asyncDispose]()
    },
  }
}

/** The addresses of a host that email may be sent to. */
const lookupOf =
  (tools: Parameters<typeof usableAddresses>[0]): HostLookup =>
  async (host) => {
    const found = await usableAddresses(tools, host)
    return found.is === 'addresses' ? found.addresses.map((address) => ({ address, family: isIP(address) })) : []
  }

/** How this server names itself to mail hosts: a name is better than an address, which many refuse. */
function nameOf({ MTA_HOSTNAME }: Settings, baseUrl: string): string {
  const host = new URL(baseUrl).hostname
  return MTA_HOSTNAME ?? [host, hostname()].find(isDomainName) ?? '[127.0.0.1]'
}
