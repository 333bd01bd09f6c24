import type { InTx, ProjectCtx } from '../../../infra/ctx.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import type { Channel } from '../../../lib/shapes.ts'
import type { SendingCampaign } from '../decide.ts'

/** A template as it is sent: `content` is what was compiled when it was saved. */
export type SendingTemplate = {
  id: number
  campaign_id: CampaignId
  locale: string
  variant: number
  updated_at: Date
  content: Record<string, unknown>
  required: readonly string[]
}

/** What messages are made of, kept by modules that stand above this one. */
export type Sources = {
  /** Those that are there; archived ones are not. Held so that nobody can stop them meanwhile, when asked. */
  campaignsOf(ctx: ProjectCtx | InTx, ids: CampaignId[], hold?: 'share'): Promise<SendingCampaign[]>
  templatesOf(ctx: ProjectCtx, ids: CampaignId[]): Promise<SendingTemplate[]>
  /** The template for a person's locale and the variant that fell to them. */
  chooseTemplate(
    templates: readonly SendingTemplate[],
    userLocale: string | null,
    projectLocale: string,
    variant: number,
  ): SendingTemplate | undefined
  /** Fills in every string of a template's content; throws `LiquidError`. */
  renderContent(
    channel: Channel,
    content: Record<string, unknown>,
    scope: Record<string, unknown>,
    required: readonly string[],
  ): Record<string, unknown>
}
