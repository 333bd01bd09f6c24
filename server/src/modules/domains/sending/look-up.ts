/** Asks the DNS what a sending domain has published. */
import { dkimRecordName } from '../../../lib/dkim/keys.ts'
import { organisationalDomain } from '../../../lib/dmarc.ts'
import { isSpf, lookUpSpf } from '../../tools/index.ts'
import { type Answer, answered, type DomainResolver, type Finding } from '../dns-check.ts'
import { type Ours, returnPathOf } from './records.ts'
import { spfPermits } from './spf-permits.ts'

export type { Answer } from '../dns-check.ts'

/** An SPF record, with what is wrong with it, and whether it names this server. */
export type SpfFinding = { permits: Finding; record: string; warnings: string[] }

/** What was found of a sending domain. */
export type SendingAnswers = {
  /** By selector. */
  dkim: ReadonlyMap<string, Answer>
  dmarc: Answer
  dmarcOfOrganisation: Answer
  returnMx: Answer
  returnAliases: Answer
  spf: SpfFinding
  nameServers: Answer
}

const SPF_TIMEOUT_MS = 10_000

/** Looks up everything at once. */
export async function lookUpSending(
  domain: string,
  selectors: readonly string[],
  ours: Ours,
  resolver: DomainResolver,
): Promise<SendingAnswers> {
  const texts = (name: string) => answered(async () => (await resolver.resolveTxt(name)).map((strings) => strings.join('')))
  const organisation = organisationalDomain(domain) ?? domain
  const returnPath = returnPathOf(domain)
  const [dkim, dmarc, dmarcOfOrganisation, returnMx, returnAliases, spf, nameServers] = await Promise.all([
    Promise.all(selectors.map(async (selector) => [selector, await texts(dkimRecordName(selector, domain))] as const)),
    texts(`_dmarc.${domain}`),
    organisation === domain ? Promise.resolve([]) : texts(`_dmarc.${organisation}`),
    answered(async () => (await resolver.resolveMx(returnPath)).map(({ exchange }) => exchange)),
    answered(() => resolver.resolveCname(returnPath)),
    lookUpSender(returnPath, ours, resolver, texts),
    answered(() => resolver.resolveNs(organisation)),
  ])
  return { dkim: new Map(dkim), dmarc, dmarcOfOrganisation, returnMx, returnAliases, spf, nameServers }
}

async function lookUpSender(
  returnPath: string,
  ours: Ours,
  resolver: DomainResolver,
  texts: (name: string) => Promise<Answer>,
): Promise<SpfFinding> {
  const found = await texts(returnPath)
  if (found === null) return { permits: 'unknown', record: '', warnings: [] }
  const [record] = found.filter(isSpf)
  if (record === undefined) return { permits: 'no', record: '', warnings: [] }
  const [permits, { warnings }] = await Promise.all([
    spfPermits(record, ours, texts),
    lookUpSpf(returnPath, resolver, AbortSignal.timeout(SPF_TIMEOUT_MS)),
  ])
  return { permits, record, warnings }
}
