/** What of a campaign can be written, before and after. Pure. */
import { distinct } from '../../lib/shapes.ts'
import { parseTime } from '../../lib/times.ts'
import type { CampaignChanges, CampaignFields, CampaignInput, CampaignRow } from './schema.ts'

/** The fields of a new campaign. */
export const draftOf = ({ type: _, channel: __, name, subscription_id, ...given }: CampaignInput): CampaignFields =>
  applied({ ...EMPTY, name, subscription_id }, given)

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
}

/** The fields of a campaign that exists. */
export function fieldsOf({
  id: _,
  project_id: __,
  type: ___,
  channel: ____,
  created_at,
  updated_at,
  ...fields
}: CampaignRow): CampaignFields {
  return fields
}

/** The fields after a write; members that are absent stay as they are. */
export function applied(before: CampaignFields, changes: CampaignChanges): CampaignFields {
  const after = { ...before, ...changes }
  return {
    ...after,
    list_ids: distinct(after.list_ids),
    exclusion_list_ids: distinct(after.exclusion_list_ids),
    tags: distinct(after.tags),
    send_at: after.send_at === null ? null : sendAt(after.send_at, after.send_in_user_timezone),
  }
}

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
