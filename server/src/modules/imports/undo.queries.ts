import { type Static, Type } from 'typebox'
import { fence, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ImportId, ListId, ProjectId, SubscriptionId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'
import type { LinkedIds, RecordedChange, Values } from './recorded-changes.ts'

/** Records what a batch changed. `position` is where the batch begins, so that later batches have later numbers. */
export const insertChanges = (ctx: InTx, id: ImportId, position: number, changes: RecordedChange[]) =>
  ctx.db.run(
    sql`insert into import_changes (project_id, import_id, position, no, user_id, is_new, before, after, joined, subscription_ids, at)
        select ${ctx.projectId}, ${id}, ${position}, c.no, c.user_id, c.is_new, c.before, c.after, c.joined,
               array(select jsonb_array_elements_text(c.subscription_ids)::bigint), ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(changes.map((change, no) => ({ no, ...change })))}::jsonb)
          as c(no int, user_id bigint, is_new boolean, before jsonb, after jsonb, joined boolean, subscription_ids jsonb)`,
  )

/** Records ids that an import linked to users whom it had created, as part of their creation. A user who got others meanwhile is left out. */
export const insertLinkedIds = (ctx: InTx, id: ImportId, linked: LinkedIds[]) =>
  ctx.db.run(
    sql`update import_changes c
        set after = c.after || jsonb_build_object('external_id', l.external_id, 'anonymous_id', l.anonymous_id)
        from unnest(${linked.map(({ user_id }) => user_id)}::bigint[],
                    ${linked.map(({ before }) => before.external_id)}::text[], ${linked.map(({ before }) => before.anonymous_id)}::text[],
                    ${linked.map(({ after }) => after.external_id)}::text[], ${linked.map(({ after }) => after.anonymous_id)}::text[])
          as l(user_id, former_external_id, former_anonymous_id, external_id, anonymous_id)
        where c.ctid = any(array(select created.ctid
                                 from unnest(${linked.map(({ user_id }) => user_id)}::bigint[]) as u(id)
                                 cross join lateral (
                                   select ctid from import_changes
                                   where project_id = ${ctx.projectId} and user_id = u.id and import_id = ${id} and is_new
                                   ${fence}
                                 ) created))
          and c.user_id = l.user_id
          and c.after ->> 'external_id' is not distinct from l.former_external_id
          and c.after ->> 'anonymous_id' is not distinct from l.former_anonymous_id`,
  )

/** Requests the undoing of an import that ended at this instant or later. Returns 1 if it could be. */
export const requestUndo = (ctx: ProjectCtx, id: ImportId, endedSince: Date) =>
  ctx.db.run(
    sql`update imports set state = 'undoing'
        where project_id = ${ctx.projectId} and id = ${id} and not dry_run and state in ('finished', 'failed', 'cancelled')
          and finished_at >= ${endedSince} and changes_deleted_at is null`,
  )

const DueRow = Type.Object({ id: IdOf<ImportId>(), project_id: IdOf<ProjectId>() })
export type ImportToUndo = Static<typeof DueRow>

/** The newest import of each project that is to be undone, except for these projects: what it changed may have been changed by older ones before. */
export const importsToUndo = (ctx: Ctx, leftOut: ProjectId[]) =>
  ctx.db.many(
    DueRow,
    sql`select distinct on (project_id) id, project_id from imports
        where state = 'undoing' and project_id <> all(${leftOut}::bigint[])
        order by project_id, id desc`,
  )

/** When the next batch is due: now, if an import is to be undone, because the batch may have to wait for the ingest queue. */
export const nextUndoAt = async (ctx: Ctx): Promise<Date | null> => ((await importsToUndo(ctx, [])).length > 0 ? ctx.clock.now() : null)

const UndoneImport = Type.Object({ id: IdOf<ImportId>(), list_id: IdOf<ListId>() })
export type UndoneImport = Static<typeof UndoneImport>

/** Locks an import that is to be undone, unless another process has it. The lock ends with the transaction. */
export const lockUndo = (ctx: InTx, id: ImportId) =>
  ctx.db.first(
    UndoneImport,
    sql`select id, list_id from imports
        where project_id = ${ctx.projectId} and id = ${id} and state = 'undoing'
        for update skip locked`,
  )

const ChangeRow = Type.Object({
  user_id: IdOf<UserId>(),
  is_new: Type.Boolean(),
  before: Type.Unsafe<Values>({ type: 'object' }),
  after: Type.Unsafe<Values>({ type: 'object' }),
  joined: Type.Boolean(),
  subscription_ids: Type.Array(IdOf<SubscriptionId>()),
  at: Instant,
  is_counted: Type.Boolean(),
})
export type ChangeRow = Static<typeof ChangeRow>

/** Deletes and returns the last changes of an import, the latest first. They are read by their place, whatever the statistics say. */
export const takeLastChanges = (ctx: InTx, id: ImportId, limit: number) =>
  ctx.db.many(
    ChangeRow,
    sql`with taken as (
          delete from import_changes
          where ctid = any(array(select ctid from import_changes
                                 where project_id = ${ctx.projectId} and import_id = ${id}
                                 order by position desc, no desc
                                 limit ${limit}))
          returning *
        )
        select user_id, is_new, before, after, joined, subscription_ids, at, is_counted from taken order by position desc, no desc`,
  )

/** Marks the next change of each of these users, so that a user whose changes are in several batches is counted once. */
export const markCounted = (ctx: InTx, id: ImportId, users: UserId[]) =>
  ctx.db.run(
    sql`update import_changes set is_counted = true
        where ctid = any(array(select next.ctid
                               from unnest(${users}::bigint[]) as u(id)
                               cross join lateral (
                                 select ctid from import_changes
                                 where project_id = ${ctx.projectId} and user_id = u.id and import_id = ${id}
                                 order by position desc, no desc
                                 limit 1
                                 ${fence}
                               ) next))`,
  )

/** Counts what was undone; the last batch ends it. */
export const countUndone = (
  ctx: InTx,
  id: ImportId,
  { removed, restored, isLast }: { removed: number; restored: number; isLast: boolean },
) =>
  ctx.db.run(
    sql`update imports
        set removed = removed + ${removed}, restored = restored + ${restored},
            state = case when ${isLast}::boolean then 'undone' else state end,
            undone_at = case when ${isLast}::boolean then ${ctx.clock.now()}::timestamptz end
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

const IMPORTS_AT_ONCE = 100

/** Imports that ended before an instant and whose changes or first rows are still kept. */
export const importsWithOldChanges = (ctx: Ctx, before: Date) =>
  ctx.db.many(
    DueRow,
    sql`select id, project_id from imports
        where finished_at < ${before} and changes_deleted_at is null and state <> 'undoing'
        order by finished_at limit ${IMPORTS_AT_ONCE}`,
  )

const given = (imports: ImportToUndo[]) =>
  sql`unnest(${imports.map(({ project_id }) => project_id)}::bigint[], ${imports.map(({ id }) => id)}::bigint[]) as g(project_id, import_id)`

/** Deletes recorded changes of imports, up to a number of them. */
export const deleteChanges = (ctx: Ctx, imports: ImportToUndo[], limit: number) =>
  ctx.db.run(
    sql`delete from import_changes
        where ctid = any(array(select c.ctid
                               from ${given(imports)}
                               cross join lateral (
                                 select ctid from import_changes
                                 where project_id = g.project_id and import_id = g.import_id
                                 limit ${limit}
                                 ${fence}
                               ) c
                               limit ${limit}))`,
  )

export const markChangesDeleted = (ctx: Ctx, imports: ImportToUndo[]) =>
  ctx.db.run(
    sql`update imports i set changes_deleted_at = ${ctx.clock.now()}, first_rows = null
        from ${given(imports)}
        where i.project_id = g.project_id and i.id = g.import_id and i.state <> 'undoing'`,
  )

/** Deletes what imports changed about users whose rows were deleted. */
export const deleteChangesOf = (ctx: InTx, users: UserId[]) =>
  ctx.db.run(
    sql`delete from import_changes
        where ctid = any(array(select c.ctid
                               from unnest(${users}::bigint[]) as u(id)
                               cross join lateral (
                                 select ctid from import_changes where project_id = ${ctx.projectId} and user_id = u.id ${fence}
                               ) c))`,
  )
