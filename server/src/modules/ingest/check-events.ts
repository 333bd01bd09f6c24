/** Checks events when they are accepted, and reads them when they are applied. Pure. */
import type { Caller, ProjectDefaults } from '../../infra/runtime/ctx.ts'
import { ApiError, type ErrorReason, type Fault, faultAt } from '../../lib/errors.ts'
import { parseTime } from '../../lib/times.ts'
import { checker, ITEM_ERRORS_MAX } from '../../lib/validate.ts'
import type { AcceptedEvent } from '../events/index.ts'
import { type Profile, pathFaults, phoneOf, toProfile } from '../users/index.ts'
import { EventInput } from './schema.ts'

const checkEventShape = checker(EventInput, { errorsMax: ITEM_ERRORS_MAX })

function checkShape(item: unknown): ReturnType<typeof checkEventShape> {
  const checked = checkEventShape(item)
  if (checked.faults.length > 0) return checked
  const { user } = checked.value
  return user === undefined ? checked : { ...checked, faults: pathFaults(user).map(ofUser) }
}

/** The fault of a member of `user`, as one of the event. */
const ofUser = (fault: Fault): Fault => faultAt(fault, `user.${fault.param}`)

/** How far the clock of a device may be ahead. An event further in the future gets the time when it was received (D-EVT-3). */
const SKEW_MS = 300_000

/** The faults of the item at an index. With `bound`, a user token names the user. */
export function checkEvent(item: unknown, at: number, project: ProjectDefaults, bound: boolean): Fault[] {
  const { faults, value } = checkShape(item)
  if (faults.length > 0) return faults.map((fault) => located(fault, at))
  const profile = profileOf(value)
  if (!bound && profile.external_id === undefined && profile.anonymous_id === undefined) {
    return [{ code: 'parameter_missing', param: `[${at}]`, message: `The event at \`[${at}]\` needs \`external_id\` or \`anonymous_id\`.` }]
  }
  if (typeof profile.phone === 'string' && phoneOf(project)(profile, null) === null) {
    return [
      {
        code: 'parameter_invalid_format',
        param: `[${at}].user.phone`,
        message: `The value of \`[${at}].user.phone\` is not a phone number that can be written as E.164. Start it with + and the country code.`,
      },
    ]
  }
  return []
}

function located(fault: Fault, at: number): Fault {
  return faultAt(fault, fault.param === undefined || fault.param === 'body' ? `[${at}]` : `[${at}].${fault.param}`)
}

/** Without a user token, a publishable key can only send anonymous events that change no profile (D-PK-1). Throws 403 that names the others. */
export function requireAnonymousEvents(items: unknown[], caller: Caller): void {
  if (caller.kind !== 'anonymous') return
  refuseMembers(items.map(notPublishable), {
    reason: 'not_publishable',
    message: 'Without a user token, a publishable key can only send events that have `anonymous_id` and neither `external_id` nor `user`.',
  })
}

/** The first member that is not permitted, or missing. */
function notPublishable(item: unknown): string | null {
  const { external_id = null, anonymous_id = null, user } = (item ?? {}) as Record<string, unknown>
  if (external_id !== null) return 'external_id'
  if (user !== undefined) return 'user'
  return anonymous_id === null ? 'anonymous_id' : null
}

/** `members` has the member of each event that is at fault, or null. Throws 403 that names them, because the other events may be sent. */
export function refuseMembers(members: (string | null)[], { reason, message }: { reason: ErrorReason; message: string }): void {
  const faults = members.flatMap((member, at): Fault[] =>
    member === null ? [] : [{ code: 'permission_denied', param: `[${at}].${member}`, message }],
  )
  if (faults.length > 0) throw new ApiError('permission_denied', message, { reason, faults })
}

const profileOf = ({ anonymous_id, external_id, user = {} }: EventInput): Profile =>
  toProfile({ ...user, ...(anonymous_id !== undefined && { anonymous_id }), ...(external_id !== undefined && { external_id }) })

/** Reads an item of an accepted request. Throws when it is invalid: then it is parked. */
export function toAcceptedEvent(item: unknown, key: string, receivedAt: Date): { profile: Profile; event: AcceptedEvent } {
  const { faults, value } = checkShape(item)
  if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join(' '))
  const given = value.created_at === undefined ? receivedAt : parseTime(value.created_at)
  const createdAt = given === null || given.getTime() > receivedAt.getTime() + SKEW_MS ? receivedAt : given
  const event = { key, name: value.name, data: value.data ?? {}, createdAt, receivedAt, eventId: value.event_id ?? null }
  return { profile: profileOf(value), event }
}
