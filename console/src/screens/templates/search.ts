import type { components } from '@carillon/sdk'
import { type ListSearch, listSearchOf, textOf } from '../../parts/paging.ts'

export type ListedTemplate = components['schemas']['ListedTemplate']

export const TEMPLATES = '/api/client/templates'
export const CHANNELS = ['email', 'text', 'push', 'webhook', 'in_app'] as const satisfies readonly ListedTemplate['channel'][]

/** The search and the filters, which are members of the address. */
export type TemplateSearch = ListSearch & { channel?: (typeof CHANNELS)[number]; locale?: string; view?: 'pictures' }

/** Reads the address. */
export function templateSearchOf(search: Record<string, unknown>): TemplateSearch {
  const channel = CHANNELS.find((name) => name === search.channel)
  const locale = textOf(search.locale)
  return {
    ...listSearchOf(search),
    ...(channel && { channel }),
    ...(locale && { locale }),
    ...(search.view === 'pictures' && { view: 'pictures' }),
  }
}
