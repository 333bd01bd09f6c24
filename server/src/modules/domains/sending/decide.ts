/** Decides whether a sending domain is verified, from what the DNS answered. Pure. */
import type { Alignment, DmarcRecord } from '../../../lib/dmarc.ts'
import type { CheckedRecord, DkimKeyRow, DomainRow, RecordState } from '../schema.ts'
import { assessDkim, assessDmarc, assessReturnPath, assessSpf } from './assess.ts'
import { dnsHostOf } from './dns-hosts.ts'
import { keyChanges } from './keys.ts'
import type { SendingAnswers } from './look-up.ts'
import { type ExpectedRecord, type Ours, sendingRecords } from './records.ts'

/** `no`: a required record is missing. `unknown`: the DNS did not respond. */
export type SendingFinding = {
  isComplete: 'yes' | 'no' | 'unknown'
  problem: string | null
  is_strict: boolean
  has_return_path: boolean
  spf_alignment: Alignment | null
  records: CheckedRecord[]
  dns_host: string | null
  changesOf(keepsSigning: boolean): ReturnType<typeof keyChanges>
}

/** What was found about the sending domain of a row. */
export function decideSending(row: DomainRow, keys: readonly DkimKeyRow[], answers: SendingAnswers, ours: Ours, now: Date): SendingFinding {
  const domain = row.sending_domain as string
  const dmarc = assessDmarc(domain, answers.dmarc, answers.dmarcOfOrganisation, row.sending_verified_at, now)
  const expected = sendingRecords(domain, keys, ours)
  const states = new Map(keys.map((key) => [key.selector, dkimStateOf(key, answers)]))
  const stateOf = (record: ExpectedRecord, index: number): RecordState => {
    if (record.purpose === 'dkim') return states.get(keys[index]?.selector ?? '') as RecordState
    if (record.purpose === 'dmarc') return dmarc.state
    if (record.purpose === 'return_path') return assessReturnPath(ours.mailHost ?? '', answers.returnMx, answers.returnAliases)
    return assessSpf(answers.spf)
  }
  // The records of keys come first, in the order of the keys.
  const records = expected.map((record, index) => ({ record, state: stateOf(record, index) }))
  const isComplete = completeness([
    records.filter(({ record }) => record.purpose === 'dkim' && record.is_required).map(({ state }) => state.status),
    [dmarc.state.status],
  ])
  const statusOf = (purpose: CheckedRecord['purpose']) => records.find(({ record }) => record.purpose === purpose)?.state.status
  const returnPath = statusOf('return_path')
  return {
    isComplete,
    problem: problemOf(records, isComplete),
    is_strict: dmarc.state.status === 'unknown' ? row.is_strict : dmarc.record?.dkim === 'strict',
    has_return_path: returnPath === 'unknown' ? row.has_return_path : returnPath === 'ok',
    spf_alignment: spfAlignment(row, [returnPath, statusOf('spf'), dmarc.state.status], dmarc.record),
    records: records.map(({ record: { purpose, name, value }, state }) => ({
      ...state,
      purpose,
      name,
      value: purpose === 'dmarc' ? (dmarc.value ?? value) : value,
      ...(purpose === 'dmarc' && dmarc.isInherited && { is_inherited: true }),
    })),
    dns_host: answers.nameServers === null ? row.dns_host : dnsHostOf(answers.nameServers),
    changesOf: (keepsSigning) => keyChanges(keys, new Map([...states].map(([selector, { status }]) => [selector, status])), keepsSigning),
  }
}

/** How strictly receivers compare the return path with From. Null unless SPF passes there; without an answer nothing changes. */
function spfAlignment(
  { spf_alignment }: DomainRow,
  statuses: (RecordState['status'] | undefined)[],
  record: DmarcRecord | null,
): Alignment | null {
  if (statuses.every((status) => status === 'ok')) return record?.spf ?? null
  return statuses.some((status) => status !== 'ok' && status !== 'unknown') ? null : spf_alignment
}

/** A key that was added since the records were asked for was not looked up. */
function dkimStateOf({ selector, public_key }: DkimKeyRow, { dkim }: SendingAnswers): RecordState {
  const texts = dkim.get(selector)
  return texts === undefined ? { status: 'unchecked', found: [], note: null } : assessDkim(public_key, texts)
}

/** Of each group one record must be in order. */
function completeness(groups: RecordState['status'][][]): SendingFinding['isComplete'] {
  if (groups.every((statuses) => statuses.includes('ok'))) return 'yes'
  const failed = groups.filter((statuses) => !statuses.includes('ok'))
  return failed.some((statuses) => statuses.some((status) => status === 'unknown' || status === 'unchecked')) ? 'unknown' : 'no'
}

function problemOf(records: { record: ExpectedRecord; state: RecordState }[], isComplete: SendingFinding['isComplete']): string | null {
  if (isComplete === 'yes') return null
  if (isComplete === 'unknown') return 'The DNS servers did not respond. Try again in a few minutes.'
  const broken = records.find(({ record, state }) => record.is_required && state.status !== 'ok')
  if (!broken) return null
  const { name, type } = broken.record
  const what = broken.state.status === 'missing' ? `There is no ${type} record` : `The ${type} record is not as expected`
  return `${what} at \`${name}\`. Publish the value in \`records\`, and verify the domain again.`
}
