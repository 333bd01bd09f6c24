/** Policies of DMARC (RFC 7489), and whether domains are aligned. Pure. */
import { getDomain } from 'tldts'

export type DmarcPolicy = 'none' | 'quarantine' | 'reject'

/** What a record asks for. `isStrict` tells for DKIM and for SPF if the domains must be equal. */
export type DmarcRecord = {
  text: string
  policy: DmarcPolicy
  subdomainPolicy: DmarcPolicy
  dkim: Alignment
  spf: Alignment
  /** The addresses that get the reports of receivers. */
  reportsTo: string[]
}

export type Alignment = 'relaxed' | 'strict'

const POLICIES: readonly DmarcPolicy[] = ['none', 'quarantine', 'reject']

/** Reads a TXT record. Null if it is not one of DMARC, or has no valid policy. */
export function readDmarc(text: string): DmarcRecord | null {
  const [version, ...rest] = text.split(';').map((tag) => tag.trim())
  if (version === undefined || !/^v *= *DMARC1$/.test(version)) return null
  const tags = new Map(
    rest.flatMap((tag) => {
      const at = tag.indexOf('=')
      return at === -1
        ? []
        : [
            [
              tag.slice(0, at).trim().toLowerCase(),
              tag
                .slice(at + 1)
                .trim()
                .toLowerCase(),
            ] as const,
          ]
    }),
  )
  const policy = POLICIES.find((one) => one === tags.get('p'))
  if (!policy) return null
  return {
    text,
    policy,
    subdomainPolicy: POLICIES.find((one) => one === tags.get('sp')) ?? policy,
    dkim: tags.get('adkim') === 's' ? 'strict' : 'relaxed',
    spf: tags.get('aspf') === 's' ? 'strict' : 'relaxed',
    reportsTo: (tags.get('rua') ?? '')
      .split(',')
      .flatMap((uri) => (uri.trim().startsWith('mailto:') ? [uri.trim().slice('mailto:'.length)] : [])),
  }
}

/** The domain that was registered, such as `example.co.uk` of `news.example.co.uk`; null for a public suffix. */
export const organisationalDomain = (domain: string): string | null => getDomain(domain, { allowPrivateDomains: true })

/** Whether a domain that was authenticated counts for the domain of From (RFC 7489 §3.1). Both are in lower-case ASCII. */
export function isAligned(from: string, authenticated: string, alignment: Alignment): boolean {
  if (from === authenticated) return true
  const organisation = organisationalDomain(from)
  return alignment === 'relaxed' && organisation !== null && organisation === organisationalDomain(authenticated)
}

/** The order in which a domain can be protected without losing email, and the days of correct signatures before each. */
const STEPS: [from: DmarcPolicy, to: DmarcPolicy, days: number][] = [
  ['none', 'quarantine', 14],
  ['quarantine', 'reject', 28],
]

/** The policy after another one, and the days of signed email that it needs. Null after the last. */
export function policyAfter(policy: DmarcPolicy): { policy: DmarcPolicy; days: number } | null {
  const [, next, days] = STEPS.find(([from]) => from === policy) ?? []
  return next === undefined || days === undefined ? null : { policy: next, days }
}

/** The policy that a domain can have next, once its email has been signed for some days. Null: it keeps the one that it has. */
export function nextPolicy(policy: DmarcPolicy, verifiedDays: number): DmarcPolicy | null {
  const after = policyAfter(policy)
  return after && verifiedDays >= after.days ? after.policy : null
}

/** A record with another policy. Its other tags stay. */
export const withPolicy = ({ text }: DmarcRecord, policy: DmarcPolicy): string =>
  text
    .split(';')
    .map((tag) => (tag.trim().toLowerCase().startsWith('p=') ? tag.replace(tag.trim(), `p=${policy}`) : tag))
    .join(';')
