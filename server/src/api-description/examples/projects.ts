/** Projects, keys, attributes, providers, domains and webhook endpoints. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { CHANGED, CREATED, of, since } from './times.ts'

const project = {
  id: 1,
  organization_id: 1,
  name: 'Shop',
  locale: 'en-AU',
  timezone: 'Australia/Sydney',
  description: null,
  website_url: 'https://shop.example.com',
  text_opt_out_message: null,
  text_help_message: null,
  link_wrap_email: true,
  link_wrap_push: false,
  track_opens_email: null,
  deeplink_mirror_url: '',
  test_recipients: ['@team.example'],
  ...since,
}

const auditEntry = {
  id: 5120,
  project_id: 1,
  position: 412,
  action: 'campaign.updated',
  object: { type: 'campaign', id: '7', name: 'Spring sale' },
  actor: { type: 'key', id: 9, name: 'Shop server' },
  via: 'api',
  request_id: 'req_01KAFW6V7Q3M8Z5N4P2R9S0T1X',
  before: { state: 'draft' },
  after: { state: 'scheduled' },
  details: null,
  previous_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  hash: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
  created_at: CHANGED,
}

const smtp = {
  ...of(3),
  name: 'Mail relay',
  kind: 'smtp',
  channel: 'email',
  settings: { host: 'smtp.example.com', port: 587, tls: 'starttls', username: 'carillon', default_from: 'Shop <hello@news.example.com>' },
  is_default: true,
  segment_price: null,
  has_secrets: ['password'],
  rate: { limit: 20, interval_seconds: 1 },
  callback_url: null,
  ...since,
}

const domain = {
  ...of(2),
  host: 'links.example.com',
  is_verified: true,
  is_default: true,
  problem: null,
  sending: {
    domain: 'example.com',
    is_verified: true,
    problem: null,
    verified_at: CHANGED,
    return_path: 'bounce.example.com',
    dns_host: 'Cloudflare',
    dmarc: {
      policy: 'none',
      is_inherited: false,
      next_policy: 'quarantine',
      next_at: '2026-12-04T02:56:21.664Z',
      reports_to: ['dmarc@example.com'],
    },
  },
  dns: [
    { type: 'CNAME', name: 'links.example.com', value: 'carillon.example.net' },
    { type: 'TXT', name: '_carillon.links.example.com', value: 'carillon-verification=CWm48OReVI-WtvtJnk_xD9km' },
  ],
  records: [
    {
      purpose: 'dkim',
      type: 'TXT',
      name: 'c5f0e2a9b71e._domainkey.example.com',
      value: 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      is_required: false,
      status: 'ok',
      found: ['v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
      note: null,
    },
    {
      purpose: 'return_path',
      type: 'MX',
      name: 'bounce.example.com',
      value: '10 carillon.example.net',
      is_required: false,
      status: 'missing',
      found: [],
      note: null,
    },
  ],
  checked_at: CHANGED,
  verified_at: CHANGED,
  ...since,
}

const endpoint = {
  ...of(5),
  name: 'Delivery log',
  url: 'https://example.com/hooks/carillon',
  status: 'active',
  event_types: ['delivery.delivered', 'delivery.dsn-perm-fail'],
  has_secret: true,
  ...since,
}

const key = {
  ...of(9),
  name: 'Checkout server',
  scope: 'secret',
  role: 'publisher',
  value: 'sk_********yvWX',
  description: null,
  allowed_origins: [],
  is_system_key: false,
  ...since,
}

/** A key in the reply that creates it, in full. This one was never valid. */
const newKey = { ...key, value: 'sk_5XBhYecUZpsVq6rYi3yg5Vne2pZVGpv1gc0CyvWX' }

const warmUp = {
  is_active: true,
  steps: [50, 100, 500, 1000, 5000],
  bounce_percent_max: 5,
  deferral_percent_max: 20,
  is_per_address: false,
  sites: [{ site: 'google', source_address: '', step: 3, ceiling: 500, sent: 214, bounced: 1, deferred: 4 }],
  ...since,
}

export const projectOperations: Words['operations'] = {
  createKey: { reply: newKey },
  createProjectKey: { reply: newKey },
  getDomainWarmUp: { reply: warmUp },
  setDomainWarmUp: { reply: warmUp },
  getDomainZoneFile: {
    reply:
      'c5f0e2a9b71e._domainkey.example.com. 3600 IN TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="\nbounce.example.com. 3600 IN MX 10 carillon.example.net.\n',
  },
}

export const projectExamples = {
  Project: project,
  ProjectReply: { ...project, role: 'admin', has_provider: true },
  OwnProjectReply: { id: 1, name: 'Shop', locale: 'en-AU', timezone: 'Australia/Sydney' },
  ProjectInput: { name: 'Shop', locale: 'en-AU', timezone: 'Australia/Sydney', website_url: 'https://shop.example.com' },
  ProjectDeletion: { name: 'Shop' },
  ProjectSizeReply: { users: 48_210, messages: 912_440, waiting_messages: 1200, campaigns: 31, journeys: 4, lists: 12, keys: 3 },
  ProjectChanges: { link_wrap_email: true, track_opens_email: true },

  Key: key,
  KeyInput: { name: 'Checkout server', scope: 'secret', role: 'publisher' },
  KeyChanges: { name: 'Checkout', role: 'editor' },

  Attribute: { key: 'plan', min_role: 'editor', hidden: false, end_user: true, label: 'Plan', personal_data: false },
  AttributeInput: { min_role: 'editor', end_user: true, label: 'Plan' },

  Provider: smtp,
  ProviderInput: {
    name: 'Mail relay',
    kind: 'smtp',
    channel: 'email',
    settings: { ...smtp.settings, password: 'correct-horse-battery' },
    is_default: true,
    rate: { limit: 20, interval_seconds: 1 },
  },
  ProviderChanges: { settings: { password: 'a-new-password' }, rate: null },
  ProviderMeta: {
    name: 'fcm',
    label: 'Firebase Cloud Messaging',
    channels: ['push'],
    settings: {
      type: 'object',
      required: ['service_account'],
      properties: {
        service_account: {
          type: 'string',
          minLength: 1,
          maxLength: 8192,
          title: 'Service account',
          writeOnly: true,
          description: 'The content of the service account’s key file, as JSON.',
        },
      },
      additionalProperties: false,
    },
    has_callbacks: false,
  },
  ProviderTestReply: { works: true },

  Domain: domain,
  DomainInput: { sending_domain: 'example.com', is_default: true },
  DomainChanges: { is_default: true },
  DomainWarmUpInput: { steps: [50, 100, 500, 1000, 5000] },

  MailSite: {
    site: 'google',
    label: 'Google',
    state: 'slowed',
    state_until: '2026-11-20T04:26:21.664Z',
    state_reason: 'google-rate',
    limits: { connections: 5, mails_per_connection: 50, connections_per_minute: 100, mails_per_second: 100 },
    project_limits: { mails_per_second: 20 },
    last_reply: '421 4.7.28 Unusual rate of unsolicited mail',
    last_replied_at: CREATED,
    last_24_hours: { delivered: 9120, deferred: 240, bounced: 640, deferral_share: 0.024, bounce_share: 0.064 },
  },
  MailSiteDayReply: {
    first_day: '2026-10-23',
    last_day: '2026-11-20',
    sites: [{ site: 'google', label: 'Google', days: [{ day: '2026-11-19', delivered: 48120, bounced: 96, complained: 7 }] }],
  },
  MailSiteInput: { limits: { mails_per_second: 20 } },

  AuditEntry: auditEntry,
  AuditCheck: { is_intact: true, entries: 4120, first_wrong: null },

  Webhook: endpoint,
  WebhookReply: { ...endpoint, signing_secret: 'whsec_CoAuvM6Z2mSTNPajX1uBUHxlcmvZVVSDENVQkdO40xU=' },
  WebhookInput: {
    name: 'Delivery log',
    url: 'https://example.com/hooks/carillon',
    event_types: ['delivery.delivered', 'delivery.dsn-perm-fail'],
  },
  WebhookChanges: { status: 'inactive' },
  WebhookRotateSecretInput: { grace_period_seconds: 3600 },
  WebhookTestInput: { event_type: 'delivery.delivered' },
  WebhookTestReply: { delivery_id: 301 },
  WebhookReplayInput: { since: '2026-11-20T00:00:00.000Z', unaccepted_only: true },
  WebhookReplay: {
    id: 12,
    event_types: ['delivery.delivered', 'delivery.dsn-perm-fail'],
    unaccepted_only: true,
    status: 'running',
    deliveries: 0,
    since: '2026-11-20T00:00:00.000Z',
    until: CREATED,
    created_at: CREATED,
    finished_at: null,
  },
  WebhookAttemptReply: {
    first_hour: '2026-11-19T03:00:00.000Z',
    endpoints: [{ endpoint_id: 5, hours: [{ hour: '2026-11-20T02:00:00.000Z', succeeded: 412, failed: 3 }] }],
  },
  WebhookDeliveryReply: {
    id: 301,
    event_id: 'evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X',
    event_type: 'delivery.delivered',
    status: 'succeeded',
    attempts: 1,
    last_status_code: 200,
    last_error: null,
    next_attempt_at: null,
    created_at: CREATED,
    url: 'https://example.com/hooks/carillon',
    body: '{"id":"evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X","type":"delivery.delivered","timestamp":"2026-11-20T02:56:21.664Z","project_id":1,"api_version":"2026-11-20","data":{"message_id":"42","email":"kim@example.org"}}',
    attempt_log: [
      {
        attempted_at: CREATED,
        elapsed_ms: 141,
        status_code: 200,
        error: null,
        response_body: 'ok',
        headers: {
          'content-type': 'application/json',
          'service-signature': 't=1763607381,v1=5c1e7e0b2c3f5a0d9b4c8f6e1d2a7b3c9e8f0a1b2c3d4e5f60718293a4b5c6d7',
          'webhook-id': 'evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X',
          'webhook-timestamp': '1763607381',
          'webhook-signature': 'v1,XB5+Cyw/Wg2bTI9uHSp7PJ6PChssPU5fYHGCk6S1xtc=',
        },
      },
    ],
  },
  WebhookDelivery: {
    id: 301,
    event_id: 'evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X',
    event_type: 'delivery.delivered',
    status: 'succeeded',
    attempts: 1,
    last_status_code: 200,
    last_error: null,
    next_attempt_at: null,
    created_at: CREATED,
  },
}
