import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'
import { AuditRow, ChainEnds, ChainRow } from './schema.ts'

export const auditListing = listing({
  resource: 'audit',
  sorts: { created_at: { column: sql`created_at`, type: 'timestamptz' } },
  defaultSort: 'created_at',
  defaultDirection: 'desc',
  search: [sql`coalesce(object_name, '')`, sql`coalesce(actor_name, '')`, sql`action`],
  searchedFields: 'object name, actor name, action',
})

const columns = sql`id, project_id, position, action, object_type, object_id, object_name, actor_type, actor_id, actor_name, via, request_id,
  before, after, details, previous_hash, hash, created_at`

/** Whose entries: those of a project, or those of an organisation and all its projects. */
export type Owner = { projectId: ProjectId } | { organisationId: OrganisationId }

const ofOwner = (owner: Owner): Sql =>
  'projectId' in owner ? sql`project_id = ${owner.projectId}` : sql`organization_id = ${owner.organisationId}`

export type AuditFilter = {
  action: string | undefined
  actorType: string | undefined
  actorId: number | undefined
  objectType: string | undefined
  objectId: string | undefined
  via: string | undefined
  since: Date | undefined
  until: Date | undefined
}

const when = (value: unknown, condition: Sql): Sql => (value === undefined ? sql`true` : condition)

export const listEntries = (ctx: Ctx, owner: Owner, page: PageRequest, filter: AuditFilter): Promise<PageOf<AuditRow>> => {
  const { action, actorType, actorId, objectType, objectId, via, since, until } = filter
  return pageOf(ctx, AuditRow, auditListing, page, {
    select: columns,
    from: sql`audit_entries`,
    where: sql`${ofOwner(owner)} and ${when(action, sql`action = ${action}`)} and ${when(actorType, sql`actor_type = ${actorType}`)}
      and ${when(actorId, sql`actor_id = ${actorId}`)} and ${when(objectType, sql`object_type = ${objectType}`)}
      and ${when(objectId, sql`object_id = ${objectId}`)} and ${when(via, sql`via = ${via}`)}
      and ${when(since, sql`created_at >= ${since}`)} and ${when(until, sql`created_at < ${until}`)}`,
  })
}

/** The chain of a project, or that of an organisation. */
export type Chain = { organisationId: OrganisationId; projectId: ProjectId | null }

const ofChain = ({ organisationId, projectId }: Chain): Sql =>
  projectId === null ? sql`project_id is null and organization_id = ${organisationId}` : sql`project_id = ${projectId}`

/** Locks the end of a chain until the commit, and returns the last entry. */
export const lockChain = (ctx: InTx<Ctx>, { organisationId, projectId }: Chain) =>
  ctx.db.one(
    ChainRow,
    sql`insert into audit_chains as c (organization_id, project_id, position, hash) values (${organisationId}, ${projectId ?? 0}, 0, '')
        on conflict (project_id, organization_id) do update set position = c.position
        returning position, hash`,
  )

export type NewEntry = Omit<AuditRow, 'id'> & { organization_id: OrganisationId }

const json = (value: unknown) => (value === null ? null : JSON.stringify(value))

/** Adds an entry to the end of its chain. */
export const insertEntry = (ctx: InTx<Ctx>, entry: NewEntry) =>
  ctx.db.run(
    sql`with entry as (
          insert into audit_entries (organization_id, project_id, position, action, object_type, object_id, object_name, actor_type, actor_id,
                                     actor_name, via, request_id, before, after, details, previous_hash, hash, created_at)
          values (${entry.organization_id}, ${entry.project_id}, ${entry.position}, ${entry.action}, ${entry.object_type}, ${entry.object_id},
                  ${entry.object_name}, ${entry.actor_type}, ${entry.actor_id}, ${entry.actor_name}, ${entry.via}, ${entry.request_id},
                  ${json(entry.before)}, ${json(entry.after)}, ${json(entry.details)}, ${entry.previous_hash}, ${entry.hash}, ${entry.created_at})
        )
        update audit_chains set position = ${entry.position}, hash = ${entry.hash}
        where project_id = ${entry.project_id ?? 0} and organization_id = ${entry.organization_id}`,
  )

/** Entries of a chain after a position, in order. */
export const chainAfter = (ctx: Ctx, chain: Chain, position: number, limit: number) =>
  ctx.db.many(
    AuditRow,
    sql`select ${columns} from audit_entries
        where ${ofChain(chain)} and position > ${position}
        order by position
        limit ${limit}`,
  )

/** Where a chain ends; undefined when it never had an entry. */
export const endsOfChain = (ctx: Ctx, { organisationId, projectId }: Chain) =>
  ctx.db.first(
    ChainEnds,
    sql`select position, purged_position from audit_chains where project_id = ${projectId ?? 0} and organization_id = ${organisationId}`,
  )

/** Deletes entries that are too old, and notes in their chains that they are not missing. Returns how many. */
export const purgeEntries = (ctx: Ctx, before: Date, limit: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`with purged as (
          delete from audit_entries
          where id in (select id from audit_entries where created_at < ${before} order by created_at limit ${limit})
          returning coalesce(project_id, 0) as project_id, organization_id, position
        ), noted as (
          update audit_chains c
          set purged_position = greatest(c.purged_position, p.position)
          from (select project_id, organization_id, max(position) as position from purged group by 1, 2) p
          where c.project_id = p.project_id and c.organization_id = p.organization_id
        )
        select count(*)::integer as count from purged`,
  )
