import { mapPage, type PageRequest } from '../../infra/http/paging.ts'
import type { Credential } from '../../infra/http/route.ts'
import { cached } from '../../infra/runtime/cache.ts'
import { afterCommit, type Ctx, type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { gathered } from '../../infra/runtime/gathered.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { unauthenticated } from '../../lib/credentials.ts'
import { ApiError, missing } from '../../lib/errors.ts'
import type { KeyId, OrganisationId, ProjectId } from '../../lib/ids.ts'
import type { OrganisationRole, Role } from '../../lib/roles.ts'
import { SECOND_MS } from '../../lib/times.ts'
import { generateKey, type KeyPrefix, maskKey } from './key-format.ts'
import * as memberKeys from './member-keys.queries.ts'
import * as queries from './queries.ts'
import type { CredentialRow, Key, KeyChanges, KeyCreate, KeyRow, MemberKeyRow } from './schema.ts'

const KEYS_MAX = 200
/** An archived key is refused at once by this process, and within this time by every other. */
const CREDENTIAL_CACHE_MS = 5000
const CREDENTIAL_CACHE_MAX = 10_000

const findCredential = gathered<string, CredentialRow>(
  async (ctx, hashes) => new Map((await queries.findCredentials(ctx, hashes)).map((row) => [row.hash, row])),
)

const credentials = cached<string, Credential | undefined>(
  CREDENTIAL_CACHE_MAX,
  CREDENTIAL_CACHE_MS,
  async (ctx, hash) => {
    const row = await findCredential(ctx, hash)
    return row && toCredential(row)
  },
  {
    // With a log outside of the database, requests are accepted while the database is away.
    whileAwayMs: ({ acceptedLog, config }) => (acceptedLog ? config.LOG_KEYS_KEPT_S * SECOND_MS : 0),
    versionOf: queries.credentialsVersion,
  },
)

/** Looks up a key. Throws the same 401 for an unknown key and an archived one (D-KEY-1). */
export async function authenticate(ctx: Ctx, key: string): Promise<Credential> {
  const credential = await credentials.get(ctx, sha256(key))
  if (!credential) throw unauthenticated('key_invalid')
  return credential
}

function toCredential(row: CredentialRow): Credential {
  const { id: keyId, organization_id: organisationId, api_version: apiVersion } = row
  const actor = { kind: 'key', id: keyId, name: row.name } as const
  if (row.scope === 'organisation' || row.project_id === null) {
    return { kind: 'organisation', keyId, organisationId, role: row.role as OrganisationRole, apiVersion, actor }
  }
  return {
    kind: row.scope === 'secret' ? 'secret' : 'publishable',
    keyId,
    allowedOrigins: row.allowed_origins,
    organisationId,
    role: row.role as Role,
    projectId: row.project_id,
    project: { locale: row.locale ?? 'en', timezone: row.timezone ?? 'UTC' },
    apiVersion,
    actor,
  }
}

/**
 * The key that represents a member in a project, or in the organisation, wherever a record names a key, such as an idempotency record. It
 * is created at the first request. Undefined for a project of another organisation.
 */
export async function findMemberKey(ctx: Ctx, owner: memberKeys.KeyOwner, projectId: ProjectId | null): Promise<MemberKeyRow | undefined> {
  const known = await memberKeys.findMemberKey(ctx, owner, projectId)
  if (known) return known
  await memberKeys.insertMemberKey(ctx, owner, projectId)
  return memberKeys.findMemberKey(ctx, owner, projectId)
}

/** Creates a key for a project. Only the result contains its value. */
export async function createKey(ctx: Ctx, organisationId: OrganisationId, projectId: ProjectId, input: KeyCreate): Promise<Key> {
  const scope = input.scope ?? 'secret'
  const role = input.role ?? 'support'
  const description = input.description ?? null
  const allowed_origins = input.allowed_origins ?? []
  const value = generateKey(scope === 'secret' ? 'sk_' : 'pk_', ctx.secrets.random)
  const saved = await inTx(ctx, async (ctx) => {
    await requireKeyRoom(ctx, projectId)
    return saveKey(ctx, value, {
      organisationId,
      projectId,
      scope,
      role,
      name: input.name,
      description,
      allowedOrigins: allowed_origins,
      isSystemKey: false,
    })
  })
  if (!saved) throw new Error('The generated key exists already.')
  return { ...saved, project_id: projectId, name: input.name, scope, role, value, description, allowed_origins, is_system_key: false }
}

async function requireKeyRoom(ctx: InTx<Ctx>, projectId: ProjectId): Promise<void> {
  await lockRoom(ctx, 'keys', projectId)
  if ((await queries.countKeys(ctx, projectId)) < KEYS_MAX) return
  throw new ApiError('quota_exceeded', `A project may have at most ${KEYS_MAX} keys. Archive one first.`)
}

/** Stores a key by its hash. Returns undefined if it exists already. */
export const saveKey = (ctx: Ctx, value: string, key: Omit<queries.NewKey, 'hash' | 'prefix' | 'last4'>) =>
  queries.insertKey(ctx, { ...key, hash: sha256(value), prefix: value.slice(0, 3) as KeyPrefix, last4: value.slice(-4) })

export const listKeys = async (ctx: ProjectCtx, page: PageRequest) => mapPage(await queries.listKeys(ctx, page), masked)

export async function getKey(ctx: ProjectCtx, id: KeyId): Promise<Key> {
  const row = await queries.findKey(ctx, id)
  if (!row) throw missing('key')
  return masked(row)
}

export async function updateKey(ctx: ProjectCtx, id: KeyId, changes: KeyChanges): Promise<Key> {
  const row = await queries.updateKey(ctx, id, changes)
  if (!row) throw missing('key')
  afterCommit(ctx, credentials.forget)
  return masked(row)
}

export async function archiveKey(ctx: ProjectCtx, id: KeyId): Promise<void> {
  const key = await queries.findKey(ctx, id)
  if (!key) throw missing('key')
  if (key.is_system_key)
    throw new ApiError('permission_denied', 'This key is managed by the system and cannot be archived.', { reason: 'system_key' })
  await queries.archiveKey(ctx, id)
  afterCommit(ctx, credentials.forget)
}

/** Archives every key of a project that is deleted, also those that the system manages. */
export async function archiveEveryKey(ctx: InTx): Promise<void> {
  await queries.archiveKeys(ctx)
  afterCommit(ctx, credentials.forget)
}

const masked = ({ prefix, last4, ...row }: KeyRow): Key => ({ ...row, value: maskKey(prefix, last4) })
