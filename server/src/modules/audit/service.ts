import { createHash } from 'node:crypto'
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import type { RecordedWrite } from '../../infra/http/route.ts'
import type { CallerCtx, Ctx, InTx } from '../../infra/runtime/ctx.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { DAY_MS, parseTime } from '../../lib/times.ts'
import { findProject } from '../projects/index.ts'
import { changesOf, kept } from './changes.ts'
import * as queries from './queries.ts'
import type { AuditCheck, AuditEntry, AuditQuery, AuditRow } from './schema.ts'

/** Records a write in the transaction of its effects. */
export async function recordWrite(ctx: InTx<Ctx>, { projectId, action, object, before, after, details }: RecordedWrite): Promise<void> {
  const organisationId = await organisationOf(ctx, projectId)
  const chain = { organisationId, projectId }
  // The lock comes last, so that a project waits for no more than the commit.
  const last = await queries.lockChain(ctx, chain)
  const entry = {
    project_id: projectId,
    position: last.position + 1,
    action,
    via: ctx.origin?.via ?? ('system' as const),
    request_id: ctx.origin?.requestId ?? null,
    ...changesOf(before, after),
    details: details ? kept(details) : null,
    object: { ...object, name: nameOf(after ?? before) },
    actor: { type: ctx.actor?.kind ?? ('system' as const), id: ctx.actor?.id ?? null, name: ctx.actor?.name ?? null },
    created_at: ctx.clock.now(),
  }
  await queries.insertEntry(ctx, {
    ...toColumns(entry),
    organization_id: organisationId,
    previous_hash: last.hash,
    hash: hashOf(last.hash, entry),
  })
}

/** Records what code outside of requests did, such as jobs and commands. `state` has the members that it set. */
export const recordAction = (
  ctx: InTx<Ctx>,
  projectId: ProjectId | null,
  action: `${string}.${string}`,
  id: number | string | null,
  { before, after }: { before?: Record<string, unknown>; after?: Record<string, unknown> },
): Promise<void> =>
  recordWrite(ctx, {
    projectId,
    action,
    object: { type: action.slice(0, action.indexOf('.')), id: id === null ? null : String(id) },
    before,
    after,
  })

async function organisationOf(ctx: InTx<Ctx>, projectId: ProjectId | null): Promise<OrganisationId> {
  if (ctx.origin) return ctx.origin.organisationId
  if (projectId === null) throw new Error('An entry of an organisation needs the origin of a request.')
  return (await findProject(ctx as unknown as Ctx, projectId)).organization_id
}

/** What the name of an object is, by kind. */
const NAMES = ['name', 'host', 'key', 'url', 'email']

function nameOf(state: Record<string, unknown> | undefined): string | null {
  const found = NAMES.map((name) => state?.[name]).find((value) => typeof value === 'string')
  return typeof found === 'string' ? found.slice(0, 255) : null
}

type Hashed = Omit<AuditEntry, 'id' | 'hash' | 'previous_hash'>

const hashOf = (previous: string, entry: Hashed): string =>
  createHash('sha256')
    .update(`${previous}\n${canonicalJson(JSON.parse(JSON.stringify(entry)))}`)
    .digest('hex')

const toColumns = ({ object, actor, ...entry }: Hashed) => ({
  ...entry,
  object_type: object.type,
  object_id: object.id,
  object_name: object.name,
  actor_type: actor.type,
  actor_id: actor.id,
  actor_name: actor.name,
})

const present = ({ object_type, object_id, object_name, actor_type, actor_id, actor_name, ...row }: AuditRow): AuditEntry => ({
  ...row,
  object: { type: object_type, id: object_id, name: object_name },
  actor: { type: actor_type, id: actor_id, name: actor_name },
})

const timeOf = (text: string | undefined) => (text === undefined ? undefined : (parseTime(text) ?? undefined))

/** The organisation of an organisation key; for a project key, the project. */
const ownerOf = ({ caller, projectId }: CallerCtx): queries.Owner =>
  caller.kind === 'organisation' ? { organisationId: caller.organisationId } : { projectId: projectId as ProjectId }

/** A page of the audit log, newest first. */
export async function listEntries(ctx: CallerCtx, page: PageRequest, query: AuditQuery): Promise<PageOf<AuditEntry>> {
  const found = await queries.listEntries(ctx, ownerOf(ctx), page, {
    action: query.action,
    actorType: query.actor_type,
    actorId: query.actor_id === undefined ? undefined : Number(query.actor_id),
    objectType: query.object_type,
    objectId: query.object_id,
    via: query.via,
    since: timeOf(query.since),
    until: timeOf(query.until),
  })
  return mapPage(found, present)
}

/** An entry can have many kilobytes, and takes a millisecond or two. */
const READ_AT_ONCE = 100
const HASHED_AT_ONCE = 10

/** Computes the hashes of a chain again. Other requests get their turns meanwhile. */
export async function checkChain(ctx: CallerCtx): Promise<AuditCheck> {
  const { caller, projectId = null } = ctx
  const organisationId = caller.kind === 'organisation' ? caller.organisationId : (ctx.origin?.organisationId as OrganisationId)
  const chain = { organisationId, projectId: caller.kind === 'organisation' ? null : projectId }
  const ends = await queries.endsOfChain(ctx, chain)
  let entries = 0
  let first: number | undefined
  let last: { position: number; hash: string } | undefined
  for (;;) {
    const rows = await queries.chainAfter(ctx, chain, last?.position ?? 0, READ_AT_ONCE)
    for (const row of rows) {
      if (last && row.position > last.position + 1 && row.position <= (await purgedUpTo(ctx, chain)) + 1) last = undefined
      if (!follows(last, row)) return { is_intact: false, entries, first_wrong: row.position }
      entries++
      if (entries % HASHED_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
      first ??= row.position
      last = row
    }
    if (rows.length < READ_AT_ONCE) break
  }
  // None may be missing between the last that was deleted by age and the end that was read before.
  const endsNow = await queries.endsOfChain(ctx, chain)
  const purged = endsNow?.purged_position ?? 0
  if (first !== undefined && first > purged + 1) return { is_intact: false, entries, first_wrong: first }
  const reached = Math.max(last?.position ?? 0, purged)
  const isWhole = endsNow === undefined ? entries === 0 : reached >= (ends?.position ?? 0)
  return { is_intact: isWhole, entries, first_wrong: isWhole ? null : reached + 1 }
}

/**
 * How far entries were deleted by age. It is read whenever some are missing, because it can have happened since others were read. Entries before
 * may be left: those with the time of a clock that was ahead.
 */
const purgedUpTo = async (ctx: CallerCtx, chain: queries.Chain): Promise<number> =>
  (await queries.endsOfChain(ctx, chain))?.purged_position ?? 0

/** Whether an entry is as it was written, and follows the one before. The first that is left follows one that was deleted by age. */
function follows(last: { position: number; hash: string } | undefined, row: AuditRow): boolean {
  const { id: _, hash, previous_hash, ...entry } = present(row)
  if (last && (row.position !== last.position + 1 || previous_hash !== last.hash)) return false
  return hash === hashOf(previous_hash, entry)
}

const PURGED_AT_ONCE = 5000

/** Deletes entries that are older than the setting allows. */
export async function purgeEntries(ctx: Ctx): Promise<number> {
  const { AUDIT_RETENTION_DAYS: days } = ctx.config
  if (days === 0) return 0
  return queries.purgeEntries(ctx, new Date(ctx.clock.now().getTime() - days * DAY_MS), PURGED_AT_ONCE)
}
