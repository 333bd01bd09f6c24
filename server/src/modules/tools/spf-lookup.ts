/** Looks an SPF record up and follows it, to count what a receiver would have to ask the DNS (RFC 7208, 4.6.4). */
import { dnsName } from '../../lib/urls.ts'
import { describeSpf, isAll, isSpf, type SpfReport, sentences, type Term, termsOf, type Warning } from './spf.ts'

/** The questions asked, answered as `dns.promises.Resolver` answers them. */
export type SpfResolver = {
  resolveTxt(name: string): Promise<string[][]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveMx(name: string): Promise<unknown[]>
}

const TERMS_MAX = 10
const VOIDS_MAX = 2
const QUERIES_MAX = 20

/** Terms that make a receiver ask the DNS. */
const ASKING = new Set(['include', 'a', 'mx', 'ptr', 'exists', 'redirect'])

/** One look-up with all that follows from it. */
type Walk = {
  resolver: SpfResolver
  signal: AbortSignal
  warnings: Set<Warning>
  terms: number
  voids: number
  queries: number
  ended: boolean
}

/**
 * What the DNS says about a domain (D-SPF-2). Finding nothing, or nobody to ask, is a result and not an error.
 * Ends when `signal` aborts, at the latest.
 */
export async function lookUpSpf(domain: string, resolver: SpfResolver, signal: AbortSignal): Promise<SpfReport> {
  const walk: Walk = { resolver, signal, warnings: new Set(), terms: 0, voids: 0, queries: 0, ended: false }
  const name = dnsName(domain) ?? domain
  const answer = await ask(walk, (resolver) => resolver.resolveTxt(name))
  const [strings, ...others] = spfAmong(answer)
  if (!strings) {
    if (isNothing(answer)) walk.warnings.add('none')
    return { record: '', warnings: sentences(walk.warnings), details: { version: null, mechanisms: [], policy: null } }
  }
  if (others.length > 0) walk.warnings.add('several')
  const { record, details, warnings } = describeSpf(strings)
  await visit(walk, [name], record)
  return { record, warnings: sentences(new Set([...warnings, ...walk.warnings])), details }
}

type Answer<T> = { is: 'found'; values: T[] } | { is: 'nothing' | 'unknown' }

const isNothing = (answer: Answer<unknown>) => answer.is !== 'unknown'
const spfAmong = (answer: Answer<string[]>) => (answer.is === 'found' ? answer.values.filter((strings) => isSpf(strings.join(''))) : [])

/** Counts and follows the terms of one record. `path` holds the domains that led here, this record's last. */
async function visit(walk: Walk, path: string[], record: string): Promise<void> {
  for (const term of askingTerms(termsOf(record))) {
    if (walk.terms === TERMS_MAX) end(walk, 'lookups')
    if (walk.ended) return
    walk.terms++
    await follow(walk, path, term)
  }
}

/** In the order of evaluation: nothing after `all` counts, and `redirect` comes last. */
function askingTerms(terms: Term[]): Term[] {
  const all = terms.findIndex(isAll)
  const reached = all < 0 ? terms : terms.slice(0, all)
  const asking = reached.filter((term) => ASKING.has(term.name) && !term.problem)
  const redirects = all < 0 ? asking.filter((term) => term.name === 'redirect') : []
  return [...asking.filter((term) => term.is === 'mechanism'), ...redirects.slice(0, 1)]
}

async function follow(walk: Walk, path: string[], { name, domain }: Term): Promise<void> {
  const target = domain ?? path.at(-1)
  // The sender, which macros and `ptr` speak of, is known to receivers only.
  if (!target || target.includes('%') || name === 'ptr') return
  switch (name) {
    case 'mx':
      return countVoid(walk, await ask(walk, (resolver) => resolver.resolveMx(target)))
    case 'a': {
      const answer = await ask(walk, (resolver) => resolver.resolve4(target))
      return countVoid(walk, answer.is === 'nothing' ? await ask(walk, (resolver) => resolver.resolve6(target)) : answer)
    }
    case 'exists':
      return countVoid(walk, await ask(walk, (resolver) => resolver.resolve4(target)))
    default:
      return enter(walk, path, target)
  }
}

async function enter(walk: Walk, path: string[], target: string): Promise<void> {
  if (path.includes(target)) {
    walk.warnings.add('loop')
    return
  }
  const answer = await ask(walk, (resolver) => resolver.resolveTxt(target))
  countVoid(walk, answer)
  const [strings] = spfAmong(answer)
  if (strings) await visit(walk, [...path, target], strings.join(''))
  else if (isNothing(answer)) walk.warnings.add('targetless')
}

function countVoid(walk: Walk, answer: Answer<unknown>): void {
  if (answer.is === 'nothing' && ++walk.voids > VOIDS_MAX) end(walk, 'voids')
}

function end(walk: Walk, warning: Warning): void {
  walk.warnings.add(warning)
  walk.ended = true
}

/** One question. Past the most questions the answer is unknown; a silent or failing DNS is unknown with a warning. */
async function ask<T>(walk: Walk, question: (resolver: SpfResolver) => Promise<T[]>): Promise<Answer<T>> {
  if (walk.ended || walk.queries === QUERIES_MAX) return { is: 'unknown' }
  walk.queries++
  try {
    const values = await orAborted(question(walk.resolver), walk.signal)
    if (values === 'aborted') {
      end(walk, 'timedOut')
      return { is: 'unknown' }
    }
    return values.length > 0 ? { is: 'found', values } : { is: 'nothing' }
  } catch (error) {
    const code = dnsCode(error)
    if (code === 'ENOTFOUND' || code === 'ENODATA') return { is: 'nothing' }
    walk.warnings.add(code === 'ETIMEOUT' ? 'timedOut' : 'failed')
    return { is: 'unknown' }
  }
}

/** What the resolver reports; anything else that is thrown is a bug. */
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
