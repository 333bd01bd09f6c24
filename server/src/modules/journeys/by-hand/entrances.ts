/** Letting a user enter on request, and moving or removing users who are inside (D-JRN-7). */
import { inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { fault, missing, refuse } from '../../../lib/errors.ts'
import { type JourneyId, ulid } from '../../../lib/ids.ts'
import { insideOf, type TrailRow } from '../../positions/index.ts'
import { requireUser, userByIds } from '../../users/index.ts'
import { appendJourneyItems } from '../append-items.ts'
import { entrancesFor, entrancesOf } from '../engine/entry.ts'
import { causes, entranceId } from '../engine/ids.ts'
import { findJourney } from '../queries.ts'
import type { JourneyItem } from '../queue-items.ts'
import type { Step } from '../schema.ts'
import * as kinds from '../steps/index.ts'
import { DEFAULT_PATH, type StepKind } from '../steps/step.ts'
import { targetFaults } from '../versions/plan.ts'
import { findByStatus, findVersions } from '../versions/queries.ts'
import type { Concerned, EntranceInput, MoveInput } from './schema.ts'

const RANDOM_BYTES = 10

const types: Record<string, StepKind> = kinds

/** Appends an entrance to the ingest queue, which applies the rules of entry. Throws 404, 422. */
export const enterJourney = (ctx: ProjectCtx, id: JourneyId, input: EntranceInput): Promise<{ entrance_id: number }> =>
  inTx(ctx, async (ctx) => {
    const journey = await findJourney(ctx, id)
    if (!journey) throw missing('journey')
    if (journey.status !== 'live')
      throw fault('validation_failed', 'status', `The journey is \`${journey.status}\`. Set \`status\` to \`live\` first.`)
    const userId = await userByIds(ctx, input)
    const now = ctx.clock.now()
    const { entrance, data = {}, key } = input
    const cause = causes.api(key ?? ulid(now, ctx.secrets.random(RANDOM_BYTES)))
    const live = await findByStatus(ctx, id, 'live')
    const fact = { is: 'api', step: entrance ?? null, key: key ?? null, cause, at: now, depth: 0, data } as const
    if (entrancesFor(entrancesOf(live?.steps ?? []), id, fact).length === 0) throw noEntrance(entrance)
    await appendJourneyItems(ctx, [
      {
        do: 'enter',
        journey_id: id,
        user_id: userId,
        cause,
        data,
        ...(entrance !== undefined && { entrance }),
        ...(key !== undefined && { key }),
      },
    ])
    return { entrance_id: entranceId(id, cause, userId) }
  })

const noEntrance = (entrance: string | undefined) =>
  fault(
    'validation_failed',
    'entrance',
    entrance === undefined
      ? 'The live version has no entrance with the trigger `api` or `none`. Name another one in `entrance`.'
      : `The live version has no entrance \`${entrance}\`.`,
  )

/** Moves a user to a step of the version that they are on. Throws 404, 422. */
export const moveUser = (ctx: ProjectCtx, id: JourneyId, name: string, { to, entrance_id }: MoveInput): Promise<Concerned> =>
  onUser(ctx, id, name, entrance_id, { do: 'move', to }, (steps) =>
    refuse(
      targetFaults(
        'to',
        to,
        steps.find(({ external_id }) => external_id === to),
      ),
    ),
  )

/** Lets a user leave the step by its default path, unless the user has left it before this is applied. Throws 404, 422. */
export const skipStep = (ctx: ProjectCtx, id: JourneyId, name: string, entranceId?: number): Promise<Concerned> =>
  onUser(ctx, id, name, entranceId, { do: 'skip' }, (steps, { external_id: key }) => {
    const step = steps.find(({ external_id }) => external_id === key)
    if (step && !hasDefaultPath(step))
      throw fault(
        'validation_failed',
        'userId',
        `The step \`${key}\` has no default path, so it cannot be skipped. Move the user to a step instead.`,
      )
  })

const hasDefaultPath = ({ type, data, children }: Step): boolean =>
  children.length === 0 ||
  children.some(({ path = DEFAULT_PATH }) => path === DEFAULT_PATH) ||
  (types[type]?.paths(data).some(({ path }) => path === DEFAULT_PATH) ?? false)

/** Decides again about a user whose decision failed. Throws 404, 422. */
export const retryStep = (ctx: ProjectCtx, id: JourneyId, name: string, entranceId?: number): Promise<Concerned> =>
  onUser(ctx, id, name, entranceId, { do: 'retry' })

/** Ends the entrances of a user as exited. Throws 404, 422. */
export const removeUser = (ctx: ProjectCtx, id: JourneyId, name: string, entranceId?: number): Promise<Concerned> =>
  onUser(ctx, id, name, entranceId, { do: 'exit', reason: 'removed' })

type Action = { do: 'move'; to: string } | { do: 'skip' } | { do: 'retry' } | { do: 'exit'; reason: string }

/** Appends an item for each entrance of a user, or for the given one. `check` gets the steps of its version. */
function onUser(
  ctx: ProjectCtx,
  id: JourneyId,
  name: string,
  wanted: number | undefined,
  action: Action,
  check: (steps: Step[], entrance: TrailRow) => void = () => undefined,
): Promise<Concerned> {
  return inTx(ctx, async (ctx) => {
    if (!(await findJourney(ctx, id))) throw missing('journey')
    const user = await requireUser(ctx, name)
    const entrances = (await insideOf(ctx, id, user.id)).filter(({ entrance_id }) => wanted === undefined || entrance_id === wanted)
    if (entrances.length === 0) throw notInside(wanted)
    const graphs = await findVersions(ctx, id, [...new Set(entrances.map(({ version }) => version))])
    for (const entrance of entrances) check(graphs.find(({ version }) => version === entrance.version)?.steps ?? [], entrance)
    const items = entrances.map(
      ({ entrance_id, visit }): JourneyItem => ({
        ...{ journey_id: id, user_id: user.id, entrance_id },
        ...(action.do === 'skip' ? { ...action, visit } : action),
      }),
    )
    await appendJourneyItems(ctx, items)
    return { entrance_ids: entrances.map(({ entrance_id }) => entrance_id) }
  })
}

const notInside = (wanted: number | undefined) =>
  wanted === undefined
    ? fault('validation_failed', 'userId', 'The user is not inside the journey.')
    : fault('validation_failed', 'entrance_id', 'The user has no entrance with this id, or the entrance has ended.')
