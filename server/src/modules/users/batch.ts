/** The items of a batch. Each is checked separately and gets its own result. */
import type { ProjectDefaults } from '../../infra/runtime/ctx.ts'
import { isPathLike, pathOf, withValuesAt } from '../../lib/attribute-paths.ts'
import { type Fault, faultAt } from '../../lib/errors.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { normalisePhone, phoneRegions } from '../../lib/phone.ts'
import { canonicalTimeZone } from '../../lib/time-zones.ts'
import { checker, freeFormProblem, ITEM_ERRORS_MAX } from '../../lib/validate.ts'
import type { Profile, UserRecord, UserUpdate } from './identity.ts'
import { DATA_BYTES_MAX, type ItemError, UserUpsert } from './schema.ts'

const MESSAGE_LENGTH_MAX = 500

const checkUpsert = checker(UserUpsert, { errorsMax: ITEM_ERRORS_MAX })

export type CheckedItem = { profile: Profile } | { faults: Fault[] }

/** The items of a batch: the faults of the invalid ones, and the updates that the valid ones make. */
export type CheckedBatch = { items: unknown[]; checked: CheckedItem[]; updates: UserUpdate[] }

/** Checks the items of a batch that was received at this time. */
export function checkBatch(items: unknown[], at: Date): CheckedBatch {
  const checked = items.map(checkItem)
  return { items, checked, updates: checked.flatMap((item): UserUpdate[] => ('profile' in item ? [{ profile: item.profile, at }] : [])) }
}

/** Checks a user upsert as far as that is possible without the database. */
export function checkItem(item: unknown): CheckedItem {
  const checked = checkItemWithoutId(item)
  if ('faults' in checked) return checked
  const { profile } = checked
  if (profile.external_id === undefined && profile.anonymous_id === undefined) {
    return {
      faults: [
        {
          code: 'resource_missing',
          message: 'The item has neither `external_id` nor `anonymous_id`, so its identity could not be resolved.',
        },
      ],
    }
  }
  return checked
}

/** Checks a user upsert whose user may be found in another way than by an id. */
export function checkItemWithoutId(item: unknown): CheckedItem {
  const { faults, value } = checkUpsert(item)
  const all = faults.length > 0 ? faults : pathFaults(value as UserUpsert)
  return all.length > 0 ? { faults: all } : { profile: toProfile(value as UserUpsert) }
}

/** A checked upsert in the form that is stored. A null id means an absent one (D-VAL-5). */
export function toProfile(item: UserUpsert): Profile {
  const { external_id, anonymous_id, email, phone, data, locale, timezone } = item
  const profile: Profile = {}
  if (email !== undefined) profile.email = email
  if (phone !== undefined) profile.phone = phone
  if (data !== undefined) profile.data = data
  const paths = Object.keys(item).filter(isPathLike)
  if (paths.length > 0) profile.paths = Object.fromEntries(paths.map((path) => [path, (item as Record<string, unknown>)[path]]))
  if (typeof external_id === 'string') profile.external_id = external_id
  if (typeof anonymous_id === 'string') profile.anonymous_id = anonymous_id
  if (locale !== undefined) profile.locale = locale === null ? null : normaliseLocale(locale)
  if (timezone !== undefined) profile.timezone = timezone === null ? null : canonicalTimeZone(timezone)
  return profile
}

/** The faults of the members that are paths. Their values have the limits of `data` (D-F-6). */
export function pathFaults(item: object): Fault[] {
  const paths = Object.entries(item).filter(([name]) => isPathLike(name))
  const wrong = paths.flatMap(([param]): Fault[] =>
    pathOf(param) ? [] : [{ code: 'parameter_invalid_format', param, message: notPath(param) }],
  )
  if (paths.length === 0 || wrong.length > 0) return wrong
  const values = paths.map(([path, value]) => [pathOf(path) ?? [], value] as const)
  const problem = freeFormProblem(withValuesAt({}, values), DATA_BYTES_MAX)
  return problem ? [{ code: 'validation_failed', param: 'data', message: `Together, the values inside \`data\` ${problem}.` }] : []
}

const notPath = (param: string) =>
  `The parameter \`${param.slice(0, 300).toWellFormed()}\` is not a path into \`data\`. Write it like \`data.address.city\`, with a backslash before a dot in a key.`

/** The phone number of an item in E.164, or null. A number without a country code takes it from the user or the project (D-F-2). */
export const phoneOf = (project: ProjectDefaults) => (item: Profile, user: UserRecord | null) => {
  // Most upserts repeat the stored number, which was normalised when it was saved.
  if (item.phone === user?.phone) return user?.phone ?? null
  // An international number depends on no region.
  if (item.phone?.startsWith('+')) return normalisePhone(item.phone, [])
  const defaults = { locale: item.locale ?? user?.locale ?? null, timezone: item.timezone ?? user?.timezone ?? null }
  return normalisePhone(item.phone ?? '', phoneRegions(defaults, project))
}

/**
 * Checks an item that is applied later, when errors can no longer be reported: it must be valid whatever is stored by then. `at`
 * is its index in the request.
 */
export function checkDeferredItem(item: unknown, at: number, project: ProjectDefaults): Fault[] {
  const checked = checkItem(item)
  if ('profile' in checked) {
    const { profile } = checked
    if (typeof profile.phone !== 'string' || phoneOf(project)(profile, null) !== null) return []
    return [
      {
        code: 'parameter_invalid_format',
        param: `[${at}].phone`,
        message: `The value of \`[${at}].phone\` is not a phone number that can be written as E.164. Start it with + and the country code.`,
      },
    ]
  }
  return checked.faults.map((fault) => located(fault, at))
}

function located(fault: Fault, at: number): Fault {
  if (fault.code === 'resource_missing') {
    return { code: 'parameter_missing', param: `[${at}]`, message: `The item at \`[${at}]\` needs \`external_id\` or \`anonymous_id\`.` }
  }
  return faultAt(fault, fault.param === undefined || fault.param === 'body' ? `[${at}]` : `[${at}].${fault.param}`)
}

/** The body of the reply: a result for each item, in the order of the request. */
export function batchResult(items: unknown[], outcomes: ({ user: object } | { faults: Fault[] })[]) {
  const results = outcomes.map((outcome, index) => ({
    index,
    ...suppliedIds(items[index]),
    ...('user' in outcome ? { user: outcome.user } : { error: itemError(outcome.faults) }),
  }))
  const succeeded = outcomes.filter((outcome) => 'user' in outcome).length
  return { results, succeeded, failed: outcomes.length - succeeded }
}

/** The ids exactly as they were sent, if they are strings. Results with an error have them too. */
function suppliedIds(item: unknown) {
  const { external_id, anonymous_id } = (item ?? {}) as Record<string, unknown>
  return { ...(typeof external_id === 'string' && { external_id }), ...(typeof anonymous_id === 'string' && { anonymous_id }) }
}

function itemError(faults: Fault[]): ItemError {
  const [first] = faults
  if (!first) throw new Error('A refused item must have a fault.')
  if (faults.length === 1) {
    const message = first.param === 'body' ? 'The item must be an object.' : first.message
    return { code: first.code, message }
  }
  const sameCode = faults.every(({ code }) => code === first.code)
  const message = faults
    .map(({ message }) => message)
    .join(' ')
    .slice(0, MESSAGE_LENGTH_MAX)
    .toWellFormed()
  const errors = faults.map(({ code, param, message }) => ({ code, ...(param !== undefined && { param }), message }))
  return { code: sameCode ? first.code : 'validation_failed', message, errors }
}
