/**
 * Writes that the audit log records: the state before, the handler, the state after and the entry are one transaction, so that neither the
 * write nor its entry exists without the other (D-CON-21).
 */
import { canonicalJson } from '../../lib/canonical-json.ts'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { sql } from '../postgres/db.ts'
import { type Ctx, type InTx, inTx } from '../runtime/ctx.ts'
import type { Audit, AuditedInput, AuditedWrite, RecordWrite, Route } from './route.ts'
import { type Conditions, checkConditions } from './versions.ts'

type AuditedKind<C extends Ctx, K> = {
  /** The path parameter with the id; without it, `keyOf` finds the key. An object that is created has its id in the reply. */
  id?: string
  keyOf?: (input: AuditedInput, reply?: unknown) => K | undefined
  /** The id in the audit log; by default the key. */
  idOf?: (key: K) => string | null
  read?: (ctx: C, key: K) => Promise<object>
  /** Members that change by themselves, such as counts. */
  ignored?: readonly string[]
}

type AuditedAction = Pick<AuditedWrite, 'details'> & { always?: true }

/** Declares how writes of a kind of object are recorded. The function that it returns makes the `audit` of each route. */
export function audits<C extends Ctx, K = number>(object: string, kind: AuditedKind<C, K>) {
  const byId = ({ params }: AuditedInput, reply?: unknown) =>
    (kind.id === undefined ? undefined : params[kind.id]) ?? (reply as { id?: number } | undefined)?.id
  return (action: string, { details, always }: AuditedAction = {}): Audit => ({
    object,
    action,
    keyOf: kind.keyOf ?? byId,
    idOf: (kind.idOf ?? String) as AuditedWrite['idOf'],
    ...(kind.read && { read: kind.read as AuditedWrite['read'] & {} }),
    ...(details && { details }),
    ignored: kind.ignored ?? [],
    always: always ?? kind.read === undefined,
  })
}

/**
 * Runs a handler. If its route declares an audited write, the write is recorded in the transaction of its effects, and the effects begin
 * only if the object matches the conditions.
 */
export async function recorded(
  ctx: Ctx,
  { audit, versioned }: Route,
  { conditions, ...input }: AuditedInput & { conditions: Conditions },
  recordWrite: RecordWrite,
  run: (ctx: Ctx) => Promise<unknown>,
): Promise<unknown> {
  if (audit === undefined || 'none' in audit) return run(ctx)
  return inTx(ctx, async (ctx) => {
    const key = audit.keyOf(input)
    if (key !== undefined) await lockObject(ctx, audit, key)
    const before = key === undefined ? undefined : await stateOf(ctx, audit, input, key)
    const refusal = versioned && checkConditions(conditions, versioned, before)
    const reply = await run(ctx as unknown as Ctx)
    if (refusal) throw refusal
    const created = key === undefined ? audit.keyOf(input, reply) : key
    const after = created === undefined ? undefined : await stateOf(ctx, audit, input, created)
    if (!audit.always && before && after && canonicalJson(before) === canonicalJson(after)) return reply
    await recordWrite(ctx, {
      projectId: projectOf(ctx, audit, input, created),
      action: `${audit.object}.${audit.action === 'updated' && audit.read && !before ? 'created' : audit.action}`,
      object: { type: audit.object, id: created === undefined ? null : audit.idOf(created as never) },
      before,
      after,
      ...(audit.details && { details: plain(audit.details(input, reply)) }),
    })
    return reply
  })
}

/** Writes of an object wait for each other, so that each sees what the one before left. */
const lockObject = (ctx: InTx<Ctx>, { object }: AuditedWrite, key: unknown) =>
  ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`audit:${projectIn(ctx) ?? ''}:${object}:${canonicalJson(key)}`}, 0))`)

async function stateOf(
  ctx: InTx<Ctx>,
  audit: AuditedWrite,
  input: AuditedInput,
  key: unknown,
): Promise<Record<string, unknown> | undefined> {
  if (!audit.read) return undefined
  try {
    const state = plain(await audit.read({ ...ctx, projectId: projectOf(ctx, audit, input, key) } as never, key as never))
    for (const name of audit.ignored) delete state[name]
    return state
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

const projectIn = (ctx: InTx<Ctx>) => (ctx as { projectId?: ProjectId }).projectId

/** The project of an object: that of the key, that of the path for organisation keys, or the object itself. */
const projectOf = (ctx: InTx<Ctx>, { object }: AuditedWrite, { params }: AuditedInput, key: unknown): ProjectId | null =>
  projectIn(ctx) ??
  (params.projectId as ProjectId | undefined) ??
  (object === 'project' ? (key as ProjectId | undefined) : undefined) ??
  null

/** The JSON of a state. */
const plain = (state: object): Record<string, unknown> => JSON.parse(JSON.stringify(state))
