/** Turns the inputs of a simulation into what happens to its user. Pure. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { parseTime } from '../../../lib/times.ts'
import { mergeData, phoneOf, toProfile, type UserRow } from '../../users/index.ts'
import type { Fact } from '../engine/facts.ts'
import type { Graph } from '../engine/graph.ts'
import { MADE_UP } from './facts.ts'
import type { SimulationInput, SimulationStep } from './schema.ts'
import type { Attributes, SimulatedItem } from './user.ts'

type Profile = NonNullable<SimulationInput['user']['profile']>

/** A user who is made up. */
export function madeUpUser(ctx: ProjectCtx, given: Profile, at: Date): UserRow {
  const nothing = { external_id: null, anonymous_id: null, email: null, phone: null, timezone: null, locale: null, data: {} }
  const empty: UserRow = {
    ...nothing,
    ...{ id: MADE_UP, project_id: ctx.projectId, has_push_device: false, created_at: at, updated_at: at },
  }
  return userAfter(ctx, empty, given)
}

/** A user with other attributes, in the form in which they are stored. */
export function userAfter(ctx: Pick<ProjectCtx, 'project'>, user: UserRow, given: Profile): UserRow {
  const { email, phone, timezone, locale, data } = toProfile(given as never)
  return {
    ...user,
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone: phone === null ? null : phoneOf(ctx.project)({ phone }, null) }),
    ...(timezone !== undefined && { timezone }),
    ...(locale !== undefined && { locale }),
    data: mergeData(user.data, (data ?? {}) as Record<string, unknown>),
  }
}

function attributesOf(given: Profile): Attributes {
  const { data, ...fields } = toProfile(given as never)
  const inData = Object.entries((data ?? {}) as Record<string, unknown>).map(([key, value]) => [`data.${key}`, value])
  return { ...fields, ...Object.fromEntries(inData) }
}

/**
 * What happens to the user, in order. The user enters at `entrance` if it is given. Otherwise the user enters at the first entrance, if
 * there are no inputs or all entrances have the trigger `api` or `none`.
 */
export function itemsOf({ entrances }: Graph, journeyId: JourneyId, row: UserRow, input: SimulationInput, at: Date): SimulatedItem[] {
  const { inputs = [], entrance } = input
  const given = inputs.map((one, index) => itemOf(one, index)).sort((a, b) => a.at.getTime() - b.at.getTime())
  const waitsForNothing = inputs.length === 0 || entrances.every(({ settings: { trigger } }) => trigger === 'api' || trigger === 'none')
  const step = entrance ?? (waitsForNothing ? entrances[0]?.step : undefined)
  if (step === undefined) return given
  const entry = { do: 'enter' as const, journey_id: journeyId, user_id: row.id, entrance: step, cause: 'api:simulated' }
  return [{ at, items: [entry] }, ...given]
}

function itemOf({ at, event, profile, list_entered, list_left }: SimulationStep, index: number): SimulatedItem {
  const instant = parseTime(at) as Date
  const key = `simulated:${index}`
  const move = (listId: number, entered: boolean) => ({
    is: 'membership' as const,
    listId: listId as never,
    entered,
    key,
    isInherited: false,
  })
  const lists = [
    ...(list_entered === undefined ? [] : [move(list_entered, true)]),
    ...(list_left === undefined ? [] : [move(list_left, false)]),
  ]
  return {
    at: instant,
    ...(profile && { attributes: attributesOf(profile) }),
    ...(event && { events: [simulatedEvent(event.name, event.data ?? {}, instant, key)] }),
    ...(lists.length > 0 && { lists }),
  }
}

/** An event as a request brings it. */
const simulatedEvent = (name: string, data: Record<string, unknown>, createdAt: Date, key: string): Extract<Fact, { is: 'event' }> => ({
  is: 'event',
  ...{ key, name, data, createdAt },
  ...{ isSystem: false, ofJourney: null, ofEntrance: null, isImport: false, isInherited: false, starts: true },
})
