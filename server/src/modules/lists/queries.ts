import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId } from '../../lib/ids.ts'
import { Count, Flag, IdOf } from '../../lib/shapes.ts'
import type { Rule } from '../rules/index.ts'
import { type ListInput, ListRow } from './schema.ts'

/** An archived list has no live version; the newest one has the members that a static list is restored with. */
const columns = sql`l.id, l.project_id, l.name, l.type, l.tags, l.live_version_id, l.archived_at, l.created_at, l.updated_at,
  v.id as version_id, v.rule, v.progress,
  (select coalesce(sum(c.members), 0)::bigint from list_counts c
   where c.project_id = l.project_id and c.version_id = case when l.archived_at is null then l.live_version_id else v.id end) as users_count`

/** The share of the ids that a build has passed, from 0 to 1. */
const progress = sql`case when n.ids_from is not null
  then greatest(0, least(1, (n.built_to - n.ids_from + 1)::float8 / (n.ids_to - n.ids_from + 1))) end`

const newestVersion = sql`lateral (select n.id, n.rule, ${progress} as progress from list_versions n
  where n.project_id = l.project_id and n.list_id = l.id
  order by n.id desc
  limit 1) v`

export const listListing = listing({
  resource: 'lists',
  sorts: {
    id: { column: sql`l.id`, type: 'bigint' },
    name: { column: sql`l.name`, type: 'text' },
    type: { column: sql`l.type`, type: 'text' },
    created_at: { column: sql`l.created_at`, type: 'timestamptz' },
    updated_at: { column: sql`l.updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  id: sql`l.id`,
  search: [sql`l.name`, sql`array_to_string(l.tags, E'\x1f')`],
  searchedFields: 'name, tags',
})

/** A page of lists that are not archived, or of those that are: all of them, or those with a tag. */
export const listLists = (
  ctx: ProjectCtx,
  page: PageRequest,
  { isArchived, tag }: { isArchived: boolean; tag?: string },
): Promise<PageOf<ListRow>> =>
  pageOf(ctx, ListRow, listListing, page, {
    select: columns,
    from: sql`lists l left join ${newestVersion} on true`,
    where: sql`l.project_id = ${ctx.projectId} and ${isArchived ? sql`l.archived_at is not null` : sql`l.archived_at is null`}
      ${tag === undefined ? sql`` : sql`and l.tags @> array[${tag}::text]`}`,
  })

/** A list of this project that is not archived, with its newest version. */
export const findList = (ctx: ProjectCtx, id: ListId) =>
  ctx.db.first(
    ListRow,
    sql`select ${columns} from lists l left join ${newestVersion} on true
        where l.project_id = ${ctx.projectId} and l.id = ${id} and l.archived_at is null`,
  )

const IdRow = Type.Object({ id: IdOf<ListId>() })

/** Locks a list, so that changes to its rule and state are made one at a time. */
export const lockList = (ctx: InTx, id: ListId) =>
  ctx.db.first(IdRow, sql`select id from lists where project_id = ${ctx.projectId} and id = ${id} and archived_at is null for update`)

/** Locks a list that is archived. */
export const lockArchived = (ctx: InTx, id: ListId) =>
  ctx.db.first(IdRow, sql`select id from lists where project_id = ${ctx.projectId} and id = ${id} and archived_at is not null for update`)

/** A list that is archived, with its newest version. */
export const findArchived = (ctx: ProjectCtx, id: ListId) =>
  ctx.db.first(
    ListRow,
    sql`select ${columns} from lists l left join ${newestVersion} on true
        where l.project_id = ${ctx.projectId} and l.id = ${id} and l.archived_at is not null`,
  )

const TypeRow = Type.Object({ type: ListRow.properties.type })

/** Locks a list against being archived; its members may change. */
export const lockListShared = (ctx: InTx, id: ListId) =>
  ctx.db.first(TypeRow, sql`select type from lists where project_id = ${ctx.projectId} and id = ${id} and archived_at is null for share`)

/** Locks these lists against being archived; their members may change. Returns those that are not archived. */
export const lockUnarchived = (ctx: InTx, ids: number[]) =>
  ctx.db.many(
    IdRow,
    sql`select id from lists
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and archived_at is null
        order by id
        for share`,
  )

/**
 * Locks the rules of this project, so that two transactions do not make lists depend on each other, and no list is rebuilt by a rule that
 * is being replaced.
 */
export const lockRules = (ctx: InTx) => ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('rules of lists', ${ctx.projectId}))`)

/** Takes the same lock, unless another transaction holds it now. Returns whether it has. */
export const tryLockRules = (ctx: InTx): Promise<boolean> =>
  ctx.db.value(Flag, sql`select pg_try_advisory_xact_lock(hashtextextended('rules of lists', ${ctx.projectId})) as locked`)

export const countDynamic = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from lists where project_id = ${ctx.projectId} and type = 'dynamic' and archived_at is null`,
  )

export const countLists = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from lists where project_id = ${ctx.projectId} and archived_at is null`)

export const insertList = (ctx: InTx, { name, type, tags }: Pick<ListInput, 'name' | 'type'> & { tags: string[] }) =>
  ctx.db.one(
    IdRow,
    sql`insert into lists (project_id, name, type, tags, created_at, updated_at)
        values (${ctx.projectId}, ${name}, ${type}, ${tags}::text[], ${ctx.clock.now()}, ${ctx.clock.now()})
        returning id`,
  )

/** Saves a locked list. */
export const updateList = (ctx: InTx, id: ListId, { name, tags }: Pick<ListRow, 'name' | 'tags'>) =>
  ctx.db.run(
    sql`update lists set name = ${name}, tags = ${tags}::text[], updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

export const archiveList = (ctx: InTx, id: ListId) =>
  ctx.db.run(
    sql`update lists set archived_at = ${ctx.clock.now()}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Ends the archiving of a locked list. */
export const unarchiveList = (ctx: InTx, id: ListId) =>
  ctx.db.run(
    sql`update lists set archived_at = null, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

const RuleInUse = Type.Object({ list_id: IdOf<ListId>(), name: Type.String(), rule: Type.Unsafe<Rule>({ type: 'object' }) })

/**
 * The rules that may depend on a list, of all lists that are not archived: the newest rule, and the rule of the live version until the
 * newest one is built. Only rules with `list` in their text are read.
 */
export const rulesDependingOnLists = (ctx: ProjectCtx) =>
  ctx.db.many(
    RuleInUse,
    sql`select v.list_id, l.name, v.rule
        from list_versions v join lists l on l.id = v.list_id and l.project_id = ${ctx.projectId} and l.archived_at is null
        where v.project_id = ${ctx.projectId} and v.status not in ('archived', 'retired') and v.rule::text like '%list%'
        order by v.list_id`,
  )

const VersionRule = Type.Object({ rule: Type.Unsafe<Rule | null>({ type: ['object', 'null'] }) })

export const findRule = (ctx: ProjectCtx, versionId: ListVersionId) =>
  ctx.db.first(VersionRule, sql`select rule from list_versions where project_id = ${ctx.projectId} and id = ${versionId}`)

const ListName = Type.Object({ id: IdOf<ListId>(), name: Type.String() })

/** The static lists among these ids, without archived ones. */
export const staticListsAmong = (ctx: ProjectCtx, ids: number[]) =>
  ctx.db.many(
    IdRow,
    sql`select id from lists where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and type = 'static' and archived_at is null`,
  )

/** The names of the lists of this project among these ids, without archived ones. */
export const listNames = (ctx: ProjectCtx, ids: number[]) =>
  ctx.db.many(
    ListName,
    sql`select id, name from lists where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and archived_at is null`,
  )
