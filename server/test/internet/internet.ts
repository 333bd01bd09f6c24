/**
 * An Internet of mail on loopback: a name server, MX hosts on addresses of 127/8, and the web server of MTA-STS policies. Point
 * `DNS_SERVERS` at `dns.server`, and deliver to the port `mx.port` instead of 25.
 */
import { type Certificates, openCertificates } from './certificates.ts'
import { type FakeDns, openFakeDns } from './fake-dns.ts'
import { type FakeMx, openFakeMx } from './fake-mx.ts'
import type { MxBehaviour, MxHost } from './mx-host.ts'
import { openPolicyHost, type PolicyHost, type PolicyReply } from './policy-host.ts'

export type Internet = AsyncDisposable & {
  dns: FakeDns
  mx: FakeMx
  policies: PolicyHost
  certificates: Certificates
  /** Adds an MX host, with its address in the DNS. */
  host(name: string, behaviour?: MxBehaviour): MxHost
  /** Adds a domain with these hosts, by name; the first is preferred. Hosts that do not exist yet are added, healthy. */
  domain(name: string, ...hosts: string[]): void
  /** Publishes an MTA-STS policy, under the id `1` unless another one is given. */
  policy(domain: string, reply: PolicyReply, id?: string): void
}

/** An address that refuses connections at once: the farm has no IPv6. */
export const REFUSING_ADDRESS = '::1'

const PREFERENCE_STEP = 10

/** Opens everything. `authorityDir` is the folder of the authority that the engine trusts: `inject('authorityDir')` in tests. */
export async function openInternet(authorityDir: string): Promise<Internet> {
  const certificates = await openCertificates(authorityDir)
  const [dns, mx, policies] = await Promise.all([openFakeDns(), openFakeMx(certificates), openPolicyHost(certificates)])
  const host = (name: string, behaviour?: MxBehaviour) => {
    const added = mx.add(name, behaviour)
    dns.set(name, { a: [added.ip] })
    return added
  }
  return {
    dns,
    mx,
    policies,
    certificates,
    host,
    domain(name, ...hosts) {
      for (const other of hosts) if (!mx.hosts.has(other)) host(other)
      dns.set(name, { mx: hosts.map((other, index) => [(index + 1) * PREFERENCE_STEP, other]) })
    },
    policy(domain, reply, id = '1') {
      dns.set(`_mta-sts.${domain}`, { txt: [`v=STSv1; id=${id};`] })
      dns.set(`mta-sts.${domain}`, { a: [policies.ip] })
      policies.set(domain, reply)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([dns[Symbol.asyncDispose](), mx[Symbol.asyncDispose](), policies[Symbol.asyncDispose]()])
    },
  }
}
