/**
 * Limits on the event names, keys of event data and user attributes that publishable keys may introduce per project and day (D-PK-3). Such a key
 * is public, and every name takes room in the catalogue, in counts and in editors.
 */
import { LRUCache } from 'lru-cache'
import { Type } from 'typebox'
import { atMost } from '../../lib/cache-limit.ts'
import { ApiError } from '../../lib/errors.ts'
import { DAY_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'
import type { Config } from './config.ts'
import { afterCommit, type InTx, inTx, type ProjectCtx } from './ctx.ts'

const kinds = {
  event: { max: (config: Config) => config.NEW_EVENT_NAMES_DAY, what: 'event names', reason: 'new_event_names' },
  event_data: { max: (config: Config) => config.NEW_EVENT_DATA_KEYS_DAY, what: 'keys of event data', reason: 'new_event_data_keys' },
  attribute: { max: (config: Config) => config.NEW_ATTRIBUTES_DAY, what: 'user attributes', reason: 'new_attributes' },
} as const

type Kind = keyof typeof kinds

/** A name with the parameter of the request that contains it. */
export type UsedName = { name: string; param: string }

/** The names of a kind in a request. `alreadyUsed` returns those of some names that the project has by other ways. */
type NameUses = { kind: Kind; used: Iterable<UsedName>; alreadyUsed(names: string[]): Promise<string[]> }

type NewNames = { kind: Kind; names: Map<string, UsedName> }

const KNOWN_MAX = 50_000

/** Names that need no look-up, by project and kind. Each server has its own database. */
const known = new WeakMap<Config, LRUCache<string, true>>()

function knownTo(config: Config): LRUCache<string, true> {
  const names = known.get(config) ?? new LRUCache<string, true>(atMost(KNOWN_MAX))
  known.set(config, names)
  return names
}

/** So many names are looked up by a statement. */
const LOOKED_UP_MAX = 500

/**
 * Counts the names that are new to the project: those that publishable keys have not introduced before and that `alreadyUsed` does not return.
 * Above the limit of the day for a kind it throws 429 with that limit and the first new name, and counts none of any kind.
 */
export async function admitNames(ctx: ProjectCtx, uses: NameUses[]): Promise<void> {
  const found: NewNames[] = []
  for (const use of uses) found.push(await newAmong(ctx, use))
  const introduced = found.filter(({ names }) => names.size > 0)
  if (introduced.length === 0) return
  // Always in the order of `uses`, so that two requests cannot deadlock.
  await inTx(ctx, async (ctx) => {
    for (const { kind, names } of introduced) await introduce(ctx, kind, names)
    afterCommit(ctx, () => {
      for (const { kind, names } of introduced) remember(ctx, kind, names.keys())
    })
  })
}

const keyOf = ({ projectId }: Pick<ProjectCtx, 'projectId'>, kind: Kind, name: string): string => `${projectId}:${kind}:${name}`

function remember(ctx: Pick<ProjectCtx, 'config' | 'projectId'>, kind: Kind, names: Iterable<string>): void {
  const known = knownTo(ctx.config)
  for (const name of names) known.set(keyOf(ctx, kind, name), true)
}

/** Those of the names that are new to the project. Throws 429 if there are more than a day allows. */
async function newAmong(ctx: ProjectCtx, { kind, used, alreadyUsed }: NameUses): Promise<NewNames> {
  const names: NewNames['names'] = new Map()
  const max = kinds[kind].max(ctx.config)
  if (max === 0) return { kind, names }
  const known = knownTo(ctx.config)
  // A part at a time, because a request may contain any number of new names: it is refused after few of them.
  for (const part of unknownAmong(used, (name) => known.has(keyOf(ctx, kind, name)))) {
    const before = await usedBefore(ctx, kind, [...part.keys()], alreadyUsed)
    remember(ctx, kind, before)
    for (const [name, use] of part) if (!before.has(name)) names.set(name, use)
    const [first] = names.values()
    if (first && names.size > max) throw tooMany(ctx, kind, first)
  }
  return { kind, names }
}

/** The names that are not known, each once, in parts that are looked up together. */
function* unknownAmong(used: Iterable<UsedName>, isKnown: (name: string) => boolean): Generator<Map<string, UsedName>> {
  const seen = new Set<string>()
  let part = new Map<string, UsedName>()
  for (const use of used) {
    if (seen.has(use.name)) continue
    seen.add(use.name)
    if (!isKnown(use.name)) part.set(use.name, use)
    if (part.size < LOOKED_UP_MAX) continue
    yield part
    part = new Map()
  }
  if (part.size > 0) yield part
}

const Name = Type.Object({ name: Type.String() })

/** Those of the names that publishable keys have introduced, or that the project has by other ways. */
async function usedBefore(
  ctx: ProjectCtx,
  kind: Kind,
  names: string[],
  alreadyUsed: (names: string[]) => Promise<string[]>,
): Promise<Set<string>> {
  const rows = await ctx.db.many(
    Name,
    sql`select name from introduced_names where project_id = ${ctx.projectId} and kind = ${kind} and name = any(${names}::text[])`,
  )
  const introduced = new Set(rows.map(({ name }) => name))
  const others = names.filter((name) => !introduced.has(name))
  if (others.length > 0) for (const name of await alreadyUsed(others)) introduced.add(name)
  return introduced
}

/** Stores names, except those that another request has stored meanwhile. Throws 429 if that would exceed the limit of the day. */
async function introduce(ctx: InTx, kind: Kind, names: NewNames['names']): Promise<void> {
  const max = kinds[kind].max(ctx.config)
  const row = await ctx.db.first(
    Name,
    sql`with fresh as materialized (
          select g.name, g.place from unnest(${[...names.keys()]}::text[]) with ordinality as g(name, place)
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
  const refused = row && names.get(row.name)
  if (refused) throw tooMany(ctx, kind, refused)
}

function tooMany({ clock, config }: Pick<ProjectCtx, 'clock' | 'config'>, kind: Kind, { name, param }: UsedName): ApiError {
  const { what, reason, max: maxOf } = kinds[kind]
  const max = maxOf(config)
  const now = clock.now().getTime()
  const message = `Publishable keys may introduce at most ${max} new ${what} a day in this project, and \`${name.slice(0, 255)}\` exceeds that. Use the name with a secret key first, or try again tomorrow (UTC).`
  return new ApiError('quota_exceeded', message, {
    param,
    reason,
    headers: { 'retry-after': String(Math.ceil((DAY_MS - (now % DAY_MS)) / 1000)) },
  })
}
