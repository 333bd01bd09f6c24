import { type Static, Type } from 'typebox'
import type { CampaignId, DomainId, ProjectId, ProviderId, SubscriptionId } from '../../lib/ids.ts'
import { CHANNELS, Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Tags, Timestamp } from '../../lib/shapes.ts'
import { EventRule } from '../rules/index.ts'
import { VariantName } from '../templates/index.ts'
import { CAMPAIGN_STATES, CAMPAIGN_TYPES, WRITABLE_STATES } from './states.ts'

const LISTS_MAX = 100
const VARIANTS_MAX = 26
const WEIGHT_MAX = 1000
const RATE_MAX = 1_000_000
const INTERVAL_MAX_S = 86_400
const EXPIRY_MAX_H = 720
const HOLDOUT_MAX_PERCENT = 90
const WINNER_AFTER_MAX_MIN = 43_200

const type = OneOf(CAMPAIGN_TYPES, { description: '`blast` goes once to lists of users; `trigger` to a user whenever an event matches.' })
const channel = OneOf(CHANNELS)
const EventName = Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The event that a trigger campaign fires on.' })
const SendAt = Line(40, {
  format: 'time',
  description:
    'When a blast goes out; with `send_in_user_timezone` the time on each user’s clock. A new one calls back what was not sent yet.',
})
const ListIds = Type.Array(IdOf(), { maxItems: LISTS_MAX, description: 'Target lists.' })
const ExclusionListIds = Type.Array(IdOf(), { maxItems: LISTS_MAX, description: 'Lists whose members get nothing.' })
const SubscriptionOf = IdOf<SubscriptionId>({ description: 'Subscription type that a user must be subscribed to.' })
const ProviderOf = IdOf<ProviderId>({ description: 'Who carries the messages; the default of the channel when it is not set.' })
const DomainOf = IdOf<DomainId>({ description: 'The domain that tracked links lead to; that of the project when it is not set.' })
const InUserTimezone = Type.Boolean({ description: 'Is `send_at` a time on each user’s clock?' })

const Rate = Exact(
  {
    limit: Type.Integer({ minimum: 1, maximum: RATE_MAX, description: 'How many messages.' }),
    interval_seconds: Type.Integer({ minimum: 1, maximum: INTERVAL_MAX_S, description: 'In how many seconds.' }),
  },
  { description: 'How fast the campaign goes out at most, besides what its provider allows.' },
)

const ExpiresAfterHours = Type.Integer({
  minimum: 1,
  maximum: EXPIRY_MAX_H,
  description: 'A message that could not go so many hours after its time is skipped with `deadline_passed`.',
})
const HoldoutPercent = Type.Integer({
  minimum: 0,
  maximum: HOLDOUT_MAX_PERCENT,
  description: 'So many in a hundred of those who could get it get nothing, to compare with. Always the same people.',
})

const Variant = Exact({ name: Name(), weight: Type.Integer({ minimum: 1, maximum: WEIGHT_MAX }) })
const Variants = Type.Array(Variant, {
  maxItems: VARIANTS_MAX,
  description: 'Ways to say it: the first is `A`, and so on, each with templates of its own. People get one by the weights.',
})

export const Winner = Exact(
  {
    metric: OneOf(['opens', 'clicks'] as const),
    test_percent: Type.Integer({ minimum: 1, maximum: 100, description: 'So many in a hundred get a variant at once.' }),
    after_minutes: Type.Integer({ minimum: 1, maximum: WINNER_AFTER_MAX_MIN, description: 'The others get the best one, so much later.' }),
  },
  { description: 'Tries the variants on some and sends the best one to the rest.' },
)
export type Winner = Static<typeof Winner>

export const WinnerNumbers = Type.Array(
  Exact({ variant: Type.Integer(), sent: Type.Integer(), opens: Type.Integer(), clicks: Type.Integer() }),
)
export type WinnerNumbers = Static<typeof WinnerNumbers>

export const CampaignInput = Exact({
  type,
  name: Name(),
  subscription_id: SubscriptionOf,
  channel: Type.Optional(channel),
  provider_id: Type.Optional(ProviderOf),
  event_name: Type.Optional(EventName),
  event_rule: Type.Optional(EventRule),
  list_ids: Type.Optional(ListIds),
  exclusion_list_ids: Type.Optional(ExclusionListIds),
  tags: Type.Optional(Tags),
  send_in_user_timezone: Type.Optional(InUserTimezone),
  send_at: Type.Optional(SendAt),
  custom_domain_id: Type.Optional(DomainOf),
  rate: Type.Optional(Rate),
  expires_after_hours: Type.Optional(ExpiresAfterHours),
  holdout_percent: Type.Optional(HoldoutPercent),
  variants: Type.Optional(Variants),
  winner: Type.Optional(Winner),
})
export type CampaignInput = Static<typeof CampaignInput>

export const CampaignChanges = Changes({
  name: Name(),
  subscription_id: SubscriptionOf,
  provider_id: Nullable(ProviderOf),
  state: OneOf(WRITABLE_STATES, { description: 'Takes the role `publisher`.' }),
  event_name: Nullable(EventName),
  event_rule: Nullable(EventRule),
  list_ids: ListIds,
  exclusion_list_ids: ExclusionListIds,
  tags: Tags,
  send_in_user_timezone: InUserTimezone,
  send_at: Nullable(SendAt),
  custom_domain_id: Nullable(DomainOf),
  rate: Nullable(Rate),
  expires_after_hours: ExpiresAfterHours,
  holdout_percent: HoldoutPercent,
  variants: Variants,
  winner: Nullable(Winner),
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
  expires_after_hours: ExpiresAfterHours,
  holdout_percent: HoldoutPercent,
  variants: Variants,
}

/** What became of a campaign's messages. */
export const Delivery = Exact({
  sent: Type.Integer({ description: 'Those that a provider took.' }),
  total: Type.Integer({ description: 'All: one for each user of the audience, or for each event.' }),
  opens: Type.Integer({ description: 'Users who opened.' }),
  clicks: Type.Integer({ description: 'Users who followed a link.' }),
  bounced: Type.Integer(),
})
export type Delivery = Static<typeof Delivery>

/** A campaign as it is read (D-CAMP-1). */
export const Campaign = Exact({
  ...columns,
  provider_id: Type.Optional(ProviderOf),
  event_name: Type.Optional(Type.String()),
  event_rule: Type.Optional(EventRule),
  send_at: Type.Optional(Type.String({ description: 'In UTC; without an offset when it is a time on each user’s clock.' })),
  custom_domain_id: Type.Optional(DomainOf),
  rate: Type.Optional(Rate),
  winner: Type.Optional(Winner),
  winner_variant: Type.Optional(VariantName),
  paused_at: Type.Optional(Timestamp),
  started_at: Type.Optional(Timestamp),
  finished_at: Type.Optional(Timestamp),
  delivery: Delivery,
  in_flight: Type.Optional(
    Type.Integer({ description: 'In the reply to an abort: how many messages a provider is being handed right now and may still send.' }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Campaign = Static<typeof Campaign>

export const CampaignRow = Type.Object({
  ...columns,
  provider_id: Nullable(ProviderOf),
  event_name: Nullable(Type.String()),
  event_rule: Nullable(EventRule),
  send_at: Nullable(Type.String()),
  custom_domain_id: Nullable(DomainOf),
  rate: Nullable(Rate),
  winner: Nullable(Winner),
  winner_variant: Nullable(Type.Integer()),
  paused_at: Nullable(Instant),
  started_at: Nullable(Instant),
  finished_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})
export type CampaignRow = Static<typeof CampaignRow>

/** What comes about by itself. */
type Found = 'winner_variant' | 'paused_at' | 'started_at' | 'finished_at' | 'created_at' | 'updated_at'

/** What of a campaign can be written. */
export type CampaignFields = Omit<CampaignRow, 'id' | 'project_id' | 'type' | 'channel' | Found>

/** What is still to be done to the messages of a campaign. */
export type PendingAction = 'hold' | 'release' | 'take_back'
