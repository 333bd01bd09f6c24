import type { components } from '@carillon/sdk'
import type { ListSearch } from '../../parts/paging.ts'

export type Campaign = components['schemas']['Campaign']
export type MessageState = components['schemas']['CampaignRecipient']['state']

export const CAMPAIGNS = '/api/client/campaigns'
export const CAMPAIGN = '/api/client/campaigns/{campaignId}'

/** The address of the list, or of the calendar and its month. */
export type CampaignsSearch = ListSearch & { view?: 'calendar'; month?: string }

/** The states of messages, in the order in which a filter offers them. */
export const MESSAGE_STATES = [
  'queued',
  'claimed',
  'deferred',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'unknown',
  'skipped',
  'failed',
  'aborted',
] as const satisfies readonly MessageState[]

/** The address of a campaign: what its table of recipients shows, and the recipient whose message is explained. */
export type CampaignSearch = ListSearch & { state?: MessageState; user?: string }

/** The steps of the wizard. */
export const STEPS = ['about', 'audience', 'content', 'delivery', 'schedule', 'review'] as const
export type Step = (typeof STEPS)[number]

/** The template that is open: its locale and, where the campaign has variants, one of them. */
export type TemplateSearch = { locale?: string; variant?: string }
export type WizardSearch = TemplateSearch & { step?: Step }
