/** What a campaign needs before it is launched, and what is worth a look. Pure. */
import type { components } from '@carillon/sdk'
import type { Draft } from '../draft.ts'
import { type Preflight, reachedBy } from '../funnel.tsx'
import type { Campaign, TemplateSearch } from '../search.ts'
import { placesIn, withoutContent } from '../variants.ts'
import { passedIn } from './launch.ts'

type Schemas = components['schemas']

/** `blocking`: the server would refuse the launch. */
export type Check = {
  id: string
  is: 'passed' | 'warning' | 'error' | 'blocking'
  about?: string
  params?: Record<string, string | number>
  /** The template that it is about, which can be opened. */
  place?: TemplateSearch
}

type Given = {
  /** By the clock of the server. */
  now: number
  campaign: Campaign
  draft: Draft
  templates: Schemas['CampaignTemplate'][]
  lints: Schemas['CampaignLint'][]
  preflight: Preflight | undefined
  /** The templates with a draft that the server does not have yet: `locale.variant`. */
  unsaved: string[]
}

export function checksOf({ now, campaign: { type, channel }, draft, templates, lints, preflight, unsaved }: Given): Check[] {
  const findings = lints.flatMap(({ locale, findings }) => findings.map((finding) => ({ ...finding, locale })))
  const { list_ids: lists = [] } = draft
  const passedZones = passedIn(draft, now)
  const isClean = templates.length > 0 && findings.length === 0
  return [
    ...(type === 'blast' ? [lists.length > 0 ? passed('lists') : blocking('noList')] : []),
    ...(type === 'trigger' ? [draft.event_name ? passed('event') : warning('noEvent')] : []),
    ...unsavedChecks(draft.variants ?? [], unsaved),
    ...contentChecks(draft.variants ?? [], templates),
    ...findings.map(({ severity, message, locale, param }): Check => {
      const about = `${locale} · ${param}`
      return { id: 'finding', is: severity === 'error' ? 'error' : 'warning', about, params: { message } }
    }),
    ...(isClean ? [passed(channel === 'email' ? 'cleanEmail' : 'clean')] : []),
    ...(preflight?.problems ?? []).map(({ message, people: count, users, kind }): Check => {
      const about = users.map(({ external_id }) => external_id).join(', ')
      return { id: 'problem', is: kind === 'empty_variable' ? 'warning' : 'error', about, params: { message, count } }
    }),
    ...(preflight && preflight.problems.length === 0 ? [passed('rendered')] : []),
    ...(preflight && reachedBy(preflight) === 0 ? [warning('reachesNone')] : []),
    ...(passedZones === 'none' ? [] : [warning(passedZones === 'all' ? 'past' : 'pastInSome')]),
  ]
}

/** What would be launched is not what the member has written. */
const unsavedChecks = (variants: unknown[], unsaved: string[]): Check[] =>
  placesIn(variants, unsaved).map(({ locale, variant }) =>
    variants.length > 0
      ? { id: 'unsaved', is: 'blocking', about: `${locale} · ${variant}`, place: { locale, variant } }
      : { id: 'unsaved', is: 'blocking', about: locale, place: { locale } },
  )

function contentChecks(variants: unknown[], templates: Given['templates']): Check[] {
  if (templates.length === 0) return [blocking('noContent')]
  const missing = withoutContent(variants, templates)
  if (missing.length === 0) return [passed('content')]
  return [{ id: 'noVariant', is: 'blocking', params: { letters: missing.join(', ') } }]
}

const passed = (id: string): Check => ({ id, is: 'passed' })
const warning = (id: string): Check => ({ id, is: 'warning' })
const blocking = (id: string): Check => ({ id, is: 'blocking' })
