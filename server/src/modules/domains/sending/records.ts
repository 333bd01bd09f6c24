/** The records that a domain needs in the DNS (D-MTA-40). Pure. */
import { dkimRecord, dkimRecordName } from '../../../lib/dkim/keys.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { DkimKeyRow, DomainRow, RecordPurpose } from '../schema.ts'

/** How this server is reached. `mailHost` is null without a public name, and `addresses` are those that email comes from. */
export type Ours = { host: string | null; mailHost: string | null; addresses: readonly string[] }

/** A record to publish. */
export type ExpectedRecord = {
  purpose: RecordPurpose
  type: 'CNAME' | 'TXT' | 'MX'
  name: string
  value: string
  /** Whether sending or links do not work without it. */
  is_required: boolean
}

/** The name for the TXT record of a host, because a host with a CNAME cannot have one. */
export const txtNameOf = (host: string) => `_carillon.${host}`
export const txtValueOf = (token: string) => `carillon-verification=${token}`

/** The domain to which bounces of a sending domain are returned. */
export const returnPathOf = (sendingDomain: string): string => `bounce.${sendingDomain}`

/** The records of the host of links. The TXT record is an alternative that proves the same. */
export function linkRecords({ host, verification_token }: Pick<DomainRow, 'host' | 'verification_token'>, ours: Ours): ExpectedRecord[] {
  const txt = {
    purpose: 'ownership',
    type: 'TXT',
    name: txtNameOf(host),
    value: txtValueOf(verification_token),
    is_required: false,
  } as const
  return ours.host === null ? [txt] : [{ purpose: 'tracking', type: 'CNAME', name: host, value: ours.host, is_required: true }, txt]
}

const MX_PREFERENCE = 10
/** The policy that a domain begins with: it changes nothing, and receivers ask for it. */
const FIRST_POLICY = 'v=DMARC1; p=none'

/** The records that the email of a sending domain needs. */
export function sendingRecords(domain: string, keys: readonly DkimKeyRow[], ours: Ours): ExpectedRecord[] {
  const returnPath = returnPathOf(domain)
  const isSigning = keys.some(({ algorithm, state }) => algorithm === 'rsa-sha256' && state === 'active')
  const dkim = keys.map(
    ({ selector, algorithm, public_key, state }): ExpectedRecord => ({
      purpose: 'dkim',
      type: 'TXT',
      name: dkimRecordName(selector, domain),
      value: dkimRecord(algorithm, public_key),
      is_required: algorithm === 'rsa-sha256' && state === (isSigning ? 'active' : 'pending'),
    }),
  )
  const dmarc = { purpose: 'dmarc', type: 'TXT', name: `_dmarc.${domain}`, value: FIRST_POLICY, is_required: true } as const
  if (ours.mailHost === null) return [...dkim, dmarc]
  return [
    ...dkim,
    dmarc,
    { purpose: 'return_path', type: 'MX', name: returnPath, value: `${MX_PREFERENCE} ${ours.mailHost}`, is_required: false },
    { purpose: 'spf', type: 'TXT', name: returnPath, value: spfRecord(ours), is_required: false },
  ]
}

const spfRecord = ({ mailHost, addresses }: Ours): string =>
  ['v=spf1', `a:${mailHost}`, ...addresses.map((address) => `${address.includes(':') ? 'ip6' : 'ip4'}:${address}`), '-all'].join(' ')

/** Days for which a retired key stays published, because email that it signed is still being delivered. */
export const RETIRED_KEY_DAYS = 7

/** Until when the record of a retired key must stay. */
export const publishedUntil = (retiredAt: Date): Date => new Date(retiredAt.getTime() + RETIRED_KEY_DAYS * DAY_MS)
