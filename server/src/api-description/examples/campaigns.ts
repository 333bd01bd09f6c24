/** Campaigns, templates, preflights and recipients. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { CHANGED, CLICKED, OPENED, of, SENT, since } from './times.ts'

const input = {
  type: 'blast',
  name: 'Spring sale',
  subscription_id: 1,
  tags: ['sale'],
  send_in_user_timezone: true,
}

const draft = {
  ...of(7),
  type: 'blast',
  name: 'Spring sale',
  slug: 'spring-sale',
  channel: 'email',
  subscription_id: 1,
  state: 'draft',
  list_ids: [],
  exclusion_list_ids: [],
  tags: ['sale'],
  send_in_user_timezone: true,
  expires_after_hours: 72,
  holdout_percent: 0,
  variants: [],
  delivery: { sent: 0, total: 0, opens: 0, clicks: 0, bounced: 0 },
  ...since,
}

const running = {
  ...draft,
  list_ids: [12],
  send_at: '2026-11-24T09:00:00.000',
  state: 'running',
  started_at: SENT,
  delivery: { sent: 802, total: 812, opens: 311, clicks: 74, bounced: 6 },
  updated_at: SENT,
}

const content = {
  subject: 'Spring sale: 20% off',
  html: '<p>Hello {{ user.data.first_name }}</p><p><a href="https://shop.example.com/sale">See the sale</a></p><p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
}

const rendered = {
  subject: 'Spring sale: 20% off',
  html: '<p>Hello Kim</p><p><a href="https://shop.example.com/sale">See the sale</a></p><p><a href="https://example.com/unsubscribe">Unsubscribe</a></p>',
  text: 'Hello Kim\n\nSee the sale (https://shop.example.com/sale)\n\nUnsubscribe (https://example.com/unsubscribe)',
}

const template = { id: 31, campaign_id: 7, locale: 'en-AU', variant: 'A', data: content, ...since }

const PNG = 'iVBORw0KGgo='

const image = {
  name: 'logo.png',
  content_type: 'image/png',
  content_id: 'logo',
  size_bytes: 8,
}

const finding = {
  kind: 'missing_alt',
  severity: 'warning',
  param: 'html',
  line: 4,
  message: 'The image has no `alt` text, which is shown or read out when the image is not displayed. Use `alt=""` for decorative images.',
}

const message = {
  id: 88214,
  state: 'delivered',
  reason: null,
  detail: null,
  variant: null,
  attempts: 1,
  provider: 'smtp',
  due_at: SENT,
  settled_at: SENT,
  opened_at: OPENED,
  clicked_at: CLICKED,
}

const preflight = {
  id: 5,
  campaign_id: 7,
  state: 'running',
  people_total: 812,
  people_done: 0,
  counts: [],
  problems: [],
  created_at: CHANGED,
  finished_at: null,
}

const version = { number: 3, saved_at: CHANGED, saved_by: { type: 'member', id: 4, name: 'Mia Tan' } }

const listed = {
  id: 31,
  campaign_id: 7,
  campaign_name: 'Spring sale',
  campaign_state: 'running',
  channel: 'email',
  locale: 'en-AU',
  variant: 'A',
  summary: 'Nearly out of beans, {{ user.data.name }}?',
  journeys: [{ id: 3, name: 'Welcome' }],
  updated_at: CHANGED,
}

export const campaignExamples = {
  CampaignTextSizeInput: { locale: 'en-AU', template: { body: 'Hi {{ user.data.first_name }}, 10 % off until Sunday: shop.example.com' } },
  TextSizes: {
    users: 1000,
    failed: 0,
    unicode: 12,
    characters: { p50: 148, max: 171 },
    segments: { p50: 1, max: 2 },
    shares: [
      { segments: 1, users: 941, share: 0.941 },
      { segments: 2, users: 59, share: 0.059 },
    ],
    longest: { external_id: 'ana', characters: 171, segments: 2 },
    recipients: 4120,
    cost: { currency: 'AUD', per_message: 0.05295, total: 218.154 },
  },
  ListedTemplate: listed,
  Campaign: running,
  CampaignInput: input,
  CampaignChanges: { name: 'Spring sale, second week', expires_after_hours: 48 },
  CampaignLink: { id: 61, url: 'https://shop.example.com/sale', position: 1, clicks: 80, people: 74, machine_clicks: 12 },
  CampaignLinkList: {
    results: [{ id: 61, url: 'https://shop.example.com/sale', position: 1, clicks: 80, people: 74, machine_clicks: 12 }],
    opens: { total: 402, proxied: 208, machine: 31 },
  },
  CampaignLint: { locale: 'en-AU', variant: 'A', findings: [finding] },
  CampaignTemplate: template,
  CampaignTemplateVersion: version,
  CampaignTemplateReply: { ...template, findings: [] },
  TemplateAttachment: { ...image, updated_at: SENT },
  TemplateAttachmentWhole: { ...image, content: PNG, updated_at: SENT },
  TemplateAttachmentInput: { content_type: 'image/png', content: PNG, content_id: 'logo' },
  CampaignPreviewInput: { locale: 'en-AU', user: 'customer-1042' },
  CampaignPreviewReply: {
    locale: 'en-AU',
    variant: 'A',
    content: rendered,
    size_bytes: 148,
    attachments: [{ ...image, content: PNG }],
    findings: [],
  },
  CampaignTest: {
    to: 'ana@example.com',
    outcome: 'accepted',
    provider: 'smtp',
    content: { to: 'ana@example.com', ...rendered, subject: '[Test] Spring sale: 20% off' },
  },
  CampaignTestInput: { to: ['ana@example.com'], as: 'customer-1042' },
  CampaignTriggerInput: { external_id: 'customer-1042', data: { total: 89.9 }, key: 'order-5512' },
  CampaignTriggerReply: { message_id: 88214 },
  CampaignRecipient: { user: { id: 1042, external_id: 'customer-1042' }, ...message },
  CampaignRecipientExplainReply: {
    user: { id: 1042, external_id: 'customer-1042' },
    summary: `The message was given to \`smtp\` at ${SENT} and was delivered.`,
    in_audience: true,
    lists: [{ id: 12, name: 'Pro customers', member: true }],
    exclusion_lists: [],
    consent: { subscription_id: 1, state: 1, consent_id: 9, is_transactional: false, requires_confirmation: false },
    suppression: null,
    now: { reason: null, variant: null },
    messages: [{ ...message, cause: 'campaign:7:user:1042', consent_id: 9, created_at: SENT }],
  },
  CampaignDeliveryReply: {
    total: 812,
    pending: 0,
    sent: 802,
    opens: 311,
    clicks: 74,
    bounced: 6,
    unsubscribed: 4,
    states: [
      { state: 'delivered', reason: null, variant: null, messages: 796, opens: 311, clicks: 74 },
      { state: 'bounced', reason: 'hard_bounce', variant: null, messages: 6, opens: 0, clicks: 0 },
      { state: 'skipped', reason: 'unsubscribed', variant: null, messages: 10, opens: 0, clicks: 0 },
    ],
  },
  CampaignPreflightReply: {
    ...preflight,
    state: 'finished',
    people_done: 812,
    counts: [
      { state: 'queued', reason: null, people: 802 },
      { state: 'skipped', reason: 'unsubscribed', people: 10 },
    ],
    finished_at: CHANGED,
  },
}

export const campaignOperations: Words['operations'] = {
  createCampaign: { reply: draft },
  updateCampaign: { reply: { ...draft, name: 'Spring sale, second week', expires_after_hours: 48, updated_at: CHANGED } },
  duplicateCampaign: { reply: { ...draft, id: 8 } },
  pauseCampaign: { reply: { ...running, paused_at: OPENED } },
  setCampaignTemplate: { body: content },
  getCampaignTemplateVersion: { reply: { ...version, data: content } },
  createCampaignPreflight: { reply: preflight },
}
