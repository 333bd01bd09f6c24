import { CarillonError, type components } from '@carillon/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { type Autosave, ifVersion, type Stored as StoredDraft, useAutosave, versionOf } from '../../../parts/autosave.ts'
import { keyOf } from '../../../parts/data.ts'
import { said } from '../../../parts/toast.ts'
import { useApi, useProject } from '../../../session/project.tsx'
import type { Campaign } from '../search.ts'
import type { Template } from './channels/channel.ts'
import { channels } from './channels/index.ts'

const TEMPLATES = '/api/client/campaigns/{campaignId}/templates'
const TEMPLATE = '/api/client/campaigns/{campaignId}/templates/{locale}'
export const TEMPLATE_VERSIONS = '/api/client/campaigns/{campaignId}/templates/{locale}/versions'
export const TEMPLATE_VERSION = '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}'

const RESTORE = '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}/restore'

export type Variant = components['schemas']['CampaignTemplate']['variant']
export type Place = { locale: string; variant: Variant }

type Stored = components['schemas']['CampaignTemplate'][]

export const isAt =
  ({ locale, variant }: Place) =>
  (template: Stored[number]) =>
    template.locale === locale && template.variant === variant

const storedOf = (template: Stored[number]): StoredDraft<Template> => ({ value: template.data as Template, version: versionOf(template) })

/** How the names of drafts of the templates of a campaign begin. */
export const draftsOf = (projectId: number, campaignId: number): string => `${projectId}.template.${campaignId}.`

type Restore = {
  /** Replaces the draft by an earlier version, and saves that as a version of its own. What was typed before is saved first: if it cannot be, it stays. */
  restore: (version: number, data: Template) => Promise<void>
}

/** The template of a place, saved as it changes. */
export function useTemplate(
  { id, channel, state }: Campaign,
  place: Place,
  stored: Stored,
  isLocked: boolean,
): Autosave<Template> & Restore {
  const { t } = useTranslation('campaigns')
  const api = useApi()
  const project = useProject()
  const client = useQueryClient()
  const { locale, variant } = place
  const restored = useRef<{ version: number; data: Template } | null>(null)
  const reload = useCallback(async () => {
    try {
      return storedOf(await api.get(TEMPLATE, { path: { campaignId: id, locale }, query: { variant } }))
    } catch (error) {
      if (error instanceof CarillonError && error.status === 404) return { value: channels[channel].start, version: null }
      throw error
    }
  }, [api, id, channel, locale, variant])
  const save = useCallback(
    async (data: Template, version: string | null) => {
      const path = { campaignId: id, locale }
      const given = { query: { variant }, headers: ifVersion(version) }
      const saved =
        restored.current?.data === data
          ? await api.post(RESTORE, { path: { ...path, version: restored.current.version }, ...given })
          : await api.put(TEMPLATE, { path, body: data as components['schemas']['CampaignTemplateInput'], ...given })
      await client.invalidateQueries({ queryKey: keyOf(project.id, TEMPLATES) })
      for (const path of [TEMPLATE_VERSIONS, TEMPLATE_VERSION]) void client.invalidateQueries({ queryKey: keyOf(project.id, path) })
      return storedOf(saved)
    },
    [api, id, locale, variant, client, project.id],
  )
  const autosave = useAutosave({
    key: `${draftsOf(project.id, id)}${locale}.${variant}`,
    stored: (stored.find(isAt(place))?.data as Template | undefined) ?? channels[channel].start,
    save,
    reload,
    isLocked,
    isLive: state !== 'draft',
  })
  const restore = async (number: number, data: Template) => {
    if (autosave.state !== 'saved' && !(await autosave.saveNow())) return said(t('versions.unsaved', { number }))
    restored.current = { version: number, data }
    autosave.change(data)
    await autosave.saveNow()
  }
  return { ...autosave, restore }
}
