/** Domains as replies show them. */
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { policyAfter, readDmarc } from '../../lib/dmarc.ts'
import { DAY_MS } from '../../lib/times.ts'
import { isDomainName } from '../../lib/urls.ts'
import type { DkimKeyRow, Domain, DomainRow, RecordState } from './schema.ts'
import { type ExpectedRecord, linkRecords, type Ours, publishedUntil, returnPathOf, sendingRecords } from './sending/records.ts'
import { mailHostOf } from './sending/senders.ts'

type AnyCtx = ProjectCtx | InTx

/** The host name or address of this server. */
export const ourHost = (ctx: AnyCtx): string => new URL(ctx.baseUrl()).hostname

/** How this server is reached. The host is null at an address, or at a name of this machine only, because no CNAME can point to it. */
export function oursOf(ctx: AnyCtx): Ours {
  const host = ourHost(ctx)
  return { host: isDomainName(host) ? host : null, mailHost: mailHostOf(ctx), addresses: ctx.config.MTA_ADDRESSES }
}

/** A domain, with the records to publish. `keys` may contain those of other domains too. */
export function present(ctx: AnyCtx, row: DomainRow, keys: readonly DkimKeyRow[]): Domain {
  const ours = oursOf(ctx)
  const own = keys.filter(({ domain_id }) => domain_id === row.id)
  const links = linkRecords(row, ours)
  const expected = [...(row.sending_domain === null ? [] : sendingRecords(row.sending_domain, own, ours)), ...links]
  const { id, project_id, host, is_verified, is_default, problem, checked_at, verified_at, created_at, updated_at } = row
  return {
    id,
    project_id,
    host,
    is_verified,
    is_default,
    problem,
    sending: sendingOf(row, ours),
    dns: links.map(({ type, name, value }) => ({ type: type as 'CNAME' | 'TXT', name, value })),
    records: expected.map((record) => withState(record, row, own)),
    checked_at,
    verified_at,
    created_at,
    updated_at,
  }
}

function sendingOf(row: DomainRow, ours: Ours): Domain['sending'] {
  const { sending_domain: domain, sending_problem: problem, sending_verified_at: verified_at, has_return_path, dns_host } = row
  if (domain === null) return null
  const return_path = has_return_path ? returnPathOf(domain) : (ours.mailHost ?? domain)
  return { domain, is_verified: verified_at !== null, problem, verified_at, return_path, dns_host, dmarc: dmarcOf(row) }
}

/** The policy of the domain as the last check found it, and the step after it. Null if it found none. */
function dmarcOf({ records, sending_verified_at }: DomainRow): NonNullable<Domain['sending']>['dmarc'] {
  const checked = records.find(({ purpose, status }) => purpose === 'dmarc' && status === 'ok')
  const record = readDmarc(checked?.found[0] ?? '')
  if (!record) return null
  // Such a domain has no record of its own to change.
  const is_inherited = checked?.is_inherited === true
  const policy = is_inherited ? record.subdomainPolicy : record.policy
  const after = policyAfter(policy)
  const next_at = after && sending_verified_at && new Date(sending_verified_at.getTime() + after.days * DAY_MS)
  return { policy, is_inherited, next_policy: after?.policy ?? null, next_at, reports_to: record.reportsTo }
}

const UNCHECKED: RecordState = { status: 'unchecked', found: [], note: null }

/** A record with what the last check found, and the value that the check recommends. */
function withState(record: ExpectedRecord, row: DomainRow, keys: readonly DkimKeyRow[]): Domain['records'][number] {
  const checked = row.records.find(({ purpose, name }) => purpose === record.purpose && name === record.name)
  const { status, found, note } = checked ?? UNCHECKED
  const value = record.purpose === 'dmarc' ? (checked?.value ?? record.value) : record.value
  return { ...record, value, status, found, note: retiredNote(record, keys) ?? note }
}

function retiredNote({ purpose, name }: ExpectedRecord, keys: readonly DkimKeyRow[]): string | null {
  const key = purpose === 'dkim' ? keys.find(({ selector }) => name.startsWith(`${selector}.`)) : undefined
  if (key?.state !== 'retired' || !key.retired_at) return null
  const day = publishedUntil(key.retired_at).toISOString().slice(0, 10)
  return `The key no longer signs. Keep the record until ${day}, because emails that it signed are still being delivered.`
}
