/** What of a campaign can be written, before and after. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { distinct } from '../../lib/shapes.ts'
import { parseTime } from '../../lib/times.ts'
import { earliestAnywhere } from './audience/send-times.ts'
import type { CampaignChanges, CampaignFields, CampaignInput, CampaignRow } from './schema.ts'
import { stateAfter } from './states.ts'

/** The fields of a new campaign. */
export const draftOf = ({ type, channel: _, name, subscription_id, ...given }: CampaignInput): CampaignFields =>
  applied(type, { ...EMPTY, name, subscription_id }, given)

const EMPTY: Omit<CampaignFields, 'name' | 'subscription_id'> = {
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
  expires_after_hours: 72,
  holdout_percent: 0,
  variants: [],
  winner: null,
  event_rule: null,
}

/** The fields of a campaign that exists. */
export function fieldsOf({
  id: _,
  project_id: __,
  type: ___,
  channel: ____,
  winner_variant,
  paused_at,
  started_at,
  finished_at,
  created_at,
  updated_at,
  ...fields
}: CampaignRow): CampaignFields {
  return fields
}

/** The fields after a write; members that are absent stay as they are. A new time calls a blast that is going out back. */
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

/** What the messages of a blast were made of, once they have been. */
const SETTLED_WITH_THE_AUDIENCE = [
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

/** Which members a write changes although the messages of a blast have been made of them; with a new time they are made anew. */
export const lateChanges = (before: CampaignRow, after: CampaignFields): string[] =>
  before.type === 'trigger' || before.started_at === null || after.state === 'aborting' || after.state === 'aborted'
    ? []
    : SETTLED_WITH_THE_AUDIENCE.filter((name) => !isDeepStrictEqual(before[name], after[name]))

const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/

/**
 * A time as it is stored (D-CAMP-1): an instant in UTC, or what the clock shows, without an offset, when it is to be read
 * on each user's own. `text` must be a time.
 */
export function sendAt(text: string, inUserTimezone: boolean): string {
  const time = parseTime(inUserTimezone ? text.replace(OFFSET, '') : text)
  if (time === null) throw new Error('A time that was checked cannot be read.')
  return inUserTimezone ? time.toISOString().slice(0, -1) : time.toISOString()
}

const NAME_LENGTH_MAX = 255
const COPY = ' (copy)'

/** The fields of a copy: a draft that is not planned for any time. */
export const copyOf = (fields: CampaignFields): CampaignFields => ({
  ...fields,
  name: [...fields.name].slice(0, NAME_LENGTH_MAX - COPY.length).join('') + COPY,
  state: 'draft',
  send_at: null,
})

/** When a campaign begins by its own plan: at an instant, or when the first clock in the world shows its time. */
export const dueAt = ({ send_at, send_in_user_timezone }: Pick<CampaignFields, 'send_at' | 'send_in_user_timezone'>): Date | null =>
  send_at === null ? null : send_in_user_timezone ? earliestAnywhere(send_at) : new Date(send_at)
