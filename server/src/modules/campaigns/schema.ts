import { type Static, Type } from 'typebox'
import type { CampaignId, DomainId, ProjectId, ProviderId, SubscriptionId } from '../../lib/ids.ts'
import { ArchivedAt, CHANNELS, Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Tags, Timestamp } from '../../lib/shapes.ts'
import { DAY_S } from '../../lib/times.ts'
import { EventRule } from '../rules/index.ts'
import { VariantName } from '../templates/index.ts'
import { MailRetries } from './mail-retries.schema.ts'
import { CAMPAIGN_STATES, CAMPAIGN_TYPES, WRITABLE_STATES } from './states.ts'

const LISTS_MAX = 100
const VARIANTS_MAX = 26
const WEIGHT_MAX = 1000
const RATE_MAX = 1_000_000
const INTERVAL_MAX_S = DAY_S
const EXPIRY_MAX_H = 720
const HOLDOUT_MAX_PERCENT = 90
const WINNER_AFTER_MAX_MIN = 43_200

const type = OneOf(CAMPAIGN_TYPES, {
  description: 'A `blast` is sent once to the users of its lists; a `trigger` is sent to a user whenever an event matches.',
})
const channel = OneOf(CHANNELS)

const SLUG_LENGTH_MAX = 64

/** The slug of a campaign: letters that need no escape in a path. */
export const Slug = Line(SLUG_LENGTH_MAX, {
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  problem: 'must be lower-case letters, digits and single hyphens, such as `password-reset`',
  description:
    'An identifier to use in requests, such as `password-reset`. It is unique within the project. Unlike the id, it can be the same in several projects. By default, it is made from `name` when the campaign is created. It does not change when `name` changes.',
})
const EventName = Type.String({
  notBlank: true,
  minLength: 1,
  maxLength: 255,
  description: 'The name of the event that sends a trigger campaign.',
})
const SendAt = Line(40, {
  format: 'time',
  description:
    'When a blast is sent. With `send_in_user_timezone` it is a local time in each user’s time zone. A new value withdraws unsent messages.',
})
const ListIds = Type.Array(IdOf(), { maxItems: LISTS_MAX, description: 'The lists to send to.' })
const ExclusionListIds = Type.Array(IdOf(), { maxItems: LISTS_MAX, description: 'Lists whose users are skipped.' })
const SubscriptionOf = IdOf<SubscriptionId>({ description: 'The subscription type that users must be subscribed to.' })
const ProviderOf = IdOf<ProviderId>({
  description: 'The provider that sends the messages. By default the default provider of the channel.',
})
const DomainOf = IdOf<DomainId>({ description: 'The domain of tracked links. By default the project’s domain.' })
const InUserTimezone = Type.Boolean({ description: 'Whether `send_at` is a local time in each user’s time zone.' })

const Rate = Exact(
  {
    limit: Type.Integer({ minimum: 1, maximum: RATE_MAX, description: 'The number of messages.' }),
    interval_seconds: Type.Integer({ minimum: 1, maximum: INTERVAL_MAX_S, description: 'The interval in seconds.' }),
  },
  { description: 'Caps the sending rate of the campaign. The rate limit of the provider applies as well.' },
)

const ExpiresAfterHours = Type.Integer({
  minimum: 1,
  maximum: EXPIRY_MAX_H,
  description:
    'A message that was not sent this many hours after its planned time is skipped with `deadline_passed`, and email that still waits in the mail queue is given up. Default: 72, or 1 if the subscription type is transactional when the campaign is created.',
})
const HoldoutPercent = Type.Integer({
  minimum: 0,
  maximum: HOLDOUT_MAX_PERCENT,
  description: 'Percentage of eligible users held out as a control group. The same users are chosen every time.',
})

const UtmValue = (description: string) => Line(255, { format: 'no-control', description })

export const Utm = Exact(
  {
    source: UtmValue('`utm_source`, such as `newsletter`.'),
    medium: UtmValue('`utm_medium`, such as `email`.'),
    campaign: UtmValue('`utm_campaign`.'),
    term: Type.Optional(UtmValue('`utm_term`.')),
    content: Type.Optional(UtmValue('`utm_content`.')),
  },
  {
    description:
      'Parameters that are added to web links in the messages, unless a link already has them. They are not added to unsubscribe links.',
  },
)

const Variant = Exact({ name: Name(), weight: Type.Integer({ minimum: 1, maximum: WEIGHT_MAX }) })
const Variants = Type.Array(Variant, {
  maxItems: VARIANTS_MAX,
  description:
    'Variants of an A/B test. The first one is `A`, the second `B` and so on; each has its own templates. Users are assigned by weight.',
})

export const Winner = Exact(
  {
    metric: OneOf(['opens', 'clicks'] as const),
    test_percent: Type.Integer({ minimum: 1, maximum: 100, description: 'Percentage of users who get a variant in the test.' }),
    after_minutes: Type.Integer({
      minimum: 1,
      maximum: WINNER_AFTER_MAX_MIN,
      description: 'Minutes from the start until the winner is chosen and sent to the other users.',
    }),
  },
  { description: 'Tests the variants on some users and sends the best one to the others.' },
)
export type Winner = Static<typeof Winner>

export const WinnerNumbers = Type.Array(
  Exact({ variant: Type.Integer(), sent: Type.Integer(), opens: Type.Integer(), clicks: Type.Integer() }),
)
export type WinnerNumbers = Static<typeof WinnerNumbers>

export const CampaignInput = Exact({
  type,
  name: Name(),
  slug: Type.Optional(Slug),
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
  utm: Type.Optional(Utm),
  mail_retries: Type.Optional(MailRetries),
  expires_after_hours: Type.Optional(ExpiresAfterHours),
  holdout_percent: Type.Optional(HoldoutPercent),
  variants: Type.Optional(Variants),
  winner: Type.Optional(Winner),
})
export type CampaignInput = Static<typeof CampaignInput>

export const CampaignChanges = Changes({
  name: Name(),
  slug: Slug,
  subscription_id: SubscriptionOf,
  provider_id: Nullable(ProviderOf),
  state: OneOf(WRITABLE_STATES, { description: 'Setting it needs the role `publisher`.' }),
  event_name: Nullable(EventName),
  event_rule: Nullable(EventRule),
  list_ids: ListIds,
  exclusion_list_ids: ExclusionListIds,
  tags: Tags,
  send_in_user_timezone: InUserTimezone,
  send_at: Nullable(SendAt),
  custom_domain_id: Nullable(DomainOf),
  rate: Nullable(Rate),
  utm: Nullable(Utm),
  mail_retries: Nullable(MailRetries),
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

const PAUSED_REASONS = ['render_budget'] as const

/** The main message counts of a campaign. */
export const Delivery = Exact({
  sent: Type.Integer({ description: 'Messages that a provider accepted.' }),
  total: Type.Integer({
    description:
      'All messages, including skipped ones. A blast has one for each user of its audience. A trigger campaign has one for each time that an event, a request or a journey sends it.',
  }),
  opens: Type.Integer({ description: 'Messages that were opened.' }),
  clicks: Type.Integer({ description: 'Messages in which a link was clicked.' }),
  bounced: Type.Integer(),
})
export type Delivery = Static<typeof Delivery>

/** A campaign in API replies (D-CAMP-1). */
export const Campaign = Exact({
  ...columns,
  slug: Type.Optional(Slug),
  is_direct: Type.Optional(
    Type.Boolean({
      description: 'True for a campaign that the server made for messages whose content comes with the request. Absent otherwise.',
    }),
  ),
  provider_id: Type.Optional(ProviderOf),
  event_name: Type.Optional(Type.String()),
  event_rule: Type.Optional(EventRule),
  send_at: Type.Optional(Type.String({ description: 'In UTC, or without an offset if it is a local time in each user’s time zone.' })),
  custom_domain_id: Type.Optional(DomainOf),
  rate: Type.Optional(Rate),
  utm: Type.Optional(Utm),
  mail_retries: Type.Optional(MailRetries),
  winner: Type.Optional(Winner),
  winner_variant: Type.Optional(VariantName),
  is_paused: Type.Optional(
    Type.Boolean({
      description:
        'True while the campaign is paused: nothing is launched, loaded or sent until it is resumed, in any `state`. Absent otherwise.',
    }),
  ),
  paused_at: Type.Optional(Timestamp),
  paused_reason: Type.Optional(
    OneOf(PAUSED_REASONS, {
      description:
        'Why the server paused the campaign. `render_budget`: the templates of ten messages within an hour exceeded their limits. Absent if a request paused it.',
    }),
  ),
  started_at: Type.Optional(Timestamp),
  finished_at: Type.Optional(Timestamp),
  delivery: Delivery,
  in_flight: Type.Optional(
    Type.Integer({
      description:
        'Only in the reply to an abort: the number of messages being given to a provider, which may still be sent. Of email that the server delivers itself, this includes what workers hold; most of that is not sent.',
    }),
  ),
  archived_at: ArchivedAt,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Campaign = Static<typeof Campaign>

export const CampaignRow = Type.Object({
  ...columns,
  slug: Nullable(Slug),
  is_direct: Type.Boolean(),
  provider_id: Nullable(ProviderOf),
  event_name: Nullable(Type.String()),
  event_rule: Nullable(EventRule),
  send_at: Nullable(Type.String()),
  custom_domain_id: Nullable(DomainOf),
  rate: Nullable(Rate),
  utm: Nullable(Utm),
  mail_retries: Nullable(MailRetries),
  winner: Nullable(Winner),
  winner_variant: Nullable(Type.Integer()),
  paused_at: Nullable(Instant),
  paused_reason: Nullable(OneOf(PAUSED_REASONS)),
  started_at: Nullable(Instant),
  finished_at: Nullable(Instant),
  archived_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})
export type CampaignRow = Static<typeof CampaignRow>

/** Fields that the server sets. */
type ServerField =
  | 'is_direct'
  | 'winner_variant'
  | 'paused_at'
  | 'paused_reason'
  | 'started_at'
  | 'finished_at'
  | 'archived_at'
  | 'created_at'
  | 'updated_at'

/** The fields of a campaign that a caller can write. */
export type CampaignFields = Omit<CampaignRow, 'id' | 'project_id' | 'type' | 'channel' | ServerField>

/** What remains to be done to the messages of a campaign after a write. */
export type PendingAction = 'hold' | 'release' | 'withdraw'
