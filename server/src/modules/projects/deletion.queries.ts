/** Projects that were deleted, and what is left to do for them. */
import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx, OrganisationCtx } from '../../infra/runtime/ctx.ts'
import type { OrganisationId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const Locked = Type.Object({ name: Type.String(), locale: Type.String(), timezone: Type.String() })

/** Locks a project against another change or deletion. */
export const lockProject = (ctx: InTx<OrganisationCtx>, id: ProjectId) =>
  ctx.db.first(
    Locked,
    sql`select name, locale, timezone from projects
        where id = ${id} and organization_id = ${ctx.organisationId} and deleted_at is null
        for no key update`,
  )

export const markDeleted = (ctx: InTx) =>
  ctx.db.run(
    sql`update projects set deleted_at = ${ctx.clock.now()}, erase_due_at = ${ctx.clock.now()} where id = ${ctx.projectId} and deleted_at is null`,
  )

const Erasable = Type.Object({
  project_id: IdOf<ProjectId>(),
  organization_id: IdOf<OrganisationId>(),
  deleted_at: Instant,
  erased_at: Nullable(Instant),
  locale: Type.String(),
  timezone: Type.String(),
})

/** Locks a project that is due to be erased, except these and those that another process has. */
export const claimErasable = (ctx: InTx<Ctx>, without: ProjectId[]) =>
  ctx.db.first(
    Erasable,
    sql`select id as project_id, organization_id, deleted_at, erased_at, locale, timezone from projects
        where erase_due_at <= ${ctx.clock.now()} and id <> all(${without}::bigint[])
        order by erase_due_at, id
        limit 1
        for no key update skip locked`,
  )

/** Sets when a project is next checked for rows to erase; null for never. */
export const setEraseDue = (ctx: InTx, at: Date | null) =>
  ctx.db.run(sql`update projects set erase_due_at = ${at} where id = ${ctx.projectId}`)

/** Notes that everything of a project was erased, and clears the texts in its row. */
export const markErased = (ctx: InTx) =>
  ctx.db.run(
    sql`update projects
        set erased_at = ${ctx.clock.now()}, name = '', description = null, website_url = null, text_opt_out_message = null,
            text_help_message = null, deeplink_mirror_url = '', test_recipients = '{}'
        where id = ${ctx.projectId}`,
  )

/** When a project is due to be erased next. */
export const nextErasureAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`select min(erase_due_at) as due_at from projects where erase_due_at is not null`)
