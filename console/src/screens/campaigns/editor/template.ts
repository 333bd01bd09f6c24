import type { components } from '@carillon/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type Autosave, useAutosave } from '../../../parts/autosave.ts'
import { keyOf } from '../../../parts/data.ts'
import { useApi, useProject } from '../../../session/project.tsx'
import { changedElsewhere } from '../draft.ts'
import type { Campaign } from '../search.ts'

const TEMPLATES = '/api/client/campaigns/{campaignId}/templates'

/** The members of a template, of whatever channel. Every text may contain Liquid. */
export type Template = Record<string, unknown>
export type Variant = components['schemas']['CampaignTemplate']['variant']
export type Place = { locale: string; variant: Variant }

type Stored = components['schemas']['CampaignTemplate'][]

export const HTML_START = `<h1>{{ user.data.first_name | default: "Hello" }}</h1>
<p>Write your message here.</p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>
`
export const MJML_START = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text font-size="24px">{{ user.data.first_name | default: "Hello" }}</mj-text>
        <mj-text>Write your message here.</mj-text>
        <mj-text><a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`

/** What an editor begins with. It is saved with the first change. */
const STARTS: Record<Campaign['channel'], Template> = {
  email: { subject: '', html: HTML_START },
  text: { body: '' },
  push: { title: '', body: '' },
  in_app: { type: 'inbox', title: '', body: '' },
  webhook: { method: 'POST', endpoint: '', body: '' },
}

const isAt =
  ({ locale, variant }: Place) =>
  (template: Stored[number]) =>
    template.locale === locale && template.variant === variant

const storedOf = (template: Stored[number] | undefined, start: Template) => ({
  value: (template?.data as Template | undefined) ?? start,
  version: template === undefined ? '' : JSON.stringify(template.data),
})

/** The template of a place, saved as it changes. */
export function useTemplate({ id, channel }: Campaign, place: Place, stored: Stored): Autosave<Template> {
  const api = useApi()
  const project = useProject()
  const client = useQueryClient()
  const { locale, variant } = place
  const reload = useCallback(async () => {
    const { results } = await api.get(TEMPLATES, { path: { campaignId: id } })
    return storedOf(results.find(isAt({ locale, variant })), STARTS[channel])
  }, [api, id, channel, locale, variant])
  const save = useCallback(
    async (data: Template, version: string) => {
      if ((await reload()).version !== version) throw changedElsewhere()
      const saved = await api.put('/api/client/campaigns/{campaignId}/templates/{locale}', {
        path: { campaignId: id, locale },
        query: { variant },
        body: data as components['schemas']['CampaignTemplateInput'],
      })
      await client.invalidateQueries({ queryKey: keyOf(project.id, TEMPLATES) })
      return storedOf(saved, {})
    },
    [api, id, locale, variant, client, project.id, reload],
  )
  const key = `${project.id}.template.${id}.${locale}.${variant}`
  return useAutosave({ key, stored: storedOf(stored.find(isAt(place)), STARTS[channel]), save, reload })
}
