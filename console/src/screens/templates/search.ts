import type { components } from '@carillon/sdk'
import { CHANNELS, type Channel } from '../../parts/channels.ts'
import { type ListSearch, listSearchOf, textOf } from '../../parts/paging.ts'

export type ListedTemplate = components['schemas']['ListedTemplate']

export const TEMPLATES = '/api/client/templates'

/** The search and the filters, which are members of the address. */
export type TemplateSearch = ListSearch & { channel?: Channel; locale?: string; view?: 'pictures' }

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
