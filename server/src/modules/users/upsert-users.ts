/** Saves a batch of profiles in one transaction with a handful of statements, whatever its size. */

import { isSqlState, LostRace, UNIQUE_VIOLATION } from '../../infra/postgres/db.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { Fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { phoneOf } from './batch.ts'
import { differences, type PersonChange, type WhenChanged } from './changes.ts'
import { applyProfile, noPeople, type People, type Person, type Profile } from './identity.ts'
import * as queries from './queries.ts'

/** A profile and when it arrived; `user_id` stands for the ids when a user token said who it is. */
export type Arrival = { profile: Profile; at: Date; user_id?: UserId }

export type Upserted = { person: Person } | { faults: Fault[] }

/** Applies the arrivals in order and saves the outcome, all or nothing. Each answer is the person right after its item. */
export const upsertPeople = (ctx: ProjectCtx, arrivals: Arrival[], whenChanged: WhenChanged): Promise<Upserted[]> =>
  inTx(ctx, (ctx) => upsertInside(ctx, arrivals, whenChanged))

async function upsertInside(ctx: InTx, arrivals: Arrival[], whenChanged: WhenChanged): Promise<Upserted[]> {
  const { people, known, before } = await load(ctx, arrivals)
  const normalise = phoneOf(ctx.project)
  const outcomes = arrivals.map(({ profile, at, user_id }): Upserted => {
    const bound = user_id === undefined ? undefined : known.get(user_id)
    const outcome = applyProfile(people, bound ? boundTo(bound, profile) : profile, at, normalise)
    return 'fault' in outcome ? { faults: [outcome.fault] } : { person: { ...outcome.person } }
  })
  await save(ctx, people, before)
  const merges = people.merges.map(({ from, into }) => ({ from_id: from.id, into_id: lastSurvivor(into).id }))
  if (merges.length > 0) await queries.moveBelongings(ctx, merges)
  const changes = changesOf(people, before)
  if (merges.length + changes.length > 0) await whenChanged(ctx, { changes, merges })
  if ([...people.linked].some((anonymousId) => people.stored.has(anonymousId))) await queries.endIdentityEpoch(ctx)
  return outcomes.map((outcome) => ('person' in outcome ? { person: withId(outcome.person, people) } : outcome))
}

function changesOf(people: People, before: Map<Person, Person>): PersonChange[] {
  const created = [...people.created].filter(({ mergedInto }) => !mergedInto)
  const changed = [...people.touched].flatMap((person): PersonChange[] => {
    const former = before.get(person)
    if (!former || person.mergedInto) return []
    const what = differences(former, person)
    return what.length > 0 ? [{ user_id: person.id, what, person }] : []
  })
  return [...created.map((person): PersonChange => ({ user_id: person.id, what: [], is_new: true, person })), ...changed]
}

// A token names a person by number; the item then speaks of that person by whichever id it has.
function boundTo(person: Person, profile: Profile): Profile {
  const { external_id, anonymous_id } = person
  if (external_id !== null) return { ...profile, external_id }
  return anonymous_id === null ? profile : { ...profile, anonymous_id }
}

type Loaded = {
  people: People
  known: Map<UserId, Person>
  /** Each of them as they were. */
  before: Map<Person, Person>
}

async function load(ctx: InTx, arrivals: Arrival[]): Promise<Loaded> {
  const anonymousIds = idsOf(arrivals, 'anonymous_id')
  const aliases = anonymousIds.length > 0 ? await queries.lockAliases(ctx, anonymousIds) : []
  const bound = arrivals.flatMap(({ user_id }) => (user_id === undefined ? [] : [user_id]))
  const ids = [...aliases.map(({ user_id }) => user_id), ...bound]
  // Which other anonymous ids somebody has matters only when one of them moves.
  const rows = await queries.lockPeople(ctx, idsOf(arrivals, 'external_id'), ids, anonymousIds.length > 0)
  const people = noPeople()
  const known = new Map(rows.map(({ aliases, ...row }): [UserId, Person] => [row.id, { ...row, aliases: aliases ?? [], mergedInto: null }]))
  for (const person of known.values()) if (person.external_id !== null) people.byExternalId.set(person.external_id, person)
  for (const { anonymous_id, user_id } of aliases) {
    const person = known.get(user_id)
    // We hold the id: if its person is not there, the person is gone, and the id is anybody's.
    if (person) people.byAnonymousId.set(anonymous_id, person)
    people.stored.add(anonymous_id)
  }
  for (const id of bound) holdAnonymous(people, known.get(id))
  return { people, known, before: new Map([...known.values()].map((person) => [person, { ...person }])) }
}

function holdAnonymous(people: People, person: Person | undefined) {
  if (!person?.anonymous_id) return
  people.byAnonymousId.set(person.anonymous_id, person)
  people.stored.add(person.anonymous_id)
}

const idsOf = (arrivals: Arrival[], name: 'external_id' | 'anonymous_id') => [
  ...new Set(arrivals.flatMap(({ profile }) => profile[name] ?? [])),
]

// U+001F cannot stand in any of them, so that no search matches across two.
const searchText = ({ external_id, email, phone, anonymous_id }: Person) =>
  [external_id, email, phone, anonymous_id].filter((part) => part !== null).join('\u001f')

async function save(ctx: InTx, people: People, before: Map<Person, Person>): Promise<void> {
  const created = [...people.created]
  if (created.length > 0) {
    const ids = await queries.reserveIds(ctx, created.length)
    for (const [index, person] of created.entries()) person.id = (ids[index] as { id: UserId }).id
    if (
      (await queries.insertPeople(
        ctx,
        created.map((person) => toRow(person, undefined)),
      )) < created.length
    )
      throw new LostRace('A person was created at the same time.')
  }
  const changed = [...people.touched].filter((person) => before.has(person))
  if (changed.length > 0) {
    const rows = changed.map((person) => toRow(person, before.get(person)))
    // A visitor who gets an external id may meet somebody who was created with it a moment ago.
    await queries.updatePeople(ctx, rows).catch((error: unknown) => {
      throw isSqlState(error, UNIQUE_VIOLATION) ? new LostRace('An external id was taken at the same time.') : error
    })
  }
  await saveAliases(ctx, people)
}

async function saveAliases(ctx: InTx, people: People): Promise<void> {
  const links = [...people.linked].map((anonymous_id) => ({
    anonymous_id,
    user_id: (people.byAnonymousId.get(anonymous_id) as Person).id,
    linked_at: ctx.clock.now(),
  }))
  const fresh = links.filter(({ anonymous_id }) => !people.stored.has(anonymous_id))
  const moved = links.filter(({ anonymous_id }) => people.stored.has(anonymous_id))
  if (fresh.length > 0 && (await queries.insertAliases(ctx, fresh)) < fresh.length)
    throw new LostRace('An anonymous id was linked at the same time.')
  if (moved.length > 0) await queries.repointAliases(ctx, moved)
}

function toRow(person: Person, before: Person | undefined): queries.SavedPerson {
  const { aliases: _, mergedInto, ...row } = person
  const text = searchText(person)
  return {
    ...row,
    merged_into: mergedInto ? lastSurvivor(mergedInto).id : null,
    search_text: mergedInto || (before && text === searchText(before)) ? null : text,
  }
}

const lastSurvivor = (person: Person): Person => (person.mergedInto ? lastSurvivor(person.mergedInto) : person)

// Snapshots of people that were new then still carry the provisional id.
function withId(snapshot: Person, people: People): Person {
  if (snapshot.id > 0) return snapshot
  const person = [...people.created][-snapshot.id - 1] as Person
  return { ...snapshot, id: person.id }
}
