import { type Static, Type } from 'typebox'
import type { CampaignId, ProjectId, ProviderId, SubscriptionId } from '../../lib/ids.ts'
import { CHANNELS, Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Tags, Timestamp } from '../../lib/shapes.ts'
import { CAMPAIGN_STATES, CAMPAIGN_TYPES, WRITABLE_STATES } from './states.ts'

const LISTS_MAX = 100

const type = OneOf(CAMPAIGN_TYPES, { description: '`blast` goes once to lists of users; `trigger` to a user whenever an event matches.' })
const channel = OneOf(CHANNELS)
const EventName = Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The event that a trigger campaign fires on.' })
const SendAt = Line(40, {
  format: 'time',
  description: 'When a blast goes out; with `send_in_user_timezone` the time on each user’s clock.',
})
const ListIds = Type.Array(IdOf(), { maxItems: LISTS_MAX, description: 'Target lists.' })
const ExclusionListIds = Type.Array(IdOf(), { maxItems: LISTS_MAX, description: 'Lists whose members get nothing.' })
const SubscriptionOf = IdOf<SubscriptionId>({ description: 'Subscription type that a user must be subscribed to.' })
const InUserTimezone = Type.Boolean({ description: 'Is `send_at` a time on each user’s clock?' })

export const CampaignInput = Exact({
  type,
  name: Name(),
  subscription_id: SubscriptionOf,
  channel: Type.Optional(channel),
  provider_id: Type.Optional(IdOf<ProviderId>()),
  event_name: Type.Optional(EventName),
  list_ids: Type.Optional(ListIds),
  exclusion_list_ids: Type.Optional(ExclusionListIds),
  tags: Type.Optional(Tags),
  send_in_user_timezone: Type.Optional(InUserTimezone),
  send_at: Type.Optional(SendAt),
  custom_domain_id: Type.Optional(IdOf()),
})
export type CampaignInput = Static<typeof CampaignInput>

export const CampaignChanges = Changes({
  name: Name(),
  subscription_id: SubscriptionOf,
  provider_id: Nullable(IdOf<ProviderId>()),
  state: OneOf(WRITABLE_STATES, { description: 'Takes the role `publisher`.' }),
  event_name: Nullable(EventName),
  list_ids: ListIds,
  exclusion_list_ids: ExclusionListIds,
  tags: Tags,
  send_in_user_timezone: InUserTimezone,
  send_at: Nullable(SendAt),
  custom_domain_id: Nullable(IdOf()),
})
export type CampaignChanges = Static<typeof CampaignChanges>

const columns = {
  id: IdOf<CampaignId>(),
  project_id: IdOf<ProjectId>(),
  type,
  name: Type.String(),
  channel,
  subscription_id: SubscriptionOf,
  state: OneOf(CAMPAIGN_STATES),
  list_ids: Type.Array(IdOf()),
  exclusion_list_ids: Type.Array(IdOf()),
  tags: Type.Array(Type.String()),
  send_in_user_timezone: InUserTimezone,
}

/** What became of a campaign's messages. */
export const Delivery = Exact({
  sent: Type.Integer(),
  total: Type.Integer(),
  opens: Type.Integer(),
  clicks: Type.Integer(),
  bounced: Type.Integer(),
})
export type Delivery = Static<typeof Delivery>

/** A campaign as it is read (D-CAMP-1). */
export const Campaign = Exact({
  ...columns,
  provider_id: Type.Optional(IdOf<ProviderId>()),
  event_name: Type.Optional(Type.String()),
  send_at: Type.Optional(Type.String({ description: 'In UTC; without an offset when it is a time on each user’s clock.' })),
  custom_domain_id: Type.Optional(IdOf()),
  delivery: Delivery,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Campaign = Static<typeof Campaign>

export const CampaignRow = Type.Object({
  ...columns,
  provider_id: Nullable(IdOf<ProviderId>()),
  event_name: Nullable(Type.String()),
  send_at: Nullable(Type.String()),
  custom_domain_id: Nullable(IdOf()),
  created_at: Instant,
  updated_at: Instant,
})
export type CampaignRow = Static<typeof CampaignRow>

/** What of a campaign can be written. */
export type CampaignFields = Omit<CampaignRow, 'id' | 'project_id' | 'type' | 'channel' | 'created_at' | 'updated_at'>

const template = {
  id: IdOf(),
  campaign_id: IdOf<CampaignId>(),
  locale: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'What the message says, by channel; every string is Liquid.' }),
}

export const Template = Exact({ ...template, created_at: Timestamp, updated_at: Timestamp })
export type Template = Static<typeof Template>

export const TemplateRow = Type.Object({ ...template, created_at: Instant, updated_at: Instant })
export type TemplateRow = Static<typeof TemplateRow>
