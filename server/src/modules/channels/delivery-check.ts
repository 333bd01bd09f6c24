/** Whether this server can deliver email itself (D-MTA-46): its name, its name servers, the port of mail hosts and the domain of the sender. */
import { type EgressPolicy, isAllowedAddress } from '../../lib/egress.ts'
import { isDomainName } from '../../lib/urls.ts'
import { domainOf, mailboxesIn } from './mail.ts'
import type { ProviderTools } from './provider.ts'
import { unverifiedSender } from './unverified-sender.ts'

/** The domain of a provider of mailboxes, whose hosts are tried if those of the sender’s domain are not reached. */
const KNOWN_DOMAIN = 'gmail.com'

/** Checks everything at once and says what to do about each problem. */
export async function checkDelivery(
  { default_from }: { default_from?: string },
  { mail, fetch, senderOf }: Pick<ProviderTools, 'mail' | 'fetch' | 'senderOf'>,
): Promise<{ works: true } | { works: false; message: string }> {
  const [from] = mailboxesIn(default_from ?? '')
  const fromDomain = from ? domainOf(from.address) : null
  const [name, hosts, sender] = await Promise.all([
    mail.needsPublicName ? nameProblem(mail, fetch.policy) : null,
    hostsProblem(mail, fromDomain === null ? [KNOWN_DOMAIN] : [fromDomain, KNOWN_DOMAIN]),
    fromDomain === null ? undefined : senderOf(fromDomain),
  ])
  const unverified = fromDomain === null || sender?.is_verified ? null : unverifiedSender(fromDomain, sender)
  const problems = [name, hosts, unverified].filter((problem) => typeof problem === 'string')
  return problems.length === 0 ? { works: true } : { works: false, message: problems.join(' ') }
}

/** Mail hosts refuse email from a server whose name leads nowhere. */
async function nameProblem({ name, resolver }: ProviderTools['mail'], policy: EgressPolicy): Promise<string | null> {
  const todo = 'Set `MTA_HOSTNAME` to a public host name of this server, and publish its A or AAAA record.'
  if (!isDomainName(name)) return `This server has no public host name. ${todo}`
  const found = await resolver.addresses(name)
  if (found.is !== 'addresses') return `The host name \`${name}\` of this server cannot be resolved: ${found.reason} ${todo}`
  if (found.addresses.some((address) => isAllowedAddress(policy, address))) return null
  return `The host name \`${name}\` of this server resolves to ${found.addresses.join(', ')}, which is no public address. ${todo}`
}

/** Whether a mail host of one of these domains accepts connections. */
async function hostsProblem({ resolver, reach }: ProviderTools['mail'], domains: string[]): Promise<string | null> {
  const answers = await Promise.all(domains.map((domain) => resolver.mx(domain)))
  const hosts = answers.flatMap((answer) => (answer.is === 'hosts' ? answer.hosts.slice(0, 1) : []))
  if (hosts.length === 0) {
    const reason = answers.find((answer) => answer.is === 'failed')?.reason ?? `neither ${domains.join(' nor ')} has a mail host.`
    return `The name servers find no mail hosts: ${reason} Check the setting \`DNS_SERVERS\`, and that this server may send queries to port 53.`
  }
  const outcomes = await Promise.all(hosts.map(({ host }) => reach(host)))
  if (outcomes.includes('success')) return null
  const tried = hosts.map(({ host }, at) => `${host} (${outcomes[at]})`).join(', ')
  return `No mail host could be connected to: ${tried}. Many hosting companies block outgoing connections to port 25: have it opened, or use a relay.`
}
