/** Checks in the DNS if a host points to this server, and if the project controls it. */
import { isIP } from 'node:net'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { storableText } from '../../lib/text.ts'
import { txtNameOf, txtValueOf } from './sending/records.ts'

/** The part of `dns.promises.Resolver` that is used. */
export type DomainResolver = {
  resolveCname(name: string): Promise<string[]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveTxt(name: string): Promise<string[][]>
  resolveMx(name: string): Promise<{ exchange: string }[]>
  resolveNs(name: string): Promise<string[]>
}

/** Creates a resolver. */
export type ResolverOf = (ctx: Pick<Ctx, 'config'>) => DomainResolver

/** `unknown`: the DNS did not respond. */
export type Finding = 'yes' | 'no' | 'unknown'

export type DnsFindings = { pointsHere: Finding; isOwned: Finding }

/** Checks `host`. `ours` is the host name or address of this server. */
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
  const isOurs = isAlias || theirs.some((answer) => answer?.some((address) => same.has(address)))
  return {
    pointsHere: isOurs ? 'yes' : finding([aliases, ...theirs, ...own], false),
    isOwned: finding(
      proofs,
      proofs.some((texts) => texts?.includes(txtValueOf(token))),
    ),
  }
}

/** Records; null if the DNS did not respond. */
export type Answer = string[] | null

const finding = (answers: Answer[], isYes: boolean): Finding => (isYes ? 'yes' : answers.includes(null) ? 'unknown' : 'no')

/** Makes one query. Its records are storable. An error that does not come from the DNS is a bug, and is thrown. */
export async function answered(query: () => Promise<string[]>): Promise<Answer> {
  try {
    return (await query()).map(storableText)
  } catch (error) {
    const { code, syscall } = error as { code?: unknown; syscall?: unknown }
    if (typeof code !== 'string' || typeof syscall !== 'string') throw error
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
