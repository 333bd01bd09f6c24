/**
 * Whether this server can deliver email itself (D-MTA-46): its name, its reverse DNS, its name servers, the port of mail hosts and the domain of the
 * sender.
 */
import type { AddressAnswer } from '../../infra/outgoing/dns/answers.ts'
import { type EgressPolicy, isAllowedAddress } from '../../lib/egress.ts'
import { isDomainName } from '../../lib/urls.ts'
import { domainOf, mailboxesIn } from './mail.ts'
import type { ProviderTools } from './provider.ts'
import { unverifiedSender } from './unverified-sender.ts'

/** The domain of a provider of mailboxes, whose hosts are tried if those of the sender’s domain are not reached. */
const KNOWN_DOMAIN = 'gmail.com'
/** Names of an address that are looked at. */
const NAMES_MAX = 3

/** Checks everything at once and says what to do about each problem. */
export async function checkDelivery(
  { default_from, return_domain }: { default_from?: string; return_domain?: string },
  { mail, fetch, senderOf }: Pick<ProviderTools, 'mail' | 'fetch' | 'senderOf'>,
): Promise<{ works: true } | { works: false; message: string }> {
  const [from] = mailboxesIn(default_from ?? '')
  const fromDomain = from ? domainOf(from.address) : null
  const [names, hosts, sender] = await Promise.all([
    mail.needsPublicName ? nameProblems(mail, fetch.policy) : [],
    hostsProblem(mail, fromDomain === null ? [KNOWN_DOMAIN] : [fromDomain, KNOWN_DOMAIN]),
    fromDomain === null ? undefined : senderOf(fromDomain, return_domain),
  ])
  const unverified = fromDomain === null || sender?.is_verified ? null : unverifiedSender(fromDomain, sender)
  const problems = [...names, hosts, unverified].filter((problem) => typeof problem === 'string')
  return problems.length === 0 ? { works: true } : { works: false, message: problems.join(' ') }
}

/** Mail hosts refuse email from a server whose name, which is that of its HELO, leads nowhere. */
async function nameProblems(mail: ProviderTools['mail'], policy: EgressPolicy): Promise<string[]> {
  const { name, resolver, addresses } = mail
  const found = isDomainName(name) ? await resolver.everyAddress(name) : null
  const usable = found?.is === 'addresses' ? found.addresses.filter((address) => isAllowedAddress(policy, address)) : []
  const reverse = (addresses.length > 0 ? addresses : usable).map((address) => reverseProblem(mail, address))
  return [usable.length > 0 ? null : nameProblem(name, found), ...(await Promise.all(reverse))].filter((problem) => problem !== null)
}

/** Why the name of the server is no public one. */
function nameProblem(name: string, found: AddressAnswer | null): string {
  const todo = 'Set `MTA_HOSTNAME` to a public host name of this server, and publish its A or AAAA record.'
  if (found === null) return `This server has no public host name. ${todo}`
  return found.is === 'addresses'
    ? `The host name \`${name}\` of this server resolves to ${found.addresses.join(', ')}, which is not a public address. ${todo}`
    : `The host name \`${name}\` of this server cannot be resolved: ${found.reason} ${todo}`
}

/** Mail hosts refuse email from an address without a name, or whose name is of another address. */
async function reverseProblem({ name, resolver }: ProviderTools['mail'], address: string): Promise<string | null> {
  const found = await resolver.names(address)
  // What hosts find is not known.
  if (found === 'failed') return null
  const names = found === 'none' ? [] : found
  if (names.includes(name.toLowerCase())) return null
  const answers = await Promise.all(names.slice(0, NAMES_MAX).map((one) => resolver.everyAddress(one)))
  if (answers.some((answer) => answer.is === 'addresses' && answer.addresses.includes(address))) return null
  const fault = names.length === 0 ? 'is missing' : `is ${names.slice(0, NAMES_MAX).join(', ')}`
  const target = isDomainName(name) ? `\`${name}\`` : 'the host name of this server'
  return `The reverse DNS (PTR) of the address ${address} ${fault}. Set it to ${target} at the hosting company. Otherwise, many mail hosts refuse email from this address.`
}

/** Whether a mail host of one of these domains accepts connections. */
async function hostsProblem({ resolver, reach }: ProviderTools['mail'], domains: string[]): Promise<string | null> {
  const answers = await Promise.all(domains.map((domain) => resolver.mx(domain)))
  const hosts = answers.flatMap((answer) => (answer.is === 'hosts' ? answer.hosts.slice(0, 1) : []))
  if (hosts.length === 0) {
    const reason = answers.find((answer) => answer.is === 'failed')?.reason ?? `neither ${domains.join(' nor ')} has a mail host.`
    return `The name servers could not find any mail hosts: ${reason} Check the setting \`DNS_SERVERS\`, and check that this server can send queries to port 53.`
  }
  const outcomes = await Promise.all(hosts.map(({ host }) => reach(host)))
  if (outcomes.includes('success')) return null
  const tried = hosts.map(({ host }, at) => `${host} (${outcomes[at]})`).join(', ')
  return `No mail host could be reached: ${tried}. Many hosting companies block outgoing connections to port 25: have it opened, or use a relay.`
}
