/** Whether an SPF record lets this server send (RFC 7208), followed through its includes. */
import { BlockList, isIP } from 'node:net'
import { isSpf, type SpfTerm, spfTerms } from '../../tools/index.ts'
import type { Answer, Finding } from '../dns-check.ts'
import type { Ours } from './records.ts'

/** Receivers stop after ten. */
const LOOKUPS_MAX = 10

/** Looks for a term that names this server: its name, or all addresses that email comes from. */
export async function spfPermits(record: string, ours: Ours, texts: (name: string) => Promise<Answer>): Promise<Finding> {
  const networks = new BlockList()
  const waiting = [record]
  let lookups = 0
  let isUnknown = false
  for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
    for (const term of spfTerms(text)) {
      if (term.problem || !isPass(term)) continue
      if (namesHost(term, ours)) return 'yes'
      addNetwork(networks, term)
      if (!FOLLOWED.has(term.name) || !term.domain || ++lookups > LOOKUPS_MAX) continue
      const found = await texts(term.domain)
      if (found === null) isUnknown = true
      waiting.push(...(found ?? []).filter(isSpf).slice(0, 1))
    }
  }
  const { addresses } = ours
  if (addresses.length > 0 && addresses.every((address) => networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))) return 'yes'
  return isUnknown ? 'unknown' : 'no'
}

const FOLLOWED = new Set(['include', 'redirect'])
const NAMING = new Set(['include', 'redirect', 'a', 'mx'])

const isPass = ({ is, qualifier }: SpfTerm): boolean => is === 'modifier' || qualifier === '+'

const namesHost = ({ name, domain }: SpfTerm, { mailHost }: Ours): boolean => mailHost !== null && NAMING.has(name) && domain === mailHost

/** The networks of `ip4` and `ip6`, whose form was checked. */
function addNetwork(networks: BlockList, { name, text }: SpfTerm): void {
  if (name !== 'ip4' && name !== 'ip6') return
  const [address = '', prefix] = text.slice(text.indexOf(':') + 1).split('/')
  const kind = name === 'ip4' ? 'ipv4' : 'ipv6'
  if (prefix === undefined) networks.addAddress(address, kind)
  else networks.addSubnet(address, Number(prefix), kind)
}
