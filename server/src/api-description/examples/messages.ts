/** Messages and the API log: the sandbox, the in-app inbox and the sending policy. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { OPENED, SENT } from './times.ts'

const inbox = {
  id: 88301,
  campaign_id: 9,
  type: 'inbox',
  title: 'Your order is on its way',
  body: 'It arrives tomorrow.',
  html: null,
  image: null,
  action_url: 'https://shop.example.com/orders/5512',
  created_at: SENT,
  expires_at: null,
  seen_at: null,
  read_at: null,
  clicked_at: null,
  archived_at: null,
}

const sandbox = {
  id: 88214,
  channel: 'email',
  campaign_id: 7,
  user_id: 1042,
  recipient: 'kim@example.com',
  summary: 'Spring sale: 20% off',
  created_at: SENT,
}

const sent = {
  id: 88214,
  state: 'queued',
  reason: null,
  detail: null,
  user: { id: 1042, external_id: 'ana', anonymous_id: null },
  duplicate: false,
}

const input = {
  campaign: 'password-reset',
  user: { external_id: 'ana', email: 'ana@example.com' },
  data: { link: 'https://app.example.com/reset/f81d4fae' },
  key: 'reset-7731',
  redact: ['data.link'],
}

const summary = {
  id: 88214,
  campaign_id: 7,
  channel: 'email',
  state: 'delivered',
  reason: null,
  detail: null,
  recipient: 'ana@example.com',
  provider: 'smtp',
  attempts: 1,
  user: { id: 1042, external_id: 'ana' },
  created_at: SENT,
  due_at: SENT,
  expires_at: '2026-11-24T10:00:04.000Z',
  settled_at: SENT,
  opened_at: OPENED,
  clicked_at: null,
}

const whole = {
  ...summary,
  content: { to: 'ana@example.com', subject: 'Reset your password', html: '<p>[redacted]</p>', text: '[redacted]' },
  timeline: [
    { at: SENT, what: 'queued', reason: null, detail: null },
    { at: SENT, what: 'delivered', reason: null, detail: null },
    { at: OPENED, what: 'opened', reason: null, detail: null },
  ],
}

const attempt = {
  attempt: 1,
  at: SENT,
  outcome: 'deferred',
  host: 'mx1.example.com',
  ip: '192.0.2.25',
  code: 451,
  enhanced_code: '4.7.1',
  response: '451 4.7.1 Greylisted, try again in 5 minutes',
  tls: 'TLSv1.3',
}

const queued = {
  message_id: 88214,
  campaign_id: 7,
  source: 'message',
  from: 'news@example.org',
  recipient: 'ana@example.com',
  domain: 'example.com',
  site: 'mx1.example.com',
  state: 'waiting',
  attempts: 1,
  next_attempt_at: '2026-11-23T10:05:41.000Z',
  last_attempt: attempt,
  created_at: SENT,
  expires_at: '2026-11-24T10:00:04.000Z',
  finished_at: null,
}

const activity = {
  id: 5120,
  type: 'email_clicked',
  user: { id: 1042, external_id: 'ana' },
  message_id: 88214,
  campaign_id: 7,
  data: { url: 'https://app.example.com/welcome' },
  created_at: OPENED,
}

const tlsResult = {
  id: 61,
  day: '2026-11-23T00:00:00.000Z',
  domain: 'example.com',
  policy: 'sts',
  result: 'success',
  count: 4120,
}

const week = { sent: 4120, delivered: 4031, opened: 1980, clicked: 402, bounced: 61, complained: 2, failed: 3 }
const problem = {
  kind: 'webhook_disabled',
  message: 'The webhook endpoint “Delivery log” was disabled. It failed for 5 days.',
  object: { type: 'webhook', id: '5', name: 'Delivery log' },
}
const inProgress = {
  campaign_id: 7,
  name: 'Spring sale',
  channel: 'email',
  state: 'running',
  is_paused: false,
  sent: 1042,
  total: 5601,
  started_at: SENT,
}
const ofChannel = { channel: 'email', last_7_days: week, previous_7_days: { ...week, sent: 3990, delivered: 3921 } }
const reachability = { channel: 'email', is_reachable: false, reason: 'suppressed', detail: 'hard_bounce', subscribed: 2, subscriptions: 3 }

const REPORTED = {
  messages: 812,
  sent: 800,
  delivered: 790,
  opened: 310,
  clicked: 52,
  bounced: 10,
  complained: 0,
  failed: 3,
  unsubscribed: 4,
}
const REPORTED_BEFORE = {
  messages: 640,
  sent: 631,
  delivered: 625,
  opened: 240,
  clicked: 48,
  bounced: 6,
  complained: 1,
  failed: 2,
  unsubscribed: 3,
}

export const messageExamples = {
  ResentMessage: { id: 88377, resent_from: 88214, state: 'queued', reason: null, detail: null },
  LoggedRequest: {
    id: 90412,
    request_id: 'req_01KAFW6V7Q3M8Z5N4P2R9S0T1X',
    method: 'POST',
    route: '/api/client/events',
    params: {},
    query: {},
    body: {
      name: 'order_placed',
      external_id: '[text, 3 characters]',
      data: '[object, 2 members]',
      created_at: '2026-11-20T02:56:21.664Z',
    },
    status: 204,
    code: null,
    param: null,
    elapsed_ms: 4,
    actor: { type: 'key', id: 9, name: 'Shop server' },
    via: 'api',
    original_request: null,
    left_out: 0,
    created_at: SENT,
  },
  MessageReport: {
    since: '2026-11-23',
    until: '2026-11-23',
    previous_since: '2026-11-22',
    total: REPORTED,
    previous: REPORTED_BEFORE,
    days: [{ day: '2026-11-23', ...REPORTED }],
    channels: [{ channel: 'email', total: REPORTED, previous: REPORTED_BEFORE }],
    campaigns_total: 1,
    campaigns: [{ campaign_id: 7, name: 'Spring sale', channel: 'email', total: REPORTED, previous: REPORTED_BEFORE }],
    journeys_total: 1,
    journeys: [{ journey_id: 3, name: 'Welcome', total: REPORTED, previous: REPORTED_BEFORE }],
  },
  Overview: {
    problems: [problem],
    sending: [inProgress],
    processing: { waiting_since: null, parked: 0 },
    channels: [ofChannel],
    read_at: OPENED,
  },
  SearchResult: { type: 'campaign', id: '7', name: 'Spring sale', detail: 'running' },
  SearchResults: { results: [{ type: 'campaign', id: '7', name: 'Spring sale', detail: 'running' }] },
  ReachabilityOfChannel: reachability,
  Reachability: { results: [reachability] },
  UserTimelineItem: {
    kind: 'message',
    name: 'email_delivered',
    data: { campaign_id: 7, message_id: 88214 },
    source: 'system',
    created_at: OPENED,
  },

  TlsResult: tlsResult,
  QueuedRecipient: queued,
  MailQueuePage: { results: [queued], limit: 25, nextCursor: null, prevCursor: null },
  MailQueuePauseList: { results: [{ campaign_id: 7 }, { site: 'google' }] },
  MailQueuePause: { site: 'google' },
  MailQueueRetryInput: { domain: 'example.com' },
  MailQueueRetryReply: { recipients: 12 },
  ActivityItem: activity,
  Activity: { results: [activity], cursor: '5118' },
  MessageInput: input,
  SentMessage: sent,
  SentMessages: {
    results: [
      { index: 0, message: sent },
      { index: 1, error: { code: 'resource_missing', message: 'No campaign with that identifier exists in this project.' } },
    ],
    succeeded: 1,
    failed: 1,
  },
  MessageSummary: summary,
  MessageWhole: whole,
  SandboxMessage: sandbox,
  SandboxMessageReply: {
    ...sandbox,
    external_id: 'customer-1042',
    view_url: 'https://carillon.example.com/v/1-88214-5c1e7e0b2c3f5a0d9b4c8f',
    preferences_url: 'https://carillon.example.com/s/p/5c1e7e0b2c3f5a0d9b4c8f1-sy',
    content: {
      to: 'kim@example.com',
      subject: 'Spring sale: 20% off',
      html: '<p>Hello Kim</p><p><a href="https://shop.example.com/sale">See the sale</a></p>',
      text: 'Hello Kim\n\nSee the sale (https://shop.example.com/sale)',
    },
  },
  SandboxMessageCheckReply: {
    size_bytes: 8412,
    findings: [
      {
        kind: 'missing_alt',
        severity: 'warning',
        param: 'html',
        line: 12,
        message:
          'The image has no `alt` text, which is shown or read out when the image is not displayed. Use `alt=""` for decorative images.',
      },
    ],
    links: [
      {
        url: 'https://links.example.com/c/1-2s-7-sy-1w2e-m3x1k0-1-Zk3v?u=https%3A%2F%2Fshop.example.com%2Fsale',
        target: 'https://shop.example.com/sale',
        text: 'See the sale',
        line: 8,
        kind: 'tracked',
        problem: null,
      },
      { url: '/returns', target: null, text: 'Returns', line: 21, kind: 'none', problem: 'relative' },
    ],
  },
  SandboxMessageReleaseInput: { to: 'kim@example.com' },
  SandboxMessageReleaseReply: { is_accepted: true, message: null },
  SandboxFaultPolicyReply: { bounce_percent: 5, complaint_percent: 1, soft_fail_percent: 10, delay_seconds: 0 },
  SendingPolicyReply: {
    caps: [{ channels: ['email'], max: 3, window_hours: 168 }],
    quiet_hours: { channels: ['text', 'push'], from: '21:00', to: '08:00' },
  },
  OwnUserMessage: inbox,
  OwnUserMessageChanges: { read: true },
  OwnUserMessageReadAllReply: { changed: 3, unread: 0 },
  OwnUserMessageUnreadCountReply: { unread: 3 },
}

export const messageOperations: Words['operations'] = {
  updateOwnUserMessage: { reply: { ...inbox, seen_at: OPENED, read_at: OPENED } },
  getStream: {
    reply: 'id: 7\nevent: campaign\ndata: {"topic":"campaign:12","state":{"sent":420,"total":1000}}\n\n',
  },
  getOwnUserMessageStream: {
    reply: `id: 41\nevent: unread\ndata: {"unread":1}\n\nid: 42\nevent: message\ndata: ${JSON.stringify(inbox)}\n\n`,
  },
}
