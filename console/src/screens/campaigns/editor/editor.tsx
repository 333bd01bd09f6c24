import type { components } from '@carillon/sdk'
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type RefObject, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import type { Part } from '../../../parts/lines.ts'
import { Loading } from '../../../parts/loading.tsx'
import { useLocalDrafts } from '../../../parts/local-drafts.ts'
import { Card } from '../../../parts/page.tsx'
import { SaveProblem, SaveState } from '../../../parts/save-state.tsx'
import { TabBar } from '../../../parts/tabs.tsx'
import { useMay, useProject } from '../../../session/project.tsx'
import { isLocale, spelledAs } from '../locales.ts'
import type { Campaign, TemplateSearch } from '../search.ts'
import { TextSizes } from '../text-sizes.tsx'
import { letterOf } from '../variants.ts'
import { Attachments } from './attachments.tsx'
import { plainOf } from './blocks/markup.ts'
import type { Template } from './channels/channel.ts'
import { Fields } from './fields.tsx'
import { useInlineImages } from './inline-images.ts'
import { PreviewPane } from './preview-pane.tsx'
import { HardUsers, UserPicker } from './preview-users.tsx'
import { Problems } from './problems.tsx'
import { draftsOf, isAt, type Place, useTemplate, type Variant } from './template.ts'
import { TestSend } from './test-send.tsx'
import { usePreview } from './use-preview.ts'
import { Versions } from './versions.tsx'

/** A preview is asked for when nothing was typed for so long, so that it is there within 400 ms of the last key. */
const TYPED_MS = 150
const MEASURED_MS = 1000

type Props = {
  campaign: Campaign
  /** Which template is open. */
  place: TemplateSearch
  onPlace: (place: TemplateSearch) => void
  /** Another member edits the campaign. */
  isLocked: boolean
  /** Gets what saves the last changes before the editor is left. */
  flush?: RefObject<(() => Promise<unknown>) | null>
}

/** The content of a campaign for each locale and variant, beside its preview. */
export function Editor({ campaign, place, onPlace, isLocked, flush }: Props) {
  const project = useProject()
  const { data, error, refetch } = useRead('/api/client/campaigns/{campaignId}/templates', { path: { campaignId: campaign.id } })
  const drafts = useLocalDrafts(draftsOf(project.id, campaign.id))
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const stored = data.results
  const variant = (place.variant ?? 'A') as Variant
  const wanted = place.locale ?? stored[0]?.locale ?? project.locale
  const spelled = spelledAs(
    wanted,
    stored.filter((template) => template.variant === variant).map(({ locale }) => locale),
  )
  // A draft of another spelling is one of before the template was stored.
  const locale = drafts.includes(`${wanted}.${variant}`) ? wanted : (spelled ?? wanted)
  return (
    <EditorOf
      key={`${locale} ${variant}`}
      campaign={campaign}
      stored={stored}
      place={{ locale, variant }}
      onPlace={onPlace}
      isLocked={isLocked}
      {...(flush && { flush })}
    />
  )
}

type OfProps = Omit<Props, 'place'> & { place: Place; stored: components['schemas']['CampaignTemplate'][] }

function EditorOf({ campaign, stored, place, onPlace, isLocked, flush }: OfProps) {
  const { t } = useTranslation('campaigns')
  const mayWrite = useMay(campaign.state === 'draft' ? 'editor' : 'publisher') && !isLocked
  const autosave = useTemplate(campaign, place, stored, isLocked)
  const { draft, change, state, saveNow, restore } = autosave
  const [user, setUser] = useState<string | null>(null)
  const [calm] = useDebouncedValue(draft, TYPED_MS)
  const preview = usePreview(campaign.id, {
    template: shownOf(calm) as components['schemas']['CampaignTemplateInput'],
    ...place,
    ...(user !== null && { user }),
  })
  const images = useInlineImages(campaign.id, place, campaign.channel === 'email' && stored.some(isAt(place)))
  useEffect(() => {
    if (!flush) return
    flush.current = async () => {
      if (state !== 'saved') await saveNow()
    }
    return () => {
      flush.current = null
    }
  }, [flush, state, saveNow])
  return (
    <>
      <SaveProblem autosave={autosave} wordsOf={wordsOf} />
      <div className="cols editor">
        <div className="stack">
          <Card
            title={t('editor.heading')}
            aside={<SaveState autosave={autosave} />}
            actions={<Places campaign={campaign} stored={stored} place={place} onPlace={onPlace} />}
          >
            <Fields
              campaign={campaign}
              template={draft}
              onChange={change}
              findings={preview.data?.findings ?? []}
              segments={preview.data?.segments}
              isReadOnly={!mayWrite}
            />
          </Card>
          {campaign.channel === 'text' && mayWrite && <Sizes campaign={campaign} place={place} draft={draft} />}
        </div>
        <div className="stack">
          <Card
            title={t('preview.heading')}
            actions={
              mayWrite && <TestSend campaign={campaign} place={place} user={user} beforeSend={saveNow} isSaved={state === 'saved'} />
            }
          >
            <div className="pad tight">
              <UserPicker user={user} onChange={setUser} />
              <HardUsers user={user} onChange={setUser} />
            </div>
            <PreviewPane channel={campaign.channel} preview={preview.data} images={images} />
          </Card>
          <Problems preview={preview.data} error={preview.error} />
          {campaign.channel === 'email' && stored.some(isAt(place)) && (
            <Attachments campaignId={campaign.id} place={place} mayWrite={mayWrite} />
          )}
          {stored.some(isAt(place)) && (
            <Versions campaignId={campaign.id} place={place} draft={draft} onRestore={mayWrite ? restore : undefined} />
          )}
        </div>
      </div>
    </>
  )
}

/** A thousand messages are rendered for it, so that it waits longer than the preview. */
function Sizes({ campaign, place, draft }: Pick<OfProps, 'campaign' | 'place'> & { draft: Template }) {
  const [template] = useDebouncedValue(draft, MEASURED_MS)
  if (!template.body) return null
  return <TextSizes campaignId={campaign.id} input={{ ...place, template: template as components['schemas']['CampaignTemplateInput'] }} />
}

/** Blocks that both have changed by what they say, unless that is the same. */
const wordsOf = ([name]: string[], part: Part): Part => {
  const words = { mine: plainOf(part.mine), theirs: plainOf(part.theirs) }
  return name === 'mjml' && words.mine !== words.theirs ? words : part
}

/** What is still to be written is shown as a dash, so that the rest has a preview. */
const shownOf = (template: Template): Template =>
  Object.fromEntries(
    Object.entries(template).map(([name, value]) => [name, value === '' && name !== 'text' && name !== 'preheader' ? '–' : value]),
  )

type PlacesProps = Pick<OfProps, 'campaign' | 'stored' | 'place' | 'onPlace'>

/** The locales of the campaign and, in an A/B test, its variants. */
function Places({ campaign: { variants }, stored, place, onPlace }: PlacesProps) {
  const { t, i18n } = useTranslation('campaigns')
  const [wanted, setWanted] = useState('')
  const names = new Intl.DisplayNames(i18n.language, { type: 'language' })
  const labelOf = (locale: string) => {
    try {
      return `${names.of(locale)} (${locale})`
    } catch {
      return locale
    }
  }
  const locales = [...new Set([...stored.map(({ locale }) => locale), place.locale])]
  const isNew = isLocale(wanted) && spelledAs(wanted, locales) === undefined
  return (
    <>
      <Select
        aria-label={t('editor.locale')}
        data={[
          ...locales.map((value) => ({ value, label: labelOf(value) })),
          ...(isNew ? [{ value: wanted, label: t('editor.addLocale', { locale: labelOf(wanted) }) }] : []),
        ]}
        value={place.locale}
        searchable
        allowDeselect={false}
        onSearchChange={setWanted}
        nothingFoundMessage={t('editor.typeLocale')}
        onChange={(locale) => locale && onPlace({ ...place, locale })}
      />
      {variants.length > 0 && (
        <TabBar
          isSmall
          label={t('variants.heading')}
          tabs={variants.map(({ name }, index) => {
            const variant = letterOf(index)
            return { id: variant, label: t('editor.variant', { variant, name }) }
          })}
          current={place.variant}
          onChange={(variant) => onPlace({ ...place, variant: variant as Variant })}
        />
      )}
    </>
  )
}
