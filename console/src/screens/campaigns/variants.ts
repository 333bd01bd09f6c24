/** The variants of an A/B test: their letters, and what became of their messages. Pure. */
import type { components, Reply } from '@carillon/sdk'

export type Letter = components['schemas']['CampaignTemplate']['variant']
type Report = Pick<Reply<'/api/client/campaigns/{campaignId}/delivery', 'get'>, 'states'>

/** The first variant is A. */
export const letterOf = (index: number): Letter => String.fromCharCode('A'.charCodeAt(0) + index) as Letter

/** The variant in a URL, if the campaign has it. */
export const variantIn = (variants: unknown[], letter: string | undefined): string | undefined =>
  variants.some((_, index) => letterOf(index) === letter) ? letter : undefined

/** The variants without a template. They would have nothing to send. */
export const withoutContent = (variants: unknown[], templates: { variant: Letter }[]): Letter[] =>
  variants.map((_, index) => letterOf(index)).filter((letter) => templates.every(({ variant }) => variant !== letter))

type Explained = Pick<components['schemas']['CampaignRecipientExplainReply'], 'messages' | 'now'>

/** The variant that a user got last, or would get now. */
export const variantOf = ({ messages, now }: Explained): Letter | undefined => messages[0]?.variant ?? now.variant ?? undefined

/** The templates that a campaign sends of those with a draft: its locales, and variants if it has some. A draft is named `locale.variant`. */
export function placesIn(variants: unknown[], drafts: string[]): { locale: string; variant: string }[] {
  const letters = variants.length > 0 ? variants.map((_, index): string => letterOf(index)) : ['A']
  return drafts
    .map((name) => name.split('.'))
    .flatMap(([locale = '', variant = '']) => (letters.includes(variant) ? [{ locale, variant }] : []))
}

/** The states of messages that a provider has accepted. */
const SENT: readonly string[] = ['sent', 'delivered', 'bounced', 'complained']

export type VariantSums = { letter: Letter; name: string; sent: number; opens: number; clicks: number }

/** What was sent of each variant, and what recipients did. */
export const sumsByVariant = (variants: { name: string }[], { states }: Report): VariantSums[] =>
  variants.map(({ name }, index) => {
    const letter = letterOf(index)
    const own = states.filter(({ variant }) => variant === letter)
    return {
      letter,
      name,
      sent: own.reduce((sum, { state, messages }) => sum + (SENT.includes(state) ? messages : 0), 0),
      opens: own.reduce((sum, { opens }) => sum + opens, 0),
      clicks: own.reduce((sum, { clicks }) => sum + clicks, 0),
    }
  })
