/** Users, devices, events, subscription types and consent. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { EXPORTED } from '../../modules/users/index.ts'
import { CHANGED, CREATED, of, since } from './times.ts'

export const user = {
  ...of(1042),
  external_id: 'customer-1042',
  anonymous_id: null,
  email: 'kim@example.com',
  phone: '+61412345678',
  timezone: 'Australia/Sydney',
  locale: 'en-AU',
  data: { plan: 'pro', first_name: 'Kim' },
  has_push_device: true,
  ...since,
}

const device = {
  device_id: 'ipad-7',
  os: 'iOS',
  os_version: '19.1',
  model: 'iPad15,3',
  app_build: '412',
  app_version: '5.2.0',
  has_token: true,
  ...since,
}

const session =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJwaWQiOjEsInN1YiI6IjEwNDIifQ.xFpVcRfV4l3vo35j2ISPv6UUdYDxXctdRAXIUOf7v8'

const NOT_AN_EMAIL =
  'The value of `email` is not a valid email address; write it like `kim@example.com`, an international domain in its `xn--` form.'

const NOT_A_LOCALE = 'The value of `locale` is not a locale; use a language tag such as `en-AU`.'

const none = Object.fromEntries(Object.keys(EXPORTED).map((name) => [name, []]))

const exported = {
  exported_at: CHANGED,
  user_id: 1042,
  ...none,
  profiles: [{ ...user, merged_into: null, merged_at: null }],
  events: [{ user_id: 1042, name: 'order_placed', data: { total: 89.9 }, source: 'api', created_at: CREATED, received_at: CREATED }],
}

export const userExamples = {
  User: user,
  UserErasureReply: {
    id: 4,
    user_id: 1042,
    state: 'finished',
    removed: { profiles: 1, events: 212, messages: 14 },
    requested_at: CREATED,
    finished_at: CHANGED,
  },
  UserExportReply: exported,
  OwnUserReply: { ...user, devices: [device] },
  UserReply: { ...user, devices: [device], suppressions: [{ channel: 'text', reason: 'unsubscribed_all', stops_transactional: true }] },
  UserUpsert: { external_id: 'customer-1042', email: 'kim@example.com', locale: 'en-AU', data: { plan: 'pro' } },
  UserBatch: { index: 0, external_id: 'customer-1042', user },
  BatchResult: {
    results: [
      { index: 0, external_id: 'customer-1042', user },
      {
        index: 1,
        external_id: 'customer-1043',
        error: {
          code: 'parameter_invalid_format',
          message: `${NOT_AN_EMAIL} ${NOT_A_LOCALE}`,
          errors: [
            { code: 'parameter_invalid_format', param: 'email', message: NOT_AN_EMAIL },
            { code: 'parameter_invalid_format', param: 'locale', message: NOT_A_LOCALE },
          ],
        },
      },
    ],
    succeeded: 1,
    failed: 1,
  },
  UserSessionReply: { token: session, expires_at: '2026-11-20T03:11:21.664Z' },
  DeviceReply: device,
  DeviceInput: {
    device_id: 'ipad-7',
    token: '740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad',
    os: 'iOS',
    external_id: 'customer-1042',
  },

  EventInput: { name: 'order_placed', external_id: 'customer-1042', data: { total: 89.9, currency: 'AUD' } },
  UserEvent: { name: 'order_placed', data: { total: 89.9, currency: 'AUD' }, created_at: CHANGED, received_at: CHANGED, source: 'api' },
  EventStat: { name: 'order_placed', count: 3, days: [{ day: '2026-11-21', count: 3 }] },
  EventStatList: {
    since: '2026-10-25',
    until: '2026-11-23',
    total: 3,
    has_more: false,
    results: [{ name: 'order_placed', count: 3, days: [{ day: '2026-11-21', count: 3 }] }],
  },
  SchemaEvent: {
    name: 'order_placed',
    count: 3,
    first_seen: CREATED,
    last_seen: CHANGED,
    attributes: [
      { key: 'data.currency', types: ['string'], coverage: 1, samples: ['AUD'] },
      { key: 'data.total', types: ['number'], coverage: 1, samples: [89.9] },
    ],
  },
  SchemaAttribute: { key: 'data.plan', types: ['string'], people: 812, coverage: 0.64, samples: ['pro', 'free'], last_seen: CHANGED },
  SchemaAttributeList: {
    results: [{ key: 'data.plan', types: ['string'], people: 812, coverage: 0.64, samples: ['pro', 'free'], last_seen: CHANGED }],
    people: 1269,
    as_of: CHANGED,
  },

  Subscription: {
    ...of(6),
    name: 'Newsletter',
    channel: 'email',
    is_public: true,
    default_state: 0,
    is_transactional: false,
    requires_confirmation: false,
    description: 'News and offers, at most once a week.',
    ...since,
  },
  SubscriptionInput: {
    name: 'Newsletter',
    channel: 'email',
    is_public: true,
    default_state: 0,
    description: 'News and offers, at most once a week.',
  },
  SubscriptionChanges: { description: 'News and offers, at most twice a month.' },
  UserSubscription: { subscription_id: 1, state: 1, name: 'Default Email', channel: 'email' },
  UserSubscriptionInput: { subscription_id: 1, state: 1 },
  OwnUserSubscriptionInput: { subscription_id: 1, state: 0 },
  UserConsent: {
    id: 9,
    subscription_id: 1,
    state: 1,
    previous_state: 0,
    source: 'api',
    wording: null,
    proof: { key_id: 9, request_id: 'req_01KAFW6V7Q3M8Z5N4P2R9S0T1X' },
    at: CREATED,
  },
  Suppression: {
    id: 15,
    channel: 'email',
    address: 'lee@example.net',
    reason: 'manual',
    source: { key_id: 9, request_id: 'req_01KAFW6V7Q3M8Z5N4P2R9S0T1X' },
    created_at: CREATED,
  },
  SuppressionInput: { channel: 'email', address: 'lee@example.net' },
  PageThemeInput: { brand_name: 'Shop', logo_url: 'https://shop.example.com/logo.png', accent_color: '#b4690e' },
  PageThemePreviewInput: { theme: { brand_name: 'Shop', accent_color: '#b4690e' }, locale: 'de' },
  PageThemePreview: { html: '<!doctype html><html lang="de"><title>Einstellungen</title></html>' },
  PageThemeReply: { brand_name: 'Shop', logo_url: 'https://shop.example.com/logo.png', accent_color: '#b4690e', footer_text: null },
}

const page = (state: number) => ({
  results: [{ subscription_id: 1, state, name: 'Default Email', channel: 'email' }],
  nextCursor: null,
  prevCursor: null,
  limit: 100,
})

export const userOperations: Words['operations'] = {
  updateOwnUserSubscriptions: { reply: page(0) },
  updateUserSubscriptions: { reply: page(1) },
}
