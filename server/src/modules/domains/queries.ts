import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { fence, sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { DomainId, ProjectId } from '../../lib/ids.ts'
import { Count, Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { DomainRow } from './schema.ts'

const columns = sql`id, project_id, host, verification_token, is_verified, is_default, problem, sending_domain, sending_verified_at,
  sending_problem, is_strict, has_return_path, spf_alignment, records, dns_host, failed_checks, failed_sending_checks, checked_at, verified_at, created_at, updated_at`

export const domainListing = listing({
  resource: 'domains',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    host: { column: sql`host`, type: 'text' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'asc',
  search: [sql`host`, sql`sending_domain`],
  searchedFields: 'host, sending_domain',
})

export const listDomains = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<DomainRow>> =>
  pageOf(ctx, DomainRow, domainListing, page, { select: columns, from: sql`domains`, where: sql`project_id = ${ctx.projectId}` })

/** A domain of this project, verified or not; undefined when there is none with this id. */
export const findDomain = (ctx: ProjectCtx, id: DomainId) =>
  ctx.db.first(DomainRow, sql`select ${columns} from domains where project_id = ${ctx.projectId} and id = ${id}`)

/** Whether the project has a domain with this host. */
export const hasHost = (ctx: InTx, host: string): Promise<boolean> =>
  ctx.db.value(Flag, sql`select exists (select from domains where project_id = ${ctx.projectId} and host = ${host}) as has`)

export const countDomains = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from domains where project_id = ${ctx.projectId}`)

/** Undefined when the project has a domain with this host, or with this sending domain. */
export const insertDomain = (
  ctx: InTx,
  { host, sending_domain, token, nextCheckAt }: { host: string; sending_domain: string | null; token: string; nextCheckAt: Date },
) =>
  ctx.db.first(
    DomainRow,
    sql`insert into domains (project_id, host, sending_domain, verification_token, next_check_at, created_at, updated_at)
        values (${ctx.projectId}, ${host}, ${sending_domain}, ${token}, ${nextCheckAt}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict do nothing
        returning ${columns}`,
  )

/** Makes the default domain an ordinary one, unless it is the given one. */
export const clearDefault = (ctx: InTx, id: DomainId) =>
  ctx.db.run(
    sql`update domains set is_default = false, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and is_default and id <> ${id}`,
  )

export const setDefault = (ctx: InTx, id: DomainId, isDefault: boolean) =>
  ctx.db.first(
    DomainRow,
    sql`update domains
        set is_default = ${isDefault}, updated_at = case when is_default = ${isDefault} then updated_at else ${ctx.clock.now()} end
        where project_id = ${ctx.projectId} and id = ${id}
        returning ${columns}`,
  )

export const deleteDomain = (ctx: ProjectCtx, id: DomainId) =>
  ctx.db.run(sql`delete from domains where project_id = ${ctx.projectId} and id = ${id}`)

const Claim = Type.Object({ id: IdOf<DomainId>(), project_id: IdOf<ProjectId>() })
type Claim = Static<typeof Claim>

/** Locks the domains of all projects with this host, so that one check at a time decides which project it belongs to. */
export const lockClaims = (ctx: InTx, host: string) =>
  ctx.db.many(Claim, sql`select id, project_id from domains where host = ${host} order by id for update`)

/** Marks domains as not verified, because the host belongs to another project. */
export const unverifyOthers = (ctx: InTx, others: Claim[], problem: string) =>
  ctx.db.run(
    sql`update domains set is_verified = false, verified_at = null, problem = ${problem}, updated_at = ${ctx.clock.now()}
        where project_id = any(${others.map(({ project_id }) => project_id)}::bigint[]) and id = any(${others.map(({ id }) => id)}::bigint[])
          and is_verified`,
  )

/** What a check found out. */
export type CheckResult = Pick<
  DomainRow,
  | 'is_verified'
  | 'problem'
  | 'sending_problem'
  | 'is_strict'
  | 'has_return_path'
  | 'spf_alignment'
  | 'records'
  | 'dns_host'
  | 'failed_checks'
  | 'failed_sending_checks'
> & { isSendingVerified: boolean; nextCheckAt: Date }

/** Saves the result of a check. */
export const saveCheck = (ctx: InTx, id: DomainId, check: CheckResult) =>
  ctx.db.first(
    DomainRow,
    sql`update domains
        set is_verified = ${check.is_verified}, problem = ${check.problem}, checked_at = ${ctx.clock.now()},
            verified_at = case when ${check.is_verified}::boolean then coalesce(verified_at, ${ctx.clock.now()}) end,
            sending_verified_at = case when ${check.isSendingVerified}::boolean then coalesce(sending_verified_at, ${ctx.clock.now()}) end,
            sending_problem = ${check.sending_problem}, is_strict = ${check.is_strict}, has_return_path = ${check.has_return_path},
            spf_alignment = ${check.spf_alignment},
            records = ${JSON.stringify(check.records)}::jsonb, dns_host = ${check.dns_host}, failed_checks = ${check.failed_checks},
            failed_sending_checks = ${check.failed_sending_checks},
            next_check_at = ${check.nextCheckAt},
            updated_at = case when is_verified = ${check.is_verified} and problem is not distinct from ${check.problem}
                                   and (sending_verified_at is not null) = ${check.isSendingVerified}::boolean
                                   and sending_problem is not distinct from ${check.sending_problem}
                              then updated_at else ${ctx.clock.now()} end
        where project_id = ${ctx.projectId} and id = ${id}
        returning ${columns}`,
  )

const Due = Type.Object({ project_id: IdOf<ProjectId>(), id: IdOf<DomainId>() })

/** Takes domains whose next check is due. They are due again at `until`, in case this process ends before it has checked them. */
export const claimDue = (ctx: Ctx, limit: number, until: Date) =>
  ctx.db.many(
    Due,
    sql`update domains d set next_check_at = ${until}
        from (select project_id, id from domains where next_check_at <= ${ctx.clock.now()}
              order by next_check_at limit ${limit} for update skip locked) due
        where d.project_id = due.project_id and d.id = due.id
        returning d.project_id, d.id`,
  )

/** When the next check is due. */
export const nextCheckAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`select min(next_check_at) as next_check_at from domains`)

/** Makes a domain due for its next check now. */
export const checkSoon = (ctx: InTx, id: DomainId) =>
  ctx.db.run(
    sql`update domains set next_check_at = ${ctx.clock.now()}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Locks a domain until the end of the transaction. */
export const lockDomain = (ctx: InTx, id: DomainId) =>
  ctx.db.first(DomainRow, sql`select ${columns} from domains where project_id = ${ctx.projectId} and id = ${id} for update`)

const Usable = Type.Object({ id: IdOf<DomainId>(), host: Type.String(), is_default: Type.Boolean() })

const findUsable = jointMany(
  Usable,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, d.id, d.host, d.is_default
        from ${callRows(calls)}
        cross join lateral (select id, host, is_default from domains where project_id = q.project_id and is_verified ${fence}) d`,
)

/** The domains that links may use. */
export const verifiedDomains = (ctx: Ctx, projectId: ProjectId) => findUsable(ctx, projectId, null)

const Host = Type.Object({ host: Type.String() })

/** The verified hosts of all projects. */
export const verifiedHosts = (ctx: Ctx) => ctx.db.many(Host, sql`select host from domains where is_verified`)

/** The project that a host belongs to. */
export const findVerifiedHost = (ctx: Ctx, host: string) =>
  ctx.db.first(Claim, sql`select id, project_id from domains where host = ${host} and is_verified`)
