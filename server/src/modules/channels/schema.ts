import { type Static, Type } from 'typebox'
import type { ProjectId, ProviderId } from '../../lib/ids.ts'
import { CHANNELS, Changes, Exact, IdOf, Instant, Name, Nullable, OneOf, Page, Timestamp } from '../../lib/shapes.ts'
import { DAY_S } from '../../lib/times.ts'
import { PROVIDER_NAMES } from './registry.ts'

const RATE_LIMIT_MAX = 1_000_000
const RATE_INTERVAL_S_MAX = DAY_S
const SEGMENT_PRICE_MAX = 1000

const Kind = OneOf(PROVIDER_NAMES, { description: 'The kind of provider. `GET /api/client/providers/meta` describes the kinds.' })
const Channel = OneOf(CHANNELS)
const IsDefault = Type.Boolean({
  description:
    'Whether the provider sends the messages of its channel, unless a campaign uses another provider. The first provider of a channel becomes the default.',
})
const Rate = Exact(
  {
    limit: Type.Integer({ minimum: 1, maximum: RATE_LIMIT_MAX }),
    interval_seconds: Type.Integer({ minimum: 1, maximum: RATE_INTERVAL_S_MAX }),
  },
  { description: 'The highest number of attempts per interval, across all processes.' },
)
export const SegmentPrice = Exact(
  {
    amount: Type.Number({ exclusiveMinimum: 0, maximum: SEGMENT_PRICE_MAX }),
    currency: Type.String({
      pattern: '^[A-Z]{3}$',
      problem: 'is not a currency of three letters',
      description: 'ISO 4217, such as `AUD`.',
    }),
  },
  { description: 'What the provider charges for an SMS segment, for the channel `text`. Used for cost estimates only.' },
)
export type SegmentPrice = Static<typeof SegmentPrice>
const Settings = (description: string, options: object = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description, ...options })

export const ProviderInput = Exact(
  {
    name: Name(),
    kind: Kind,
    channel: Channel,
    settings: Settings(
      'The settings of the provider. Each kind of provider has its own schema for them. Secrets are encrypted and never shown.',
    ),
    is_default: Type.Optional(IsDefault),
    rate: Type.Optional(Nullable(Rate)),
    segment_price: Type.Optional(Nullable(SegmentPrice)),
  },
  { component: 'ProviderInput' },
)
export type ProviderInput = Static<typeof ProviderInput>

export const ProviderChanges = Changes({
  name: Name(),
  settings: Settings('The settings to change. Others stay unchanged, so secrets need not be sent again. Null removes a setting.', {
    component: 'ProviderSettingsChanges',
  }),
  is_default: IsDefault,
  rate: Nullable(Rate),
  segment_price: Nullable(SegmentPrice),
})
export type ProviderChanges = Static<typeof ProviderChanges>

const members = {
  id: IdOf<ProviderId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  kind: Kind,
  channel: Channel,
  settings: Settings('The settings without secrets.'),
  is_default: IsDefault,
  segment_price: Nullable(SegmentPrice),
}

export const ProviderRow = Type.Object({
  ...members,
  sealed: Nullable(Type.String()),
  secret_names: Type.Array(Type.String()),
  rate_limit: Nullable(Type.Integer()),
  rate_interval_seconds: Nullable(Type.Integer()),
  created_at: Instant,
  updated_at: Instant,
})
export type ProviderRow = Static<typeof ProviderRow>

/** A provider in replies. */
export const ConfiguredProvider = Exact({
  ...members,
  has_secrets: Type.Array(Type.String(), { description: 'The names of the secrets that are set.' }),
  rate: Nullable(Rate),
  callback_url: Nullable(
    Type.String({ description: 'The URL to which the provider must send its reports; null for kinds without reports.' }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type ConfiguredProvider = Static<typeof ConfiguredProvider>

export const ConfiguredProviders = Page(ConfiguredProvider)

export const ProviderTest = Exact({
  works: Type.Boolean(),
  message: Type.Optional(Type.String({ description: 'Why the provider does not work; absent if it works.' })),
})
export type ProviderTest = Static<typeof ProviderTest>

export const ProviderKinds = Exact({
  results: Type.Array(
    Exact({
      name: Kind,
      label: Type.String(),
      channels: Type.Array(Channel),
      settings: Settings('JSON Schema of the settings; secrets are `writeOnly`.'),
      has_callbacks: Type.Boolean({ description: 'Whether the provider sends reports.' }),
    }),
  ),
})
export type ProviderKinds = Static<typeof ProviderKinds>
