/** Compares the records that were found with those that are expected. Pure. */
import type { Alignment, DmarcRecord } from '../../../lib/dmarc.ts'
import { isAligned, nextPolicy, organisationalDomain, readDmarc, withPolicy } from '../../../lib/dmarc.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { RecordState } from '../schema.ts'
import type { Answer, SpfFinding } from './look-up.ts'

const FOUND_MAX = 5
const FOUND_LENGTH_MAX = 1000

/** What was found, within limits: any domain can publish long records. */
const shown = (values: readonly string[]): string[] =>
  values.slice(0, FOUND_MAX).map((value) => value.slice(0, FOUND_LENGTH_MAX).toWellFormed())

const state = (status: RecordState['status'], found: readonly string[], note: string | null = null): RecordState => ({
  status,
  found: shown(found),
  note,
})

const NO_RESPONSE = 'The DNS servers did not respond. The check is repeated within an hour.'

/** The tags of a record such as `v=DKIM1; p=…`, by name. White space does not count. */
function tagsOf(text: string): Map<string, string> {
  const tags = text.split(';').map((tag) => tag.split('='))
  return new Map(tags.map(([name = '', ...value]) => [name.trim().toLowerCase(), value.join('=').replace(/\s/g, '')]))
}

/** The record of a key. */
export function assessDkim(publicKey: string, texts: Answer): RecordState {
  if (texts === null) return state('unknown', [], NO_RESPONSE)
  const keys = texts.filter((text) => tagsOf(text).has('p'))
  const [first] = keys
  if (first === undefined) return state('missing', texts)
  const matches = keys.some((text) => tagsOf(text).get('p') === publicKey)
  if (!matches) {
    const isRevoked = tagsOf(first).get('p') === ''
    return state('wrong', keys, isRevoked ? 'The record revokes the key.' : 'The record contains a different key. Copy the whole value.')
  }
  return keys.length === 1
    ? state('ok', keys)
    : state('wrong', keys, 'There are several records at this name. Remove all records except the one with this key.')
}

/** What receivers do with email that fails, as they look it up: at the domain, or else at the organisational domain. */
export type DmarcFinding = { record: DmarcRecord | null; state: RecordState; value: string | null; isInherited?: true }

/** The policy of a domain, and the record that it can have next. */
export function assessDmarc(domain: string, own: Answer, ofOrganisation: Answer, verifiedAt: Date | null, now: Date): DmarcFinding {
  const found = recordsOf(own)
  const inherited = found.length === 0 ? recordsOf(ofOrganisation) : []
  const [record] = found.length === 0 ? inherited : found
  if (own === null || (found.length === 0 && ofOrganisation === null))
    return { record: null, state: state('unknown', [], NO_RESPONSE), value: null }
  if (!record) return { record: null, state: state('missing', own), value: null }
  if (found.length > 1) {
    const note = 'There are several DMARC records, so receivers use none of them. Remove all but one.'
    return {
      record: null,
      state: state(
        'wrong',
        found.map(({ text }) => text),
        note,
      ),
      value: null,
    }
  }
  const isInherited = inherited.length > 0
  const policy = isInherited ? record.subdomainPolicy : record.policy
  const next = verifiedAt && !isInherited ? nextPolicy(policy, (now.getTime() - verifiedAt.getTime()) / DAY_MS) : null
  return {
    record,
    state: state('ok', [record.text], noteOf(domain, isInherited, policy, next)),
    value: next ? withPolicy(record, next) : record.text,
    ...(isInherited && { isInherited }),
  }
}

function noteOf(domain: string, isInherited: boolean, policy: string, next: string | null): string | null {
  if (isInherited) return `The policy comes from ${organisationalDomain(domain)}.`
  if (next) return `Emails have been signed for long enough. Check the reports from receivers, and change the policy to \`p=${next}\`.`
  return policy === 'none'
    ? 'With this policy, receivers only send reports. Later, set the policy to `quarantine` and then to `reject`.'
    : null
}

const recordsOf = (texts: Answer): DmarcRecord[] => (texts ?? []).flatMap((text) => readDmarc(text) ?? [])

/** Where bounces go. A CNAME to this server is as good as an MX record. */
export function assessReturnPath(mailHost: string, mx: Answer, aliases: Answer): RecordState {
  const ours = [...(mx ?? []), ...(aliases ?? [])]
  if (ours.some((host) => nameOf(host) === mailHost)) return state('ok', ours)
  if (mx === null || aliases === null) return state('unknown', ours, NO_RESPONSE)
  return ours.length === 0 ? state('missing', []) : state('wrong', ours, 'Bounces go to another host.')
}

const nameOf = (host: string): string => host.toLowerCase().replace(/\.$/, '')

/** Whether this server may send for the return path. */
export function assessSpf({ permits, record, warnings }: SpfFinding): RecordState {
  const found = record === '' ? [] : [record]
  if (permits === 'unknown') return state('unknown', found, NO_RESPONSE)
  if (found.length === 0) return state('missing', [])
  const note = warnings.length > 0 ? warnings.join(' ') : null
  return permits === 'yes' ? state('ok', found, note) : state('wrong', found, 'The record does not allow this server to send email.')
}

/**
 * Whether DMARC accepts email from a domain (RFC 7489 §3.1): by the signature of `domain`, which must be equal with `isStrict`, or by the return
 * path, where SPF passes (`spf` is not null).
 */
export const isAuthenticated = (
  from: string,
  { domain, isStrict, returnPath, spf }: { domain: string; isStrict: boolean; returnPath: string; spf: Alignment | null },
): boolean => isAligned(from, domain, isStrict ? 'strict' : 'relaxed') || (spf !== null && isAligned(from, returnPath, spf))
