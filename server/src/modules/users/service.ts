import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import { writtenPage } from '../../infra/http/written-page.ts'
import { Conflict } from '../../infra/postgres/db.ts'
import { cached } from '../../infra/runtime/cache.ts'
import { afterCommit, type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault, faultsError, missing, notOfProject } from '../../lib/errors.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { instantTexts } from '../../lib/instant-texts.ts'
import { rowsWriter, Written } from '../../lib/written.ts'
import * as attributeQueries from './attributes.queries.ts'
import { type AttributeRule, hiddenKeys, visibleData, withoutKeys } from './attributes.ts'
import { batchResult, type CheckedBatch } from './batch.ts'
import { findOwners, listDevices, lockOwners, lockToken, ownerOfDevice, releaseToken, upsertDevice } from './devices/queries.ts'
import { saveDeviceChanges } from './devices/save-changes.ts'
import type { UserRecord } from './identity.ts'
import * as pages from './pages.queries.ts'
import * as queries from './queries.ts'
import type { BatchResult, DeviceInput, User, UserDetails, UserRow, UserWithDevices } from './schema.ts'
import { planSearch, type SearchPlan } from './search.queries.ts'
import type { UpsertOutcome } from './upsert-users.ts'

const RULES_MEMORY_MS = 5000
const RULES_KEPT = 10_000

/** The attribute register of a project. Every read of a user needs it. */
const attributeRules = cached(RULES_KEPT, RULES_MEMORY_MS, (ctx, projectId: ProjectId) =>
  attributeQueries.listAttributes({ ...ctx, projectId }),
)

const PLAN_MEMORY_MS = 10_000
const PLANS_KEPT = 10_000

/** Plans of searches, by the id of the project and the term. The pages after the first use that of the first. */
const plans = cached(PLANS_KEPT, PLAN_MEMORY_MS, (ctx, key: string) => {
  const at = key.indexOf(' ')
  return planSearch({ ...ctx, projectId: Number(key.slice(0, at)) as ProjectId } as ProjectCtx, key.slice(at + 1))
})

/** How to search for a term among the users of the project. */
export const searchPlan = (ctx: ProjectCtx, q: string): Promise<SearchPlan> => plans.get(ctx, `${ctx.projectId} ${q}`)

export const listAttributes = (ctx: ProjectCtx) => attributeQueries.listAttributes(ctx)

export async function saveAttribute(ctx: ProjectCtx, key: string, rule: Omit<AttributeRule, 'key'>): Promise<void> {
  await attributeQueries.saveAttribute(ctx, key, rule)
  afterCommit(ctx, attributeRules.forget)
}

/** Deletes an attribute from the register. Throws 404. */
export async function deleteAttribute(ctx: ProjectCtx, key: string): Promise<void> {
  if ((await attributeQueries.deleteAttribute(ctx, key)) === 0) throw missing('attribute')
  afterCommit(ctx, attributeRules.forget)
}

/** The reply to a batch, from the outcomes of its updates: a result for each item. */
export async function presentBatch(
  ctx: ProjectCtx,
  { items, checked }: CheckedBatch,
  upserted: UpsertOutcome[],
): Promise<Written<BatchResult>> {
  const left = upserted.values()
  const hidden = new Set(await hiddenKeysOf(ctx))
  const textOf = instantTexts()
  const outcomes = checked.map((item) => {
    if ('faults' in item) return item
    const outcome = left.next().value
    return outcome && 'user' in outcome ? { user: presentSaved(ctx, outcome.user, hidden, textOf) } : { faults: outcome?.faults ?? [] }
  })
  const result = batchResult(items, outcomes)
  ctx.metrics.usersUpserted('saved', result.succeeded)
  ctx.metrics.usersUpserted('refused', result.failed)
  return new Written(JSON.stringify(result))
}

const presentSaved = (
  { projectId }: ProjectCtx,
  user: UserRecord,
  hidden: Set<string>,
  textOf: (instant: Date) => string,
): Record<keyof User, unknown> => ({
  id: user.id,
  project_id: projectId,
  external_id: user.external_id ?? user.anonymous_id ?? '',
  anonymous_id: user.anonymous_id,
  email: user.email,
  phone: user.phone,
  timezone: user.timezone,
  locale: user.locale,
  data: withoutKeys(user.data, hidden),
  has_push_device: user.has_push_device,
  created_at: textOf(user.created_at),
  updated_at: textOf(user.updated_at),
})

/** The parts of users that the caller may see, in the order given. */
export async function usersForCaller(ctx: ProjectCtx, rows: UserRow[]): Promise<User[]> {
  const rules = await attributeRules.get(ctx, ctx.projectId)
  return rows.map((row) => present(ctx, row, rules))
}

/** The part of a user that the caller may see. */
function present(ctx: ProjectCtx, row: UserRow, rules: AttributeRule[]): User {
  return { ...row, external_id: row.external_id ?? row.anonymous_id ?? '', data: visibleData(row.data, rules, ctx.caller) }
}

/** The page of `listUsers` as JSON. */
export async function writeUserPage(ctx: ProjectCtx, page: PageRequest): Promise<Written<PageOf<User>>> {
  const hidden = await hiddenKeysOf(ctx)
  return writtenPage(await pageOfUsers(ctx, page, (found) => pages.listUserBytes(ctx, page, hidden, found)), writeUsers)
}

/** Writes users as `present` returns them. */
const writeUsers = rowsWriter<keyof User>({
  id: 'integer',
  project_id: 'integer',
  external_id: { or: ['anonymous_id'] },
  anonymous_id: 'text',
  email: 'text',
  phone: 'text',
  timezone: 'text',
  locale: 'text',
  data: 'json',
  has_push_device: 'boolean',
  created_at: 'instant',
  updated_at: 'instant',
})

/**
 * A page of users. A search for a common term reads the newest users; for a rare term, or one without matches, it uses the trigram index,
 * which the planner would not choose by itself.
 */
export async function listUsers(ctx: ProjectCtx, page: PageRequest): Promise<PageOf<User>> {
  const rules = await attributeRules.get(ctx, ctx.projectId)
  const rows = await pageOfUsers(ctx, page, (found) => pages.listUsers(ctx, page, found))
  return mapPage(rows, (row) => present(ctx, row, rules))
}

async function pageOfUsers<P extends PageOf<unknown>>(
  ctx: ProjectCtx,
  page: PageRequest,
  read: (found?: pages.Found) => Promise<P>,
): Promise<P> {
  if (page.q === '' || page.limit === 0) return read()
  const plan = await searchPlan(ctx, page.q)
  if (page.sort === 'id' && page.limit > 0 && plan.isCommon) {
    const found = await read(pages.matchesRecentSearch(ctx, page))
    if ((page.travel === 'next' ? found.nextCursor : found.prevCursor) !== null) return found
  }
  return read(pages.matchesSearch(ctx, page.q, plan))
}

/** The suppressions of the addresses of a user, which another module knows. */
export type FindSuppressions = (ctx: ProjectCtx, user: Pick<UserRow, 'email' | 'phone'>) => Promise<UserDetails['suppressions']>

/** A user with its devices and suppressions. */
export async function getUser(ctx: ProjectCtx, row: UserRow, suppressionsOf: FindSuppressions): Promise<UserDetails> {
  return { ...(await withDevices(ctx, row)), suppressions: await suppressionsOf(ctx, row) }
}

/** The user of the user token. */
export async function getMe(ctx: ProjectCtx, id: UserId): Promise<UserWithDevices> {
  const row = await queries.findUser(ctx, id)
  if (!row) throw missing('user')
  return withDevices(ctx, row)
}

async function withDevices(ctx: ProjectCtx, row: UserRow): Promise<UserWithDevices> {
  const [rules, devices] = [await attributeRules.get(ctx, ctx.projectId), await listDevices(ctx, row.id)]
  return { ...present(ctx, row, rules), devices }
}

/** The keys of `data` that the caller may not see. */
export const hiddenKeysOf = async (ctx: ProjectCtx): Promise<string[]> =>
  hiddenKeys(await attributeRules.get(ctx, ctx.projectId), ctx.caller)

/** A user by its external id, or, if it has none, by an anonymous id. Throws 404. */
export async function requireUser(ctx: ProjectCtx, name: string): Promise<UserRow> {
  const row = await queries.findUserByName(ctx, name)
  if (!row) throw missing('user')
  return row
}

/** The live user that a request names by one of its ids. Throws 400 unless one is given, and 422 for an unknown user. */
export async function userByIds(
  ctx: ProjectCtx,
  { external_id, anonymous_id }: { external_id?: string; anonymous_id?: string },
): Promise<UserId> {
  if (external_id === undefined && anonymous_id === undefined)
    throw fault('parameter_missing', 'external_id', 'One of `external_id`, `anonymous_id` is required.')
  if (external_id !== undefined && anonymous_id !== undefined)
    throw fault('validation_failed', 'anonymous_id', 'Give `external_id` or `anonymous_id`, not both.')
  const [found] = await queries.resolveIds(
    ctx,
    [external_id].filter((id) => id !== undefined),
    [anonymous_id].filter((id) => id !== undefined),
  )
  if (!found) throw faultsError([notOfProject(external_id === undefined ? 'anonymous_id' : 'external_id', 'a user')])
  return found.id
}

/** Registers a device for a user, or the one it was merged into. The device and its token are taken from the users who had them. Throws 404. */
export async function registerDevice(ctx: ProjectCtx, userId: UserId, { external_id: _, anonymous_id: __, ...device }: DeviceInput) {
  const token = device.token ?? null
  return inTx(ctx, async (ctx) => {
    if (token !== null) await lockToken(ctx, token)
    const id = await lockNewOwner(ctx, userId, device.device_id, token)
    const former = await ownerOfDevice(ctx, device.device_id)
    const previousOwners = token === null ? [] : await releaseToken(ctx, token, device.device_id)
    await upsertDevice(ctx, id, device)
    const touched = [...new Set([id, ...(former ? [former.user_id] : []), ...previousOwners.map(({ user_id }) => user_id)])]
    await saveDeviceChanges(ctx, touched)
    return deviceOf(ctx, id, device.device_id)
  })
}

/** Locks the live user behind an id, and those who have a device or its token. Throws 404, and a conflict if the user is merged meanwhile. */
async function lockNewOwner(ctx: InTx, userId: UserId, deviceId: string, token: string | null): Promise<UserId> {
  const [found] = await queries.findMergedInto(ctx, ctx.projectId, [userId])
  if (!found) throw missing('user')
  const id = found.merged_into
  // Users before devices, as a merge locks them.
  const live = await lockOwners(ctx, [id, ...(await findOwners(ctx, [deviceId], token === null ? [] : [token]))])
  if (!live.includes(id)) throw new Conflict('Another transaction merged or erased the user of a device.')
  return id
}

async function deviceOf(ctx: InTx, id: UserId, deviceId: string) {
  const device = (await listDevices(ctx, id)).find(({ device_id }) => device_id === deviceId)
  if (!device) throw new Error('The device was not saved.')
  return device
}

/** The live users behind these ids. A merged user is replaced by the one who remains; an erased one has no entry. */
export async function findLiveUsers(ctx: ProjectCtx | InTx, ids: UserId[]): Promise<Map<UserId, UserRow>> {
  if (ids.length === 0) return new Map()
  const wanted = [...new Set(ids)]
  const live = new Map((await queries.findUsers(ctx, wanted)).map((row) => [row.id, row]))
  const others = wanted.filter((id) => !live.has(id))
  if (others.length === 0) return live
  // Few users are merged: most of the time nothing is read here.
  const mergedInto = await queries.findMergedInto(ctx, ctx.projectId, others)
  const found = await queries.findUsers(ctx, [...new Set(mergedInto.map(({ merged_into }) => merged_into))])
  const rows = new Map(found.map((row) => [row.id, row]))
  for (const { id, merged_into } of mergedInto) {
    const row = rows.get(merged_into)
    if (row) live.set(id, row)
  }
  return live
}
