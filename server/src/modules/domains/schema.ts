import { type Static, Type } from 'typebox'
import type { DomainId, ProjectId } from '../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Line, Nullable, OneOf, Page, Timestamp } from '../../lib/shapes.ts'

const IsDefault = Type.Boolean({ description: 'Whether campaigns without a domain use it. A project has one default.' })

export const DomainInput = Exact({
  host: Line(253, { minLength: 1, format: 'spf-domain', description: 'The host name for tracked links, such as `links.example.com`.' }),
  is_default: Type.Optional(IsDefault),
})
export type DomainInput = Static<typeof DomainInput>

export const DomainChanges = Changes({ is_default: IsDefault })
export type DomainChanges = Static<typeof DomainChanges>

const columns = {
  id: IdOf<DomainId>(),
  project_id: IdOf<ProjectId>(),
  host: Type.String(),
  is_verified: Type.Boolean({ description: 'Only a verified domain is used. Until then, links use the host name of this server.' }),
  is_default: IsDefault,
  problem: Nullable(Type.String({ description: 'The problem that the last check found.' })),
}

const DnsRecord = Exact({ type: OneOf(['CNAME', 'TXT']), name: Type.String(), value: Type.String() })

/** A domain in replies. */
export const Domain = Exact({
  ...columns,
  dns: Type.Array(DnsRecord, {
    description:
      'Records to publish. The CNAME is needed for links to work, and usually verifies the domain; it is absent while `BASE_URL` has no public name that it could point to. The TXT record always verifies the domain.',
  }),
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
  checked_at: Nullable(Instant),
  verified_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})
export type DomainRow = Static<typeof DomainRow>
