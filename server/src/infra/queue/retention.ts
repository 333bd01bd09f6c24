/**
 * Deletes old rows of tables whose ids grow with time. A table is read in the order of its ids, so that it needs no index by age: a lease
 * looks at some rows of a project, deletes those that may go, and notes how far it came. A pass ends at the first rows that are younger; the
 * next one begins a day later, for what had to stay.
 */
import { Type } from 'typebox'
import type { ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'
import { raw, sql } from '../postgres/db.ts'
import { firstOfEach } from '../postgres/first-of-each.ts'
import type { Config } from '../runtime/config.ts'
import type { Ctx, InTx, ProjectCtx } from '../runtime/ctx.ts'

type OldRow = { id: number; created_at: Date }

/** A table whose old rows are deleted. */
export type Store<Row extends OldRow = OldRow> = {
  /** The table. Its primary key is the project and the id. */
  name: string
  /** Its setting in days, or a fixed number of them. 0 keeps everything. */
  days(config: Config): number
  /** The column with the age of a row, if it is not `created_at`. */
  column?: string
  /** Some rows have an id long before they are written. By default, the first young row is the end of the old ones. */
  hasLateRows?: true
  /** The next rows after an id, in order. */
  nextRows(ctx: InTx, after: number, limit: number): Promise<Row[]>
  /** Deletes those of these rows that may go, and what belongs to them. Returns their ids. */
  remove(ctx: InTx, rows: Row[], before: Date): Promise<number[]>
}

/** Declares a store. */
export const store = <Row extends OldRow>(definition: Store<Row>): Store => definition as unknown as Store

const PROJECTS_AT_ONCE = 20
const ROWS_AT_ONCE = 1000
/** So many rows of a store with late ones are looked at for an old one. */
const LATE_ROWS_MAX = 100

/** The instant before which rows of a store are old; null if everything is kept. */
export function oldBefore({ config, clock }: Ctx, { days }: { days(config: Config): number }): Date | null {
  const count = days(config)
  return count === 0 ? null : new Date(clock.now().getTime() - count * DAY_MS)
}

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

/** The projects, without some, of which one of the first rows of a store is old, and whose last pass ended a day ago, or in the future of a clock that was ahead. */
export const projectsWithOld = (ctx: Ctx, { name, column = 'created_at', hasLateRows }: Store, before: Date, without: ProjectId[]) =>
  ctx.db.many(
    ProjectRow,
    sql`with recursive ${firstOfEach('oldest', { table: raw(name), keys: ['project_id'], order: ['id'] })}
        select o.project_id
        from oldest o
        left join retention_progress p on p.project_id = o.project_id and p.store = ${name}
        where exists (
            select from (
              select ${raw(column)} as age from ${raw(name)} r where r.project_id = o.project_id order by r.id limit ${hasLateRows ? LATE_ROWS_MAX : 1}
            ) first
            where first.age < ${before})
          and o.project_id <> all(${without}::bigint[])
          and (p.passed_at is null or p.passed_at <= ${new Date(ctx.clock.now().getTime() - DAY_MS)} or p.passed_at > ${ctx.clock.now()})
        order by o.project_id
        limit ${PROJECTS_AT_ONCE}`,
  )

/** Looks at the next rows of a project. Returns the number of rows; 0 if another process is doing it. */
export async function removeNext(ctx: InTx, store: Store, before: Date, limit = ROWS_AT_ONCE): Promise<number> {
  const progress = await lockProgress(ctx, store.name)
  if (!progress) return 0
  const rows = await store.nextRows(ctx, progress.looked_to, limit)
  const old = rows.filter(({ created_at }) => created_at < before)
  const removed = old.length === 0 ? [] : await store.remove(ctx, old, before)
  const last = rows.at(-1)
  const isOver = !last || rows.length < limit || (store.hasLateRows ? old.length === 0 : last.created_at >= before)
  await noteProgress(ctx, store.name, {
    lookedTo: isOver ? 0 : last.id,
    removedTo: removed.reduce((highest, id) => Math.max(highest, id), 0),
    before: removed.length > 0 ? before : null,
    passedAt: isOver ? ctx.clock.now() : null,
  })
  return rows.length
}

const Progress = Type.Object({ looked_to: Type.Integer() })

/** Where the next lease begins, locked; undefined if another process has it. */
async function lockProgress(ctx: InTx, name: string) {
  await ctx.db.run(sql`insert into retention_progress (project_id, store) values (${ctx.projectId}, ${name}) on conflict do nothing`)
  return ctx.db.first(
    Progress,
    sql`select looked_to from retention_progress where project_id = ${ctx.projectId} and store = ${name} for update skip locked`,
  )
}

type Reached = { lookedTo: number; removedTo: number; before: Date | null; passedAt: Date | null }

const noteProgress = (ctx: InTx, name: string, { lookedTo, removedTo, before, passedAt }: Reached) =>
  ctx.db.run(
    sql`update retention_progress
        set looked_to = ${lookedTo}, removed_to = greatest(removed_to, ${removedTo}), passed_at = coalesce(${passedAt}, passed_at),
            removed_before = greatest(removed_before, ${before})
        where project_id = ${ctx.projectId} and store = ${name}`,
  )

const Removed = Type.Object({ removed_to: Type.Integer(), removed_before: Nullable(Instant) })

/** Up to which id old rows of the project were deleted, and before which instant those had ended; undefined if none was. */
export async function removedFrom(ctx: ProjectCtx | InTx, name: string): Promise<{ to: number; before: Date } | undefined> {
  const row = await ctx.db.first(
    Removed,
    sql`select removed_to, removed_before from retention_progress where project_id = ${ctx.projectId} and store = ${name}`,
  )
  return row?.removed_before ? { to: row.removed_to, before: row.removed_before } : undefined
}
