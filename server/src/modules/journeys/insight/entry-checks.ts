/** Why a user entered a journey or did not, check by check (D-JRN-9). */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing } from '../../../lib/errors.ts'
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { type LatestEvent, latestEvents } from '../../events/index.ts'
import { explainForUser, membershipsIn } from '../../lists/index.ts'
import { insideOf, journeyUserOf, type KnownRow, pastOf } from '../../positions/index.ts'
import { durationMs, LIST_ENTERED, LIST_LEFT, MEMBERSHIP_EVENTS, type Rule } from '../../rules/index.ts'
import { findIdsOf, requireUser, type UserRow } from '../../users/index.ts'
import { type EntranceStep, type EntryFact, entrancesFor, entrancesOf } from '../engine/entry.ts'
import { isHeldOut, keyHash } from '../engine/ids.ts'
import { factAgeMaxMsOf } from '../fact-age.ts'
import { findJourney, hasKey } from '../queries.ts'
import type { JourneyRow } from '../schema.ts'
import { ENTRIES_PER_DAY_DEFAULT, type JourneySettings } from '../settings.ts'
import { entryKeyIn } from '../steps/settings.ts'
import { findByStatus } from '../versions/queries.ts'
import type { Check, EntryExplanation } from './schema.ts'

const FACTS_MAX = 20
/** More events are read, because not every list that a user entered has an entrance. */
const EVENTS_READ = 200
const PAST_MAX = 1000

/** Everything that checks read about the user and the journey. */
type Known = {
  journey: JourneyRow
  settings: JourneySettings
  user: UserRow
  excluded: ListId[]
  summary: KnownRow | undefined
  /** The keys of the entrances that have not ended; '' for none. */
  insideKeys: string[]
  enteredToday: number
}

/** The latest events of a user that the entrances of the live version are for, with their entry checks. Throws 404. */
export async function explainEntry(ctx: ProjectCtx, id: JourneyId, name: string): Promise<EntryExplanation> {
  const journey = await findJourney(ctx, id)
  if (!journey) throw missing('journey')
  const user = await requireUser(ctx, name)
  const live = await findByStatus(ctx, id, 'live')
  const known = await knownOf(ctx, journey, live?.settings ?? {}, user)
  const entrances = entrancesOf(live?.steps ?? [])
  const facts: EntryExplanation['facts'] = []
  for (const event of await eventsFor(ctx, entrances, user)) {
    const found = candidatesOf(entrances, id, event)
    if (found.candidates.length === 0 || facts.length === FACTS_MAX) continue
    const is = found.fact.is === 'membership' ? { list: found.fact.listId as number } : { event: event.name }
    const { entrance, checks } = await decisiveOf(ctx, known, found.candidates, event)
    facts.push({ ...is, at: event.created_at, entrance, checks: [...found.checks, ...checks] })
  }
  return { facts, now: { checks: [liveCheck(known), ...userChecks(known), dailyCheck(known)] } }
}

async function knownOf(ctx: ProjectCtx, journey: JourneyRow, settings: JourneySettings, user: UserRow): Promise<Known> {
  const lists = settings.exclusion_list_ids ?? []
  const memberships = lists.length > 0 ? await membershipsIn(ctx, lists, user.id) : []
  const [active, past] = [await insideOf(ctx, journey.id, user.id), await pastOf(ctx, journey.id, user.id, PAST_MAX)]
  const dayAgo = ctx.clock.now().getTime() - DAY_MS
  return {
    journey,
    settings,
    user,
    excluded: memberships.filter(({ is_member }) => is_member).map(({ id }) => id),
    summary: await journeyUserOf(ctx, journey.id, user.id),
    insideKeys: active.map(({ key }) => key ?? ''),
    enteredToday: [...active, ...past].filter(({ entered_at }) => entered_at.getTime() > dayAgo).length,
  }
}

async function eventsFor(ctx: ProjectCtx, entrances: readonly EntranceStep[], user: UserRow): Promise<LatestEvent[]> {
  const names = entrances.flatMap(({ settings: { trigger, event_name, change } }) => {
    if (trigger === 'event') return event_name ?? []
    return trigger === 'list' ? [change === 'left' ? LIST_LEFT : LIST_ENTERED] : []
  })
  return names.length === 0 ? [] : latestEvents(ctx, await findIdsOf(ctx, user.id), [...new Set(names)], EVENTS_READ)
}

function factOf({ name, source, data, created_at: at }: LatestEvent): EntryFact {
  const shared = { cause: '', at, depth: 0, data }
  const isSystem = source === 'system'
  if (isSystem && MEMBERSHIP_EVENTS.includes(name))
    return { ...shared, is: 'membership', listId: data.list_id as ListId, entered: name === LIST_ENTERED }
  const ofJourney = isSystem && typeof data.journey_id === 'number' ? (data.journey_id as JourneyId) : null
  return { ...shared, is: 'event', name, isSystem, ofJourney, isImport: isSystem && data.is_import === true, isInherited: false }
}

type Candidates = { fact: EntryFact; candidates: EntranceStep[]; checks: Check[] }

/**
 * The entrances that an event is for. Events of imports and those about messages of the journey are for none, which is not counted: they
 * have the entrances of other events with their name, and a check that says why.
 */
function candidatesOf(entrances: readonly EntranceStep[], id: JourneyId, event: LatestEvent): Candidates {
  const fact = factOf(event)
  const candidates = entrancesFor(entrances, id, fact)
  if (candidates.length > 0 || fact.is !== 'event') return { fact, candidates, checks: [] }
  const isOwn = fact.ofJourney === id
  return {
    fact,
    candidates: entrancesFor(entrances, id, { ...fact, ofJourney: null, isImport: false }),
    checks: [
      ...(isOwn ? [{ check: 'own_message', passed: false, seen: { journey_id: id } }] : []),
      ...(fact.isImport ? [{ check: 'imports', passed: false, seen: { is_import: true } }] : []),
    ],
  }
}

const liveCheck = ({ journey: { status } }: Known): Check => ({ check: 'not_live', passed: status === 'live', seen: { status } })

/** The checks of the first entrance that the event and the user meet, or else of the first one. */
async function decisiveOf(ctx: ProjectCtx, known: Known, candidates: EntranceStep[], event: LatestEvent) {
  let first: { entrance: string; checks: Check[] } | undefined
  for (const entrance of candidates) {
    const found = { entrance: entrance.step, checks: await checksOf(ctx, known, entrance, event) }
    if (found.checks.every(({ check, passed }) => passed || (check !== 'where' && check !== 'rule'))) return found
    first ??= found
  }
  return first as NonNullable<typeof first>
}

async function checksOf(ctx: ProjectCtx, known: Known, entrance: EntranceStep, event: LatestEvent): Promise<Check[]> {
  const { rule, entry_key } = entrance.settings
  const ageMs = event.received_at.getTime() - event.created_at.getTime()
  const key = entry_key === undefined ? null : entryKeyIn(entry_key, event.data)
  return [
    liveCheck(known),
    { check: 'too_old', passed: ageMs <= factAgeMaxMsOf(ctx), seen: { received_at: event.received_at } },
    { check: 'where', passed: entrance.passes(event.data, ctx.clock.now().getTime()) },
    ...(rule === undefined ? [] : [await ruleCheck(ctx, rule as Rule, known.user)]),
    ...(entry_key === undefined ? [] : [{ check: 'key_missing', passed: key !== undefined, seen: { key: key ?? null } }]),
    ...userChecks(known),
    ...(await repeatChecks(ctx, known, entrance, key ?? null)),
  ]
}

async function ruleCheck(ctx: ProjectCtx, rule: Rule, user: UserRow): Promise<Check> {
  const { holds, explanation } = await explainForUser(ctx, rule, user)
  return { check: 'rule', passed: holds, seen: explanation }
}

/** The checks that depend on the user alone. */
function userChecks({ journey, settings, user, excluded }: Known): Check[] {
  const percent = settings.holdout_percent ?? 0
  return [
    { check: 'excluded', passed: excluded.length === 0, seen: { list_ids: excluded } },
    { check: 'held_out', passed: !isHeldOut(journey.id, user.id, percent), seen: { holdout_percent: percent } },
  ]
}

function dailyCheck({ settings, enteredToday }: Known): Check {
  const most = settings.max_entries_per_day ?? ENTRIES_PER_DAY_DEFAULT
  return { check: 'daily_maximum', passed: enteredToday < most, seen: { entered: enteredToday, max_entries_per_day: most } }
}

/** The checks of earlier entrances, and of their number, by the settings of the entrance. With an entry key, those with the same key. */
async function repeatChecks(ctx: ProjectCtx, known: Known, { settings }: EntranceStep, key: string | null): Promise<Check[]> {
  const { multiple = false, concurrent = false, on_repeat, reenter_after } = settings
  const { journey, user, summary, insideKeys } = known
  const last = summary?.last_entered_at ?? null
  const again = reenter_after !== undefined && last !== null ? new Date(last.getTime() + durationMs(reenter_after)) : null
  const isInside = insideKeys.includes(key ?? '')
  const isRestarted = multiple && on_repeat === 'restart'
  const inside = (seen: object): Check => ({
    check: 'already_inside',
    passed: !isInside || isRestarted,
    seen: { inside: insideKeys.length, ...seen },
  })
  // The entrance gets the event, and nothing else is checked.
  if (isInside && on_repeat === 'update' && !(multiple && concurrent)) return [{ ...inside({ on_repeat }), passed: true }]
  const hasEntered = key === null ? (summary?.entered ?? 0) > 0 : await hasKey(ctx, journey.id, user.id, keyHash(key))
  return [
    ...(multiple && concurrent ? [] : [inside({})]),
    ...(multiple ? [] : [{ check: 'once_only', passed: !hasEntered, seen: { entered: summary?.entered ?? 0 } }]),
    ...(reenter_after === undefined
      ? []
      : [
          {
            check: 'reenter_after',
            passed: isInside || again === null || again <= ctx.clock.now(),
            seen: { last_entered_at: last, reenter_after },
          },
        ]),
    dailyCheck(known),
  ]
}
