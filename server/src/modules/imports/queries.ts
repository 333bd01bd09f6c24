import { Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import { firstOfEach } from '../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ImportId, KeyId, ListId, ProjectId } from '../../lib/ids.ts'
import { Count, IdOf, Nullable } from '../../lib/shapes.ts'
import type { Heading } from './heading.ts'
import type { ImportOptions } from './options.ts'
import { ClaimedImport, type FirstRow, ImportRow } from './schema.ts'

const columns = sql`id, list_id, state, reason, dry_run, update_existing, consent_source, subscription_ids,
  filename, file_sha256, rows_total, rows, created, updated, unchanged,
  skipped, failed, added, removed, restored, bytes, delimiter, columns, position, created_at, started_at, finished_at, undone_at`

export const importListing = listing({
  resource: 'imports',
  sorts: { id: { column: sql`id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`state`, sql`reason`, sql`consent_source`],
  searchedFields: 'state, reason, consent_source',
})

export const listImports = (ctx: ProjectCtx, listId: ListId, page: PageRequest): Promise<PageOf<ImportRow>> =>
  pageOf(ctx, ImportRow, importListing, page, {
    select: columns,
    from: sql`imports`,
    where: sql`project_id = ${ctx.projectId} and list_id = ${listId} and state <> 'receiving'`,
  })

export const findImport = (ctx: ProjectCtx, listId: ListId, id: ImportId) =>
  ctx.db.first(
    ImportRow,
    sql`select ${columns} from imports
        where project_id = ${ctx.projectId} and list_id = ${listId} and id = ${id} and state <> 'receiving'`,
  )

/** The imports among these ids, in no order. */
export const findImports = (ctx: ProjectCtx, ids: ImportId[]) =>
  ctx.db.many(
    ImportRow,
    sql`select ${columns} from imports
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and state <> 'receiving'`,
  )

const FirstRowsRow = Type.Object({ first_rows: Nullable(Type.Unsafe<FirstRow[]>({ type: 'array' })) })

/** The first rows of a dry run; null for other imports, and after they were deleted. */
export const readFirstRows = (ctx: ProjectCtx, id: ImportId) =>
  ctx.db.first(FirstRowsRow, sql`select first_rows from imports where project_id = ${ctx.projectId} and id = ${id}`)

/** The number of imports that are under way, uploads included. */
export const countUnfinished = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count from imports
          where project_id = ${ctx.projectId} and state in ('receiving', 'queued', 'running')`,
  )

const IdRow = Type.Object({ id: IdOf<ImportId>() })

const keyOf = ({ caller }: ProjectCtx): KeyId | null => (caller.kind === 'secret' ? caller.keyId : null)

/** Inserts an import whose file is about to be uploaded. */
export const insertImport = async (ctx: ProjectCtx, listId: ListId, heading: Heading, options: ImportOptions): Promise<ImportId> => {
  const row = await ctx.db.first(
    IdRow,
    sql`insert into imports (project_id, list_id, delimiter, columns, position, line, dry_run, update_existing, consent_source,
                             subscription_ids, filename, key_id, created_at, received_at)
        values (${ctx.projectId}, ${listId}, ${heading.delimiter}, ${JSON.stringify(heading.columns)}::jsonb, ${heading.position}, ${heading.line},
                ${options.dryRun}, ${options.updateExisting}, ${options.consentSource}, ${options.subscriptionIds}::bigint[],
                ${options.filename}, ${keyOf(ctx)}, ${ctx.clock.now()}, ${ctx.clock.now()})
        returning id`,
  )
  return (row as { id: ImportId }).id
}

/** Stores a chunk of a file; 0 when the upload was discarded. */
export const insertChunk = (ctx: ProjectCtx, id: ImportId, no: number, bytes: Buffer) =>
  ctx.db.run(
    sql`with longer as (
          update imports set bytes = bytes + ${bytes.length}, received_at = ${ctx.clock.now()}
          where project_id = ${ctx.projectId} and id = ${id} and state = 'receiving'
          returning id
        )
        insert into import_chunks (project_id, import_id, no, bytes)
        select ${ctx.projectId}, id, ${no}, ${bytes} from longer`,
  )

/** Queues an import whose file is complete. */
export const queueImport = (
  ctx: ProjectCtx,
  id: ImportId,
  { sha256, rows, position }: { sha256: string; rows: number; position: number },
) =>
  ctx.db.first(
    ImportRow,
    sql`update imports set state = 'queued', file_sha256 = ${sha256}, rows_total = ${rows}, accepted_position = ${position}
        where project_id = ${ctx.projectId} and id = ${id} and state = 'receiving' returning ${columns}`,
  )

/** Deletes an upload that failed. */
export const discardUpload = (ctx: ProjectCtx, id: ImportId) =>
  ctx.db.run(sql`delete from imports where project_id = ${ctx.projectId} and id = ${id} and state = 'receiving'`)

/** Cancels an import that has not ended. */
export const cancelImport = (ctx: ProjectCtx, listId: ListId, id: ImportId) =>
  ctx.db.first(
    ImportRow,
    sql`update imports set state = 'cancelled', finished_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and list_id = ${listId} and id = ${id} and state in ('queued', 'running')
        returning ${columns}`,
  )

const DueRow = Type.Object({ id: IdOf<ImportId>(), project_id: IdOf<ProjectId>() })
export type DueImport = { id: ImportId; project_id: ProjectId }

const oldestImports = firstOfEach('oldest', {
  table: sql`imports`,
  keys: ['project_id'],
  order: ['id'],
  where: sql`state in ('queued', 'running')`,
})

/** The oldest unfinished import of each project, which runs one at a time. */
export const importsDue = (ctx: Ctx) =>
  ctx.db.many(DueRow, sql`with recursive ${oldestImports} select id, project_id from oldest order by id`)

/** When the next batch is due: now, if an import is unfinished, because the batch may have to wait for the ingest queue. */
export const nextImportAt = async (ctx: Ctx): Promise<Date | null> => ((await importsDue(ctx)).length > 0 ? ctx.clock.now() : null)

/** The queue position at which the oldest unfinished import was accepted; null without one. */
export const oldestImportPosition = (ctx: Ctx): Promise<number | null> =>
  ctx.db.value(Nullable(Type.Integer()), sql`select min(accepted_position) as position from imports where state in ('queued', 'running')`)

/** The unfinished imports of a project: they may refuse more rows. */
export const unfinishedImports = async (ctx: ProjectCtx): Promise<ImportId[]> => {
  const rows = await ctx.db.many(IdRow, sql`select id from imports where project_id = ${ctx.projectId} and state in ('queued', 'running')`)
  return rows.map(({ id }) => id)
}

/** An unfinished import, without a lock. */
export const findUnfinished = (ctx: ProjectCtx, id: ImportId) =>
  ctx.db.first(
    ClaimedImport,
    sql`select ${columns}, line, key_id, accepted_position from imports where project_id = ${ctx.projectId} and id = ${id} and state in ('queued', 'running')`,
  )

/** Locks an import for one batch, unless another process has it. The lock ends with the transaction. */
export const claimImport = (ctx: InTx, id: ImportId) =>
  ctx.db.first(
    ClaimedImport,
    sql`select ${columns}, line, key_id, accepted_position from imports
        where project_id = ${ctx.projectId} and id = ${id} and state in ('queued', 'running')
        for update skip locked`,
  )

const ChunkRow = Type.Object({ bytes: Type.Unsafe<Buffer>({}) })

/** Two consecutive chunks of the file, or the last one. */
export const readChunks = (ctx: ProjectCtx, id: ImportId, no: number) =>
  ctx.db.many(
    ChunkRow,
    sql`select bytes from import_chunks
        where project_id = ${ctx.projectId} and import_id = ${id} and no between ${no} and ${no + 1}
        order by no`,
  )

/** The results of a batch by row, and the number of new members of the list. */
export type Counts = Record<'rows' | 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed' | 'added', number>

export type Progress = {
  position: number
  line: number
  counts: Counts
  /** More of the first rows of a dry run. */
  firstRows: FirstRow[]
  end: { state: 'finished' | 'failed'; reason: string | null } | null
}

/** Saves the progress of an import. */
export const saveProgress = (ctx: InTx, id: ImportId, { position, line, counts, firstRows, end }: Progress) =>
  ctx.db.run(
    sql`update imports
        set state = ${end?.state ?? 'running'}, reason = ${end?.reason ?? null}, attempts = 0, position = ${position}, line = ${line},
            rows = rows + ${counts.rows}, created = created + ${counts.created}, updated = updated + ${counts.updated},
            unchanged = unchanged + ${counts.unchanged}, skipped = skipped + ${counts.skipped}, failed = failed + ${counts.failed},
            added = added + ${counts.added},
            first_rows = case when dry_run then coalesce(first_rows, '[]') || ${JSON.stringify(firstRows)}::jsonb end,
            started_at = coalesce(started_at, ${ctx.clock.now()}),
            finished_at = ${end ? ctx.clock.now() : null}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Counts a batch that could not be applied, and fails the import at the last attempt. */
export const countAttempt = (ctx: Ctx, { id, project_id }: DueImport, attemptsMax: number, reason: string) =>
  ctx.db.run(
    sql`update imports
        set attempts = attempts + 1,
            state = case when attempts + 1 >= ${attemptsMax} then 'failed' else state end,
            reason = case when attempts + 1 >= ${attemptsMax} then ${reason} end,
            finished_at = case when attempts + 1 >= ${attemptsMax} then ${ctx.clock.now()}::timestamptz end
        where project_id = ${project_id} and id = ${id} and state in ('queued', 'running')`,
  )

export type DryRunRow = { key: string; profile: Record<string, unknown> }
const StoredDryRunRow = Type.Object({ key: Type.String(), profile: Type.Unsafe<Record<string, unknown>>({ type: 'object' }) })

/** The profiles that earlier batches of a dry run stored under these ids. */
export const readDryRunRows = (ctx: InTx, id: ImportId, keys: string[]) =>
  ctx.db.many(
    StoredDryRunRow,
    sql`select key, profile from import_dry_run_rows
        where project_id = ${ctx.projectId} and import_id = ${id} and key = any(${keys}::text[])
        order by key`,
  )

export const saveDryRunRows = (ctx: InTx, id: ImportId, rows: DryRunRow[]) =>
  ctx.db.run(
    sql`insert into import_dry_run_rows (project_id, import_id, key, profile)
        select ${ctx.projectId}, ${id}, r.key, r.profile
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(key text, profile jsonb)
        on conflict (project_id, import_id, key) do update set profile = excluded.profile`,
  )

/** Deletes incomplete uploads, including those of dead processes. */
export const purgeUploads = (ctx: Ctx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from imports
        where (project_id, id) in (select project_id, id from imports where state = 'receiving' and received_at < ${before} order by received_at limit ${limit})`,
  )

/** An import that has ended and whose file is not deleted yet. */
export const importToClear = (ctx: Ctx) =>
  ctx.db.first(DueRow, sql`select id, project_id from imports where finished_at is not null and cleared_at is null order by id limit 1`)

/** Deletes some of the chunks and dry-run rows of an import. Returns 0 when nothing is left. */
export const clearSome = (ctx: Ctx, { id, project_id }: DueImport, chunksMax: number, rowsMax: number) =>
  ctx.db.run(
    sql`with dry_run_rows as (
          delete from import_dry_run_rows
          where project_id = ${project_id} and import_id = ${id}
            and key in (select key from import_dry_run_rows where project_id = ${project_id} and import_id = ${id} limit ${rowsMax})
          returning 1
        ), chunks as (
          delete from import_chunks
          where project_id = ${project_id} and import_id = ${id}
            and no in (select no from import_chunks where project_id = ${project_id} and import_id = ${id} order by no limit ${chunksMax})
          returning 1
        )
        select 1 from dry_run_rows union all select 1 from chunks`,
  )

export const markCleared = (ctx: Ctx, { id, project_id }: DueImport) =>
  ctx.db.run(sql`update imports set cleared_at = ${ctx.clock.now()} where project_id = ${project_id} and id = ${id}`)

/** An import that ended before an instant and whose failures are not deleted yet. */
export const importToPurge = (ctx: Ctx, before: Date) =>
  ctx.db.first(
    DueRow,
    sql`select id, project_id from imports where finished_at < ${before} and purged_at is null order by finished_at limit 1`,
  )

export const purgeFailures = (ctx: Ctx, { id, project_id }: DueImport, limit: number) =>
  ctx.db.run(
    sql`delete from import_failures
        where project_id = ${project_id} and import_id = ${id}
          and line in (select line from import_failures where project_id = ${project_id} and import_id = ${id} order by line limit ${limit})`,
  )

export const markPurged = (ctx: Ctx, { id, project_id }: DueImport) =>
  ctx.db.run(sql`update imports set purged_at = ${ctx.clock.now()}, first_rows = null where project_id = ${project_id} and id = ${id}`)
