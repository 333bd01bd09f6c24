import { CarillonError, type components } from '@carillon/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type Autosave, ifVersion, type Stored as StoredDraft, useAutosave, versionOf } from '../../../parts/autosave.ts'
import { keyOf } from '../../../parts/data.ts'
import { useApi, useProject } from '../../../session/project.tsx'
import type { Campaign } from '../search.ts'
import { mjmlOf } from './blocks/document.ts'

const TEMPLATES = '/api/client/campaigns/{campaignId}/templates'
const TEMPLATE = '/api/client/campaigns/{campaignId}/templates/{locale}'
export const TEMPLATE_VERSIONS = '/api/client/campaigns/{campaignId}/templates/{locale}/versions'
export const TEMPLATE_VERSION = '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}'

/** The members of a template, of whatever channel. Every text may contain Liquid. */
export type Template = Record<string, unknown>
export type Variant = components['schemas']['CampaignTemplate']['variant']
export type Place = { locale: string; variant: Variant }

type Stored = components['schemas']['CampaignTemplate'][]

export const HTML_START = `<h1>{{ user.data.first_name | default: "Hello" }}</h1>
<p>Write your message here.</p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>
`
/** MJML that opens as blocks. */
export const MJML_START = mjmlOf([
  { id: 1, is: 'heading', values: { text: '{{ user.data.first_name | default: "Hello" }}' } },
  { id: 2, is: 'text', values: { text: 'Write your message here.' } },
  { id: 3, is: 'footer', values: { text: 'You get this because you subscribed.', label: 'Unsubscribe' } },
])

/** What an editor begins with. It is saved with the first change. */
const STARTS: Record<Campaign['channel'], Template> = {
  email: { subject: '', html: HTML_START },
  text: { body: '' },
  push: { title: '', body: '' },
  in_app: { type: 'inbox', title: '', body: '' },
  webhook: { method: 'POST', endpoint: '', body: '' },
}

export const isAt =
  ({ locale, variant }: Place) =>
  (template: Stored[number]) =>
    template.locale === locale && template.variant === variant

const storedOf = (template: Stored[number]): StoredDraft<Template> => ({ value: template.data as Template, version: versionOf(template) })

/** The template of a place, saved as it changes. */
export function useTemplate({ id, channel }: Campaign, place: Place, stored: Stored, isLocked: boolean): Autosave<Template> {
  const api = useApi()
  const project = useProject()
  const client = useQueryClient()
  const { locale, variant } = place
  const reload = useCallback(async () => {
    try {
      return storedOf(await api.get(TEMPLATE, { path: { campaignId: id, locale }, query: { variant } }))
    } catch (error) {
      if (error instanceof CarillonError && error.status === 404) return { value: STARTS[channel], version: null }
      throw error
    }
  }, [api, id, channel, locale, variant])
  const save = useCallback(
    async (data: Template, version: string | null) => {
      const saved = await api.put(TEMPLATE, {
        path: { campaignId: id, locale },
        query: { variant },
        body: data as components['schemas']['CampaignTemplateInput'],
        headers: ifVersion(version),
      })
      await client.invalidateQueries({ queryKey: keyOf(project.id, TEMPLATES) })
      for (const path of [TEMPLATE_VERSIONS, TEMPLATE_VERSION]) void client.invalidateQueries({ queryKey: keyOf(project.id, path) })
      return storedOf(saved)
    },
    [api, id, locale, variant, client, project.id],
  )
  const key = `${project.id}.template.${id}.${locale}.${variant}`
  return useAutosave({ key, stored: (stored.find(isAt(place))?.data as Template | undefined) ?? STARTS[channel], save, reload, isLocked })
}
