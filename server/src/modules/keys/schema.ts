import { type Static, Type } from 'typebox'
import type { KeyId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import { ROLES } from '../../lib/roles.ts'
import { Changes, Exact, IdOf, Instant, Name, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const Scope = OneOf(['public', 'secret'], {
  description: '`public`: for browsers and apps; it permits only some operations. `secret`: for servers.',
})
const RoleName = OneOf(ROLES, { description: 'The rank of the key, which decides what it may do.' })
const Description = Nullable(Type.String({ maxLength: 1000 }))

const ORIGINS_MAX = 50
const AllowedOrigins = Type.Array(Type.String({ maxLength: 255, format: 'origin' }), {
  maxItems: ORIGINS_MAX,
  description:
    'The origins that may use a publishable key, as browsers send them: `https://shop.example.com`. Requests from other origins, or without one, get 403. Empty: any origin may use it.',
})

const writable = { name: Name(), description: Description, scope: Scope, role: RoleName, allowed_origins: AllowedOrigins }

export const KeyCreate = Exact({
  name: writable.name,
  description: Type.Optional(Description),
  scope: Type.Optional(Scope),
  role: Type.Optional(RoleName),
  allowed_origins: Type.Optional(AllowedOrigins),
})
export type KeyCreate = Static<typeof KeyCreate>

export const KeyChanges = Changes(writable)
export type KeyChanges = Static<typeof KeyChanges>

/** A key in replies. */
export const Key = Exact({
  id: IdOf<KeyId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  scope: Scope,
  role: RoleName,
  value: Type.String({ description: 'The key. It is complete in the reply to its creation, and masked everywhere else.' }),
  description: Nullable(Type.String()),
  allowed_origins: AllowedOrigins,
  is_system_key: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Key = Static<typeof Key>

export const KeyRow = Type.Object({
  id: IdOf<KeyId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  scope: Scope,
  role: RoleName,
  prefix: Type.String(),
  last4: Type.String(),
  description: Nullable(Type.String()),
  allowed_origins: Type.Array(Type.String()),
  is_system_key: Type.Boolean(),
  created_at: Instant,
  updated_at: Instant,
})
export type KeyRow = Static<typeof KeyRow>

/** A key with the data of its project and organisation that requests need. */
export const CredentialRow = Type.Object({
  hash: Type.String(),
  id: IdOf<KeyId>(),
  organization_id: IdOf<OrganisationId>(),
  project_id: Nullable(IdOf<ProjectId>()),
  scope: Type.Unsafe<'public' | 'secret' | 'organisation'>({ type: 'string' }),
  role: Type.String(),
  name: Type.String(),
  locale: Nullable(Type.String()),
  timezone: Nullable(Type.String()),
  api_version: Type.String(),
  allowed_origins: Type.Array(Type.String()),
})
export type CredentialRow = Static<typeof CredentialRow>

/** The key of a member, with what requests need of its project and organisation. */
export const MemberKeyRow = Type.Pick(CredentialRow, ['id', 'locale', 'timezone', 'api_version'])
export type MemberKeyRow = Static<typeof MemberKeyRow>
