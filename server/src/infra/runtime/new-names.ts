/**
 * Limits on the event names and user attributes that publishable keys may introduce per project and day (D-PK-3). Anybody can read such a
 * key in a web page, and every name takes room in the catalogue, in counts and in editors for as long as the project exists.
 */
import { LRUCache } from 'lru-cache'
import { Type } from 'typebox'
import { ApiError } from '../../lib/errors.ts'
import { DAY_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'
import type { Config } from './config.ts'
import type { ProjectCtx } from './ctx.ts'

const kinds = {
  event: { max: (config: Config) => config.NEW_EVENT_NAMES_DAY, what: 'event names', reason: 'new_event_names' },
  attribute: { max: (config: Config) => config.NEW_ATTRIBUTES_DAY, what: 'user attributes', reason: 'new_attributes' },
} as const

/** A name with the parameter of the request that contains it. */
export type UsedName = { name: string; param: string }

const KNOWN_MAX = 50_000

/** Names that need no look-up, by project and kind. Each server has its own database. */
const known = new WeakMap<Config, LRUCache<string, true>>()

function knownTo(config: Config): LRUCache<string, true> {
  const names = known.get(config) ?? new LRUCache<string, true>({ max: KNOWN_MAX })
  known.set(config, names)
  return names
}

/**
 * Counts the names that are new to the project; `alreadyUsed` returns the others. Above the limit of the day it throws 429 with that limit
 * and the first new name, and counts none of them.
 */
export async function admitNames(
  ctx: ProjectCtx,
  kind: keyof typeof kinds,
  used: UsedName[],
  alreadyUsed: (names: string[]) => Promise<string[]>,
): Promise<void> {
  const max = kinds[kind].max(ctx.config)
  if (max === 0) return
  const names = knownTo(ctx.config)
  const keyOf = (name: string) => `${ctx.projectId}:${kind}:${name}`
  const unsure = [...new Set(used.map(({ name }) => name).filter((name) => !names.has(keyOf(name))))]
  if (unsure.length === 0) return
  const found = new Set(await alreadyUsed(unsure))
  const fresh = unsure.filter((name) => !found.has(name))
  const refused = fresh.length === 0 ? undefined : await introduce(ctx, kind, fresh, max)
  if (refused !== undefined) throw tooMany(ctx, kind, max, used.find(({ name }) => name === refused) as UsedName)
  for (const name of unsure) names.set(keyOf(name), true)
}

const Refused = Type.Object({ name: Type.String() })

/** Stores the names that are new. Returns one of them if that would exceed the limit, and stores none then. */
async function introduce(ctx: ProjectCtx, kind: keyof typeof kinds, names: string[], max: number): Promise<string | undefined> {
  const row = await ctx.db.first(
    Refused,
    sql`with fresh as materialized (
          select g.name, g.place from unnest(${names}::text[]) with ordinality as g(name, place)
          where not exists (select 1 from introduced_names i where i.project_id = ${ctx.projectId} and i.kind = ${kind} and i.name = g.name)
        ), counted as (
          insert into usage_counters as c (project_id, name, period, used)
          select ${ctx.projectId}, ${kinds[kind].reason}, ${ctx.clock.now()}::timestamptz::date, count(*) from fresh
          having count(*) between 1 and ${max}
          on conflict (project_id, name, period) do update set used = c.used + excluded.used where c.used + excluded.used <= ${max}
          returning used
        ), kept as (
          insert into introduced_names (project_id, kind, name)
          select ${ctx.projectId}, ${kind}, name from fresh where exists (select 1 from counted)
          on conflict (project_id, kind, name) do nothing
        )
        select name from fresh where not exists (select 1 from counted) order by place limit 1`,
  )
  return row?.name
}

function tooMany({ clock }: ProjectCtx, kind: keyof typeof kinds, max: number, { name, param }: UsedName): ApiError {
  const { what, reason } = kinds[kind]
  const now = clock.now().getTime()
  const message = `Publishable keys may introduce ${max} new ${what} a day in this project, and \`${name.slice(0, 255)}\` would be one more. Use it with a secret key first, or try again tomorrow (UTC).`
  return new ApiError('quota_exceeded', message, {
    param,
    reason,
    headers: { 'retry-after': String(Math.ceil((DAY_MS - (now % DAY_MS)) / 1000)) },
  })
}
