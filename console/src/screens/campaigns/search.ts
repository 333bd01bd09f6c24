import type { components } from '@carillon/sdk'
import type { ArchivedSearch } from '../../parts/archived-search.ts'
import type { MessageState } from '../../parts/message-states.ts'
import type { ListSearch } from '../../parts/paging.ts'

export type Campaign = components['schemas']['Campaign']

export const CAMPAIGNS = '/api/client/campaigns'
export const CAMPAIGN = '/api/client/campaigns/{campaignId}'

/** The address of the list, or of the calendar and its month. */
export type CampaignsSearch = ArchivedSearch & { view?: 'calendar'; month?: string }

/** The address of a campaign: what its table of recipients shows, and the recipient whose message is explained. */
export type CampaignSearch = ListSearch & { state?: MessageState; user?: string }

/** The steps of the wizard. */
export const STEPS = ['about', 'audience', 'content', 'delivery', 'schedule', 'review'] as const
export type Step = (typeof STEPS)[number]

/** The template that is open: its locale and, where the campaign has variants, one of them. */
export type TemplateSearch = { locale?: string; variant?: string }
export type WizardSearch = TemplateSearch & { step?: Step }
