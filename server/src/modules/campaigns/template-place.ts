/** How requests name a template: by its locale in the path, and its variant. */
import { Type } from 'typebox'
import { fault } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { isLocale, normaliseLocale } from '../../lib/locales.ts'
import { Exact } from '../../lib/shapes.ts'
import { type TemplatePlace, VariantName, variantName, variantNumber } from '../templates/index.ts'

const LOCALE_LENGTH_MAX = 255
export const templateLocale = {
  schema: Type.String({ minLength: 1, maxLength: LOCALE_LENGTH_MAX, description: 'A BCP 47 language tag.' }),
  read(text: string, name: string): string {
    if (text.length <= LOCALE_LENGTH_MAX && isLocale(text)) return normaliseLocale(text)
    throw fault('parameter_invalid_format', name, `The path parameter \`${name}\` must be a language tag such as \`en-AU\`.`)
  },
}

/** The template that a request names, for the audit log. */
export const placeIn = (params: Record<string, unknown>, query: unknown): TemplatePlace => ({
  campaignId: params.campaignId as CampaignId,
  locale: String(params.locale),
  variant: variantNumber((query as { variant?: string }).variant),
})

/** The id of a template in the audit log: campaign, locale and variant. */
export const templateIdOf = ({ campaignId, locale, variant }: TemplatePlace): string =>
  [campaignId, locale, ...(variantName(variant) === null ? [] : [variantName(variant)])].join('/')

export const templateQuery = Exact({ variant: Type.Optional(VariantName) })
