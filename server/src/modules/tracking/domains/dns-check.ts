/** Asks the DNS whether a host leads to this server, and whether it is in the hands of whoever claims it. */
import { isIP } from 'node:net'

/** The questions asked, answered as `dns.promises.Resolver` answers them. */
export type DomainResolver = {
  resolveCname(name: string): Promise<string[]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveTxt(name: string): Promise<string[][]>
}

/** `unknown` is a DNS that did not answer, which says nothing about the host. */
type Finding = 'yes' | 'no' | 'unknown'

export type DnsFindings = { leadsHere: Finding; isOwned: Finding }

/** A TXT record cannot stand beside a CNAME; under this name it can. */
export const txtNameOf = (host: string) => `_carillon.${host}`
export const txtValueOf = (token: string) => `carillon-verification=${token}`

/** Looks `host` up; `ours` is the name or address of this server. */
export async function checkDns(host: string, ours: string, token: string, resolver: DomainResolver): Promise<DnsFindings> {
  const name = ours.replace(/^\[|\]$/g, '')
  const addressesOf = (of: string): Promise<Answer>[] =>
    isIP(of) ? [Promise.resolve([of])] : [answered(() => resolver.resolve4(of)), answered(() => resolver.resolve6(of))]
  const texts = (of: string) => answered(async () => (await resolver.resolveTxt(of)).map((strings) => strings.join('')))
  const [aliases, theirs, own, proofs] = await Promise.all([
    answered(() => resolver.resolveCname(host)),
    Promise.all(addressesOf(host)),
    Promise.all(addressesOf(name)),
    Promise.all([texts(host), texts(txtNameOf(host))]),
  ])
  const same = new Set(own.flatMap((answer) => answer ?? []))
  const isAlias = aliases?.some((alias) => alias.toLowerCase().replace(/\.$/, '') === name)
  const leads = isAlias || theirs.some((answer) => answer?.some((address) => same.has(address)))
  return {
    leadsHere: leads ? 'yes' : finding([aliases, ...theirs, ...own], false),
    isOwned: finding(
      proofs,
      proofs.some((texts) => texts?.includes(txtValueOf(token))),
    ),
  }
}

/** What the DNS has; null when it could not be asked. */
type Answer = string[] | null

const finding = (answers: Answer[], isYes: boolean): Finding => (isYes ? 'yes' : answers.includes(null) ? 'unknown' : 'no')

async function answered(question: () => Promise<string[]>): Promise<Answer> {
  try {
    return await question()
  } catch (error) {
    const { code, syscall } = error as { code?: unknown; syscall?: unknown }
    if (typeof code !== 'string' || typeof syscall !== 'string') throw error
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
