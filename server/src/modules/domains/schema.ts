import { type Static, Type } from 'typebox'
import { DKIM_ALGORITHMS } from '../../lib/dkim/keys.ts'
import type { DomainId, ProjectId } from '../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Line, Nullable, OneOf, Page, Timestamp } from '../../lib/shapes.ts'

const IsDefault = Type.Boolean({ description: 'Whether campaigns without a domain use this one. A project has at most one default.' })

export const DomainInput = Exact({
  host: Type.Optional(
    Line(253, {
      minLength: 1,
      format: 'spf-domain',
      description: 'The host name for tracked links, such as `links.example.com`. Default: `links.` followed by the sending domain.',
    }),
  ),
  sending_domain: Type.Optional(
    Line(253, {
      minLength: 1,
      format: 'spf-domain',
      description:
        'The domain of the From addresses of emails, such as `example.com`. Emails of its subdomains are signed with its keys too.',
    }),
  ),
  is_default: Type.Optional(IsDefault),
})
export type DomainInput = Static<typeof DomainInput>

export const DomainChanges = Changes({ is_default: IsDefault })
export type DomainChanges = Static<typeof DomainChanges>

const PURPOSES = ['tracking', 'ownership', 'dkim', 'dmarc', 'return_path', 'spf'] as const
export type RecordPurpose = (typeof PURPOSES)[number]

const STATUSES = ['ok', 'missing', 'wrong', 'unknown', 'unchecked'] as const

const stateMembers = {
  status: OneOf(STATUSES, {
    description:
      'What the last check found. `missing`: no such record; `wrong`: a different record; `unknown`: the DNS did not respond; `unchecked`: not checked yet.',
  }),
  found: Type.Array(Type.String(), { description: 'The records that were found at this name.' }),
  note: Nullable(Type.String({ description: 'What is wrong, or what can be done next.' })),
}

/** What a check found of one record. */
const RecordState = Type.Object(stateMembers)
export type RecordState = Static<typeof RecordState>

/** A record that a check stored: with its value at that time. */
const CheckedRecord = Type.Object({
  ...stateMembers,
  purpose: OneOf(PURPOSES),
  name: Type.String(),
  value: Type.String(),
  is_inherited: Type.Optional(Type.Boolean()),
})
export type CheckedRecord = Static<typeof CheckedRecord>

const columns = {
  id: IdOf<DomainId>(),
  project_id: IdOf<ProjectId>(),
  host: Type.String(),
  is_verified: Type.Boolean({
    description:
      'Whether links use the host. Until the host is verified, links use the project’s default domain or, without a verified one, the host name of this server.',
  }),
  is_default: IsDefault,
  problem: Nullable(Type.String({ description: 'The problem that the last check found.' })),
}

const DnsRecord = Exact({ type: OneOf(['CNAME', 'TXT']), name: Type.String(), value: Type.String() })

const ExpectedRecord = Exact({
  purpose: OneOf(PURPOSES, {
    description:
      '`tracking` and `ownership` are for links; either is enough. `dkim` is a key that signs emails, `dmarc` the policy for emails that are not signed, `return_path` directs bounces to this server, and `spf` lets this server send.',
  }),
  type: OneOf(['CNAME', 'TXT', 'MX'] as const),
  name: Type.String(),
  value: Type.String({ description: 'The value to publish.' }),
  is_required: Type.Boolean({ description: 'Whether the domain needs this record to be verified.' }),
  ...stateMembers,
})

const DMARC_POLICIES = ['none', 'quarantine', 'reject'] as const

const Dmarc = Exact(
  {
    policy: OneOf(DMARC_POLICIES, { description: 'The policy that the domain asks receivers to apply.' }),
    is_inherited: Type.Boolean({ description: 'Whether the policy is that of the organisational domain.' }),
    next_policy: Nullable(OneOf(DMARC_POLICIES, { description: 'The next recommended policy; null after the last.' })),
    next_at: Nullable(Timestamp),
    reports_to: Type.Array(Type.String(), { description: 'The addresses that get the reports of receivers.' }),
  },
  { description: 'The DMARC policy for emails that fail authentication, as found by the last check; null if it found none.' },
)

const Sending = Exact({
  domain: Type.String({ description: 'The domain of From addresses.' }),
  is_verified: Type.Boolean({
    description: 'Whether the required records were found. Provider `mta` sends marketing only from verified domains.',
  }),
  problem: Nullable(Type.String({ description: 'What is missing.' })),
  verified_at: Nullable(Timestamp),
  return_path: Type.String({ description: 'The domain that bounces are returned to; the project’s own domain once its record is found.' }),
  dns_host: Nullable(Type.String({ description: 'The company or name server that hosts the DNS of the domain, where records are added.' })),
  dmarc: Nullable(Dmarc),
})

/** A domain in replies. */
export const Domain = Exact({
  ...columns,
  sending: Nullable(Sending),
  dns: Type.Array(DnsRecord, {
    description:
      'Records for links. The CNAME is needed for links to work, and usually verifies the host; it is absent while `BASE_URL` has no public name that it could point to. The TXT record always verifies the host.',
  }),
  records: Type.Array(ExpectedRecord, { description: 'All records to publish, each with the result of the last check.' }),
  checked_at: Nullable(Timestamp),
  verified_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Domain = Static<typeof Domain>

export const Domains = Page(Domain)

export const DomainRow = Type.Object({
  ...columns,
  verification_token: Type.String(),
  sending_domain: Nullable(Type.String()),
  sending_verified_at: Nullable(Instant),
  sending_problem: Nullable(Type.String()),
  is_strict: Type.Boolean(),
  has_return_path: Type.Boolean(),
  spf_alignment: Nullable(OneOf(['relaxed', 'strict'])),
  records: Type.Array(CheckedRecord),
  dns_host: Nullable(Type.String()),
  /** In a row, of links. */
  failed_checks: Type.Integer(),
  failed_sending_checks: Type.Integer(),
  checked_at: Nullable(Instant),
  verified_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})
export type DomainRow = Static<typeof DomainRow>

const KEY_STATES = ['pending', 'active', 'retired'] as const

export const DkimKeyRow = Type.Object({
  domain_id: IdOf<DomainId>(),
  selector: Type.String(),
  algorithm: OneOf(DKIM_ALGORITHMS),
  public_key: Type.String(),
  private_key_sealed: Type.String(),
  state: OneOf(KEY_STATES),
  created_at: Instant,
  retired_at: Nullable(Instant),
})
export type DkimKeyRow = Static<typeof DkimKeyRow>
