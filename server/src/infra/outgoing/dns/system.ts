/** What the system knows of the DNS: addresses by its resolver, and records by its name servers. Delivery asks `mail-resolver.ts`. */
import { promises as dns } from 'node:dns'
import { readFile } from 'node:fs/promises'
import type { HostLookup } from '../../../lib/egress.ts'

const TIMEOUT_MS = 3000
const TRIES = 2

/** Creates a resolver of records. Each check takes a new one, so that changes to the system’s name servers take effect. */
export function createResolver({ DNS_SERVERS: servers }: { DNS_SERVERS: readonly string[] }): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}

/** Each look-up takes one of the two threads of the process for them: for ten seconds and more if the name servers do not answer. */
const UNSURE_MAX = 1
/** The system asks again after other errors than the absence of a record, so those have to come soon. */
const QUICK_MS = 500
const ABSENT = ['ENOTFOUND', 'ENODATA']

type LookupOptions = { find: HostLookup; openResolver: () => dns.Resolver; hostsFile: string; serversFile: string }

const SYSTEM: LookupOptions = {
  find: (host) => dns.lookup(host, { all: true }),
  openResolver: () => createResolver({ DNS_SERVERS: [] }),
  hostsFile: '/etc/hosts',
  serversFile: '/etc/resolv.conf',
}

/**
 * Creates a lookup by the system’s resolver, which also knows its hosts file and its search domains. Names whose name servers do not answer
 * hold up no others: while one look-up is under way, the system is asked only for further names that it will find soon.
 */
export function createHostLookup(options: Partial<LookupOptions> = {}): HostLookup {
  const { find, openResolver, hostsFile, serversFile } = { ...SYSTEM, ...options }
  let unsure = 0
  return async (host) => {
    if (unsure >= UNSURE_MAX) {
      if ((await isLocal(host, hostsFile)) || (await isQuick(await namesAsked(host, serversFile), openResolver()))) return find(host)
      throw Object.assign(new Error(`The name servers of ${host} do not answer`), { code: 'EAI_AGAIN' })
    }
    unsure++
    try {
      return await find(host)
    } finally {
      unsure--
    }
  }
}

/** Returns every address of a name, in the order of the system’s resolver. Rejects at once if others are waited for and it does not answer. */
export const resolveHost: HostLookup = createHostLookup()

/** Is this a name of the network of the server, such as `localhost` or a service of its cluster? */
async function isLocal(host: string, hostsFile: string): Promise<boolean> {
  if (!host.includes('.')) return true
  const names = await readFile(hostsFile, 'utf8').catch(() => '')
  return names.toLowerCase().split(/\s+/).includes(host.toLowerCase())
}

/** The names that the system asks for to find a host, in order: one with few dots is first completed with each search domain. */
async function namesAsked(host: string, serversFile: string): Promise<string[]> {
  const settings = (await readFile(serversFile, 'utf8').catch(() => '')).split('\n').map((line) => line.trim().split(/\s+/))
  const domains = settings.findLast(([name]) => name === 'search' || name === 'domain')?.slice(1) ?? []
  const dots = settings
    .flatMap(([name, ...options]) => (name === 'options' ? options : []))
    .findLast((option) => /^ndots:\d+$/.test(option))
  const isCompleted = !host.endsWith('.') && host.split('.').length - 1 < Number(dots?.slice('ndots:'.length) ?? 1)
  return [...(isCompleted ? domains.map((domain) => `${host}.${domain}`) : []), host]
}

/** Do the name servers answer until one of these names is found? The questions take no thread. */
async function isQuick(names: string[], resolver: dns.Resolver): Promise<boolean> {
  for (const name of names) {
    const answer = await ask(name, resolver)
    if (answer !== 'absent') return answer === 'found'
  }
  return true
}

async function ask(name: string, resolver: dns.Resolver): Promise<'found' | 'absent' | 'silent'> {
  const startedAt = performance.now()
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const isAnswered = answers.every((answer) => answer.status === 'fulfilled' || ABSENT.includes(answer.reason.code))
  if (!isAnswered && performance.now() - startedAt >= QUICK_MS) return 'silent'
  return answers.some(({ status }) => status === 'fulfilled') ? 'found' : 'absent'
}
