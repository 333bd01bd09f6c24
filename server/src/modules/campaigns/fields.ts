/** The writable fields of a campaign before and after a write. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../lib/errors.ts'
import { distinct } from '../../lib/shapes.ts'
import { parseTime } from '../../lib/times.ts'
import { earliestAnywhere } from './audience/send-times.ts'
import type { CampaignChanges, CampaignFields, CampaignInput, CampaignRow } from './schema.ts'
import { stateAfter } from './states.ts'

/** The fields of a new campaign. */
export const draftOf = (
  { type, channel: _, name, subscription_id, ...given }: CampaignInput,
  defaults: Pick<CampaignFields, 'slug' | 'expires_after_hours'>,
): CampaignFields => applied(type, { ...EMPTY, ...defaults, name, subscription_id }, given)

const EMPTY: Omit<CampaignFields, 'name' | 'subscription_id' | 'slug' | 'expires_after_hours'> = {
  provider_id: null,
  state: 'draft',
  event_name: null,
  list_ids: [],
  exclusion_list_ids: [],
  tags: [],
  send_in_user_timezone: false,
  send_at: null,
  custom_domain_id: null,
  rate: null,
  utm: null,
  mail_retries: null,
  holdout_percent: 0,
  variants: [],
  winner: null,
  event_rule: null,
}

/** The writable fields of a stored campaign. */
export function fieldsOf({
  id: _,
  project_id: __,
  type: ___,
  channel: ____,
  is_direct,
  winner_variant,
  paused_at,
  paused_reason,
  started_at,
  finished_at,
  archived_at,
  created_at,
  updated_at,
  ...fields
}: CampaignRow): CampaignFields {
  return fields
}

/** The fields after a write. Absent members do not change. A new `send_at` withdraws a blast that is being sent. */
export function applied(type: CampaignRow['type'], before: CampaignFields, changes: CampaignChanges): CampaignFields {
  const { state: _, ...after } = { ...before, ...changes }
  const send_at = after.send_at === null ? null : sendAt(after.send_at, after.send_in_user_timezone)
  const hasNewTime = send_at !== before.send_at
  return {
    ...after,
    state: stateAfter(type, before.state, { state: changes.state, hasNewTime }),
    list_ids: distinct(after.list_ids),
    exclusion_list_ids: distinct(after.exclusion_list_ids),
    tags: distinct(after.tags),
    send_at,
  }
}

/** The fields that a blast’s messages depend on. They are fixed once loading has started. */
const FIXED_BY_LOADING = [
  'send_at',
  'send_in_user_timezone',
  'list_ids',
  'exclusion_list_ids',
  'subscription_id',
  'expires_after_hours',
  'holdout_percent',
  'variants',
  'winner',
] as const

/** The fixed fields that a write changes too late. A write with a new `send_at` may change them: the audience is then loaded again. */
export const lateChanges = (before: CampaignRow, after: CampaignFields): string[] =>
  before.type === 'trigger' || before.started_at === null || after.state === 'aborting' || after.state === 'aborted'
    ? []
    : FIXED_BY_LOADING.filter((name) => !isDeepStrictEqual(before[name], after[name]))

const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/

/**
 * A time as it is stored (D-CAMP-1): an instant in UTC or, if it is in each user's time zone, a local time without an offset.
 * `text` must be a time. Throws 400 for a local time outside of the years 1970 to 2100, which its offset can move into them.
 */
export function sendAt(text: string, inUserTimezone: boolean): string {
  const time = parseTime(inUserTimezone ? text.replace(OFFSET, '') : text)
  if (time === null) throw fault('parameter_invalid_format', 'send_at', 'The local time in `send_at` must be in the years 1970 to 2100.')
  return inUserTimezone ? time.toISOString().slice(0, -1) : time.toISOString()
}

const NAME_LENGTH_MAX = 255
const COPY = ' (copy)'

export const copyName = (name: string): string => [...name].slice(0, NAME_LENGTH_MAX - COPY.length).join('') + COPY

/** The fields of a copy: a draft without `send_at`. */
export const copyOf = (fields: CampaignFields, slug: string): CampaignFields => ({
  ...fields,
  name: copyName(fields.name),
  slug,
  state: 'draft',
  send_at: null,
})

/** When a campaign starts to load: at its instant or, if its time is local, when that time comes in the first time zone. */
export const dueAt = ({ send_at, send_in_user_timezone }: Pick<CampaignFields, 'send_at' | 'send_in_user_timezone'>): Date | null =>
  send_at === null ? null : send_in_user_timezone ? earliestAnywhere(send_at) : new Date(send_at)
