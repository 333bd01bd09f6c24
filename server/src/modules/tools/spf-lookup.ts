/** Looks up an SPF record and follows it, to count the DNS queries that a receiver would need (RFC 7208, 4.6.4). */
import { dnsName } from '../../lib/urls.ts'
import { describeSpf, isAll, isSpf, type SpfReport, sentences, type Term, termsOf, type Warning } from './spf.ts'

/** The part of `dns.promises.Resolver` that is used. */
export type SpfResolver = {
  resolveTxt(name: string): Promise<string[][]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveMx(name: string): Promise<unknown[]>
}

const TERMS_MAX = 10
const VOIDS_MAX = 2
const QUERIES_MAX = 20
const MX_HOSTS_MAX = 10

/** Terms for which a receiver queries the DNS. */
const LOOKUP_TERMS = new Set(['include', 'a', 'mx', 'ptr', 'exists', 'redirect'])

/** The state of one look-up. */
type Lookup = {
  resolver: SpfResolver
  signal: AbortSignal
  warnings: Set<Warning>
  terms: number
  voids: number
  queries: number
  ended: boolean
}

/**
 * Reports on the SPF record of a domain (D-SPF-2). A missing record and a DNS failure are results, not errors. Returns when
 * `signal` aborts, at the latest.
 */
export async function lookUpSpf(domain: string, resolver: SpfResolver, signal: AbortSignal): Promise<SpfReport> {
  const lookup: Lookup = { resolver, signal, warnings: new Set(), terms: 0, voids: 0, queries: 0, ended: false }
  const name = dnsName(domain) ?? domain
  const answer = await ask(lookup, (resolver) => resolver.resolveTxt(name))
  const [strings, ...others] = spfAmong(answer)
  if (!strings) {
    if (isNothing(answer)) lookup.warnings.add('none')
    return { record: '', warnings: sentences(lookup.warnings), details: { version: null, mechanisms: [], policy: null } }
  }
  if (others.length > 0) lookup.warnings.add('several')
  const { record, details, warnings } = describeSpf(strings)
  await visit(lookup, [name], record)
  return { record, warnings: sentences(new Set([...warnings, ...lookup.warnings])), details }
}

type Answer<T> = { is: 'found'; values: T[] } | { is: 'nothing' | 'unknown' }

const isNothing = (answer: Answer<unknown>) => answer.is !== 'unknown'
const spfAmong = (answer: Answer<string[]>) => (answer.is === 'found' ? answer.values.filter((strings) => isSpf(strings.join(''))) : [])

/** Counts and follows the terms of a record. `path` contains the domains on the way to it; the last is its own. */
async function visit(lookup: Lookup, path: string[], record: string): Promise<void> {
  for (const term of lookupTerms(termsOf(record))) {
    if (lookup.terms === TERMS_MAX) end(lookup, 'lookups')
    if (lookup.ended) return
    lookup.terms++
    await follow(lookup, path, term)
  }
}

/** The terms with DNS queries in the order of evaluation: terms after `all` are ignored, and `redirect` is last. */
function lookupTerms(terms: Term[]): Term[] {
  const all = terms.findIndex(isAll)
  const reached = all < 0 ? terms : terms.slice(0, all)
  const relevant = reached.filter((term) => LOOKUP_TERMS.has(term.name) && !term.problem)
  const redirects = all < 0 ? relevant.filter((term) => term.name === 'redirect') : []
  return [...relevant.filter((term) => term.is === 'mechanism'), ...redirects.slice(0, 1)]
}

async function follow(lookup: Lookup, path: string[], { name, domain }: Term): Promise<void> {
  const target = domain ?? path.at(-1)
  // Macros and `ptr` depend on the sender, which only receivers know.
  if (!target || target.includes('%') || name === 'ptr') return
  switch (name) {
    case 'mx': {
      const answer = await ask(lookup, (resolver) => resolver.resolveMx(target))
      if (answer.is === 'found' && answer.values.length > MX_HOSTS_MAX) end(lookup, 'mxHosts')
      return countVoid(lookup, answer)
    }
    case 'a': {
      const answer = await ask(lookup, (resolver) => resolver.resolve4(target))
      return countVoid(lookup, answer.is === 'nothing' ? await ask(lookup, (resolver) => resolver.resolve6(target)) : answer)
    }
    case 'exists':
      return countVoid(lookup, await ask(lookup, (resolver) => resolver.resolve4(target)))
    default:
      return enter(lookup, path, target)
  }
}

async function enter(lookup: Lookup, path: string[], target: string): Promise<void> {
  if (path.includes(target)) {
    lookup.warnings.add('loop')
    return
  }
  const answer = await ask(lookup, (resolver) => resolver.resolveTxt(target))
  countVoid(lookup, answer)
  const [strings] = spfAmong(answer)
  if (strings) await visit(lookup, [...path, target], strings.join(''))
  else if (isNothing(answer)) lookup.warnings.add('targetless')
}

function countVoid(lookup: Lookup, answer: Answer<unknown>): void {
  if (answer.is === 'nothing' && ++lookup.voids > VOIDS_MAX) end(lookup, 'voids')
}

function end(lookup: Lookup, warning: Warning): void {
  lookup.warnings.add(warning)
  lookup.ended = true
}

/** Makes one query. The answer is unknown, with a warning, after too many queries, and if the DNS fails or times out. */
async function ask<T>(lookup: Lookup, query: (resolver: SpfResolver) => Promise<T[]>): Promise<Answer<T>> {
  if (lookup.ended) return { is: 'unknown' }
  if (lookup.queries === QUERIES_MAX) {
    lookup.warnings.add('queries')
    return { is: 'unknown' }
  }
  lookup.queries++
  try {
    const values = await orAborted(query(lookup.resolver), lookup.signal)
    if (values === 'aborted') {
      end(lookup, 'timedOut')
      return { is: 'unknown' }
    }
    return values.length > 0 ? { is: 'found', values } : { is: 'nothing' }
  } catch (error) {
    const code = dnsCode(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { is: 'nothing' }
    lookup.warnings.add(code === 'ETIMEOUT' ? 'timedOut' : 'failed')
    return { is: 'unknown' }
  }
}

/** The error code of the resolver. Throws anything else, because it is a bug. */
function dnsCode(error: unknown): string {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  if (error instanceof Error && typeof code === 'string' && typeof syscall === 'string') return code
  throw error
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  const aborted = Promise.withResolvers<'aborted'>()
  const stop = () => aborted.resolve('aborted')
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
