import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { archivedSearchOf } from '../../parts/archived-search.ts'
import { MESSAGE_STATES } from '../../parts/message-states.ts'
import { listSearchOf, textOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { monthOf } from './months.ts'
import { type CampaignSearch, type CampaignsSearch, STEPS, type TemplateSearch, type WizardSearch } from './search.ts'

type Given = Record<string, unknown>

const templateOf = ({ locale, variant }: Given): TemplateSearch => ({
  ...(typeof locale === 'string' && { locale }),
  ...(typeof variant === 'string' && { variant }),
})

const campaigns = createRoute({
  getParentRoute: () => projectRoute,
  path: 'campaigns',
  validateSearch: (search: Given): CampaignsSearch => {
    if (search.view !== 'calendar') return archivedSearchOf(search)
    const month = monthOf(search.month)
    return { view: 'calendar', ...(month && { month }) }
  },
  component: lazyRouteComponent(() => import('./campaigns.tsx'), 'Campaigns'),
})

const created = createRoute({
  getParentRoute: () => projectRoute,
  path: 'campaigns/new',
  component: lazyRouteComponent(() => import('./new-campaign.tsx'), 'NewCampaign'),
})

const campaign = createRoute({
  getParentRoute: () => projectRoute,
  path: 'campaigns/$campaignId',
  validateSearch: (search: Given): CampaignSearch => {
    const state = MESSAGE_STATES.find((name) => name === search.state)
    const user = textOf(search.user)
    return { ...listSearchOf(search), ...(state && { state }), ...(user !== undefined && { user }) }
  },
  component: lazyRouteComponent(() => import('./campaign.tsx'), 'CampaignPage'),
})

const wizard = createRoute({
  getParentRoute: () => projectRoute,
  path: 'campaigns/$campaignId/edit',
  validateSearch: (search: Given): WizardSearch => {
    const step = STEPS.find((name) => name === search.step)
    return { ...templateOf(search), ...(step && { step }) }
  },
  component: lazyRouteComponent(() => import('./wizard.tsx'), 'Wizard'),
})

const content = createRoute({
  getParentRoute: () => projectRoute,
  path: 'campaigns/$campaignId/content',
  validateSearch: templateOf,
  component: lazyRouteComponent(() => import('./content.tsx'), 'ContentPage'),
})

export const campaignRoutes = [campaigns, created, campaign, wizard, content] as const
