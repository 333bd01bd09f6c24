import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { OrganisationId } from '../../lib/ids.ts'
import { Flag } from '../../lib/shapes.ts'

/** Whether this is the address of a member who has joined and has a role in the project. Owners and admins have one in each. */
export const hasRoleInProject = (ctx: ProjectCtx, organisationId: OrganisationId, email: string): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (
          select from members m
          where m.email = ${email} and m.removed_at is null and m.joined_at is not null
            and m.organization_id = ${organisationId}
            and (m.role in ('owner', 'admin')
                 or exists (select from member_roles r where r.project_id = ${ctx.projectId} and r.member_id = m.id))
        ) as exists`,
  )
