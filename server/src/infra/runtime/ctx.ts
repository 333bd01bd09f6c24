/**
 * The context of functions. It contains infrastructure only, never modules, because functions import each other directly.
 * The narrower types declare what a function needs: a project, a transaction, or both.
 */
import type { Clock } from '../../lib/clock.ts'
import type { KeyId, MemberId, OrganisationId, ProjectId, SessionId, UserId } from '../../lib/ids.ts'
import type { Language } from '../../lib/languages.ts'
import type { OrganisationRole, Role } from '../../lib/roles.ts'
import type { MailOutside } from '../outgoing/mail.ts'
import type { SafeFetch } from '../outgoing/safe-fetch.ts'
import type { SmtpRelays } from '../outgoing/smtp-relays.ts'
import { type Db, join, sql, type TxDb } from '../postgres/db.ts'
import { settingsAfter, settingsOf, type TransactionLimits } from '../postgres/limits.ts'
import type { Replica } from '../postgres/replica.ts'
import type { Threads } from '../threads/pool.ts'
import type { AcceptedLog } from './accepted-log.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Secrets } from './secrets.ts'
import type { Tracing } from './tracing.ts'

/** A job by its name, which is all that waking it takes. */
export type JobName = { readonly name: string }

export type Ctx = {
  db: Db
  /** Where lists are read; absent unless there is one. */
  replica?: Replica
  /** Where accepted requests wait before they are in the queue; absent unless there is a log outside of the database. */
  acceptedLog?: AcceptedLog
  clock: Clock
  log: Log
  config: Config
  secrets: Secrets
  fetch: SafeFetch
  smtp: SmtpRelays
  /** Email that this server delivers itself: what the DNS says, and connections to mail hosts. */
  mail: MailOutside
  metrics: Metrics
  /** Absent unless traces are exported. */
  tracing?: Tracing
  /** For work whose cost the caller decides. */
  threads: Pick<Threads, 'map' | 'run'>
  /** The public URL of this server, without a final slash. Links in messages start with it. */
  baseUrl(): string
  /**
   * Runs a job at once, because there is work for it: in this process or, if this one has no jobs or is busy with it, in others. In a
   * transaction, after the commit. Call it wherever work for a job is written.
   */
  wake(job: JobName): void
  /** Who acts; absent outside of requests, where it is the system. */
  actor?: Actor
  /** Where a request or a command came from; absent for the system’s own work. */
  origin?: Origin
  /** The language of texts for people in replies, from `Accept-Language`. Absent outside of requests, where it is English. */
  language?: Language
  /** In a transaction: what `afterCommit` runs when it has committed. */
  committed?: (() => void)[]
}

/** Who acts, for the audit log: an API key, a member in the console, or the system. */
export type Actor = { kind: 'key' | 'member' | 'system'; id: number | null; name: string | null }

/** The way that a write came. */
export const WAYS = ['api', 'console', 'cli', 'system'] as const
export type Origin = { via: (typeof WAYS)[number]; requestId: string | null; organisationId: OrganisationId }

/** The key, and perhaps the user token, of the request. Jobs are `system`. */
export type Caller =
  | { kind: 'secret'; keyId: KeyId; role: Role }
  | { kind: 'organisation'; keyId: KeyId; role: OrganisationRole; organisationId: OrganisationId }
  | { kind: 'user'; keyId: KeyId; userId: UserId }
  | { kind: 'anonymous'; keyId: KeyId }
  | { kind: 'system' }

/** The project’s defaults for phone numbers, templates and times. */
export type ProjectDefaults = { locale: string; timezone: string }

export type ProjectCtx<C extends Caller = Caller> = Ctx & { projectId: ProjectId; project: ProjectDefaults; caller: C }

export type OrganisationCtx = Ctx & { organisationId: OrganisationId; caller: Extract<Caller, { kind: 'organisation' }> }

/** For the routes of the console. */
export type MemberCtx = Ctx & {
  organisationId: OrganisationId
  memberId: MemberId
  sessionId: SessionId
  role: OrganisationRole
}

/** For utilities, which accept organisation keys too. There is a project only if the key belongs to one. */
export type CallerCtx = Ctx & { caller: Caller; projectId?: ProjectId }

/** A context inside a transaction. */
export type InTx<C extends Ctx = ProjectCtx> = Omit<C, 'db'> & { db: TxDb }

/**
 * Runs `work` in one transaction. Name the inner context `ctx` too, so that it hides the outer one. Do no IO except SQL inside. The limits are
 * those of an outer transaction if there is one.
 */
export async function inTx<C extends Ctx, T>(ctx: C, work: (ctx: InTx<C>) => Promise<T>, limits?: TransactionLimits): Promise<T> {
  const woken = new Map<string, JobName>()
  const wake = (job: JobName) => void woken.set(job.name, job)
  const committed: (() => void)[] = []
  const attempt = (db: TxDb) => {
    // What an attempt asked for was rolled back with it.
    woken.clear()
    committed.length = 0
    return work({ ...ctx, db, wake, committed } as InTx<C>)
  }
  const result = await ctx.db.transaction(attempt, limits)
  // Inside an outer transaction, this passes them on to it.
  for (const job of woken.values()) ctx.wake(job)
  for (const after of committed) afterCommit(ctx, after)
  return result
}

/** Runs `work` in a savepoint: if it throws, its effects are rolled back and the transaction continues. Name the inner context `ctx` too. */
export async function inSavepoint<C extends Ctx, T>(ctx: InTx<C>, work: (ctx: InTx<C>) => Promise<T>): Promise<T> {
  const committed: (() => void)[] = []
  const result = await ctx.db.savepoint((db) => work({ ...ctx, db, committed } as InTx<C>))
  for (const after of committed) afterCommit(ctx, after)
  return result
}

/** Runs `work` once what was written is visible: after the commit of the transaction, or at once outside of one. For caches and metrics. */
export function afterCommit(ctx: { committed?: Ctx['committed'] | undefined }, work: () => void): void {
  if (ctx.committed) ctx.committed.push(work)
  else work()
}

/**
 * A claim reads few rows, whatever has piled up, and whatever PostgreSQL believes has. One that takes longer than this is cancelled and tried
 * again.
 */
const CLAIM: TransactionLimits = { statementMs: 5000, alongIndexes: true }

/** Runs a claim: statements that find or take work, which are cancelled after seconds instead of the usual minute. */
export function inClaim<C extends Ctx, T>(ctx: C, claim: (ctx: InTx<C>) => Promise<T>): Promise<T> {
  return ctx.db.transaction((db) => claim({ ...ctx, db } as InTx<C>), CLAIM)
}

/** Like `inClaim`, for claims whose statements need no common transaction: each takes a single round trip. */
export const quickly = <C extends Ctx>(ctx: C): C => ({ ...ctx, db: { ...ctx.db, ...ctx.db.within(CLAIM) } })

/** Runs a claim at the start of a longer transaction. The limits apply to the claim only; later statements have the usual ones. */
export async function claimFirst<T>(ctx: InTx<Ctx>, claim: () => Promise<T>): Promise<T> {
  await set(ctx, settingsOf(CLAIM))
  const claimed = await claim()
  await set(ctx, settingsAfter(CLAIM))
  return claimed
}

/** Limits the time that each statement waits for a lock, until the end of the transaction. */
export const limitLockWaits = (ctx: InTx<Ctx>, lockMs: number): Promise<number> => set(ctx, settingsOf({ lockMs }))

/** Sets what holds until the end of the transaction. */
function set(ctx: InTx<Ctx>, settings: [name: string, value: string][]): Promise<number> {
  const calls = settings.map(([name, value]) => sql`set_config(${name}, ${value}, true)`)
  return ctx.db.run(sql`select ${join(calls, ', ')}`)
}

/** A context for work outside of requests, such as jobs. */
export const asSystem = (ctx: Ctx, projectId: ProjectId, project: ProjectDefaults): ProjectCtx => ({
  ...ctx,
  projectId,
  project,
  caller: { kind: 'system' },
})
