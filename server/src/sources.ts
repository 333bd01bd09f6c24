/** What messages are made of: the campaigns and templates, as the sender asks for them. */
import { chooseTemplate, contentOf, renderContent, requiredOf, sendingCampaigns, templatesOf } from './modules/campaigns/index.ts'
import type { Sources } from './modules/messages/index.ts'

export const sources: Sources = {
  campaignsOf: sendingCampaigns,
  templatesOf: async (ctx, ids) =>
    (await templatesOf(ctx, ids)).map((row) => ({ ...row, content: contentOf(row), required: requiredOf(row) })),
  chooseTemplate,
  renderContent,
}
