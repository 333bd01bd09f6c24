/**
 * The attributes that users have: their types, how many users have them, and sample values. In a project with up to 5,000 users they are
 * computed for each request. In a larger one a job profiles all users, some thousands at a time: once an hour, until no request
 * has come for a week. Before its first run ends, the newest 5,000 users represent all. Samples are read for each request, so that values
 * which were changed, hidden or erased are never shown.
 */
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { pathOfKey } from '../../../lib/attribute-paths.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/times.ts'
import { claimAlone } from '../../projects/index.ts'
import { listAttributes } from '../attributes.queries.ts'
import { hiddenKeys } from '../attributes.ts'
import { PROFILE } from '../job-names.ts'
import * as queries from './queries.ts'
import type { AttributesInUse } from './schema.ts'

export const PROFILED_AT_ONCE = 5000
const SHOWN_MAX = 1000
/** A run counts so many attributes. */
export const KEYS_MAX = 2000
/** What the keys of `data` begin with in profiles. */
export const DATA = 'data.'
const REQUESTED_WITHIN_MS = 7 * DAY_MS

/** The attributes that the caller may see. Those that most users have come first. */
export async function attributesInUse(ctx: ProjectCtx): Promise<AttributesInUse> {
  const rules = await listAttributes(ctx)
  const hidden = hiddenKeys(rules, ctx.caller).map((key) => `${DATA}${key}`)
  const ruleOf = new Map(rules.map((rule) => [`${DATA}${rule.key}`, rule]))
  const { profiles, users, asOf } = await profilesOf(ctx, hidden)
  const sampled = profiles.flatMap(({ key, sample_users }) => sample_users.map((id) => ({ key, id })))
  const values = await queries.sampleValues(
    ctx,
    sampled.map(({ key }) => key),
    sampled.map(({ id }) => id),
  )
  const samples = new Map(values.map(({ key, samples }) => [key, samples]))
  const results = profiles.map((profile) => {
    const { label = null, is_personal = false } = ruleOf.get(profile.key) ?? {}
    return {
      key: profile.key.startsWith(DATA) ? pathOfKey(profile.key.slice(DATA.length)) : profile.key,
      types: profile.types,
      people: profile.users,
      coverage: profile.users / users,
      samples: samples.get(profile.key) ?? [],
      last_seen: profile.last_seen,
      ...(label !== null && { label }),
      ...(is_personal && { personal_data: true }),
    }
  })
  return { results, people: users, as_of: asOf }
}

async function profilesOf(ctx: ProjectCtx, hidden: string[]) {
  const count = await queries.countUsers(ctx, PROFILED_AT_ONCE + 1)
  if (count > PROFILED_AT_ONCE) {
    const now = ctx.clock.now()
    await queries.requestProfiling(ctx, new Date(now.getTime() - HOUR_MS))
    ctx.wake(PROFILE)
    const profiled = await queries.profiledAttributes(ctx, hidden, SHOWN_MAX)
    if (profiled[0]) return { profiles: profiled, users: profiled[0].users_profiled, asOf: profiled[0].as_of }
  }
  const profiles = await queries.profileNewest(ctx, PROFILED_AT_ONCE, hidden, SHOWN_MAX)
  // Every user has a `created_at`, so the highest number is that of all users that were read.
  return { profiles, users: Math.max(0, ...profiles.map(({ users }) => users)), asOf: ctx.clock.now() }
}

/** Profiles the next users of the run that is due. Returns how many, or 1 at the end of the run. A project that fails holds up no other. */
export const profileAttributes = (ctx: Ctx): Promise<number> =>
  claimAlone(ctx, PROFILE, queries.claimProfiling, async (ctx, due) => {
    const { project_id, run, looked_to, users_so_far } = due
    const now = ctx.clock.now()
    const startedAt = due.started_at ?? now
    const profiled = await queries.profileNext(ctx, project_id, run + 1, looked_to, PROFILED_AT_ONCE, KEYS_MAX)
    const users = users_so_far + profiled.users
    if (profiled.looked_to !== null && profiled.users === PROFILED_AT_ONCE) {
      await queries.saveProgress(ctx, project_id, startedAt, profiled.looked_to, users)
    } else {
      const isWanted = now.getTime() - due.asked_at.getTime() < REQUESTED_WITHIN_MS
      await queries.finishRun(ctx, project_id, run + 1, startedAt, users, isWanted ? new Date(now.getTime() + HOUR_MS) : null)
    }
    return Math.max(1, profiled.users)
  })
