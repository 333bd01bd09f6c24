import { type Static, Type } from 'typebox'
import type { DomainId, ProjectId } from '../../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Line, Nullable, OneOf, Page, Timestamp } from '../../../lib/shapes.ts'

const IsDefault = Type.Boolean({ description: 'Is it the one that is used where a campaign names none? One domain of a project is.' })

export const DomainInput = Exact({
  host: Line(253, { minLength: 1, format: 'spf-domain', description: 'The host name that links lead to, such as `links.example.com`.' }),
  is_default: Type.Optional(IsDefault),
})
export type DomainInput = Static<typeof DomainInput>

export const DomainChanges = Changes({ is_default: IsDefault })
export type DomainChanges = Static<typeof DomainChanges>

const columns = {
  id: IdOf<DomainId>(),
  project_id: IdOf<ProjectId>(),
  host: Type.String(),
  is_verified: Type.Boolean({ description: 'Only a verified domain is used; until then links lead to this server under its own name.' }),
  is_default: IsDefault,
  problem: Nullable(Type.String({ description: 'What the last check found amiss.' })),
}

const DnsRecord = Exact({ type: OneOf(['CNAME', 'TXT']), name: Type.String(), value: Type.String() })

/** A domain as it is read. */
export const Domain = Exact({
  ...columns,
  dns: Type.Array(DnsRecord, {
    description: 'What to publish: the CNAME makes links work and, as a rule, verifies the domain. The TXT record verifies it in any case.',
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
