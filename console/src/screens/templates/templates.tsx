import { Button } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { CHANNELS } from '../../parts/channels.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { TabBar } from '../../parts/tabs.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { Archive } from './archive.tsx'
import { Picture } from './picture.tsx'
import { type ListedTemplate, TEMPLATES } from './search.ts'
import './templates.css'

const route = getRouteApi('/member/p/$project/templates')

/** The templates of all campaigns, found by what they say. */
export function Templates() {
  const { t } = useTranslation('templates')
  const { view, ...search } = route.useSearch()
  const shown = view ? { view } : {}
  const navigate = useNavigate({ from: '/p/$project/templates' })
  const project = String(useProject().id)
  const mayWrite = useMay('editor')
  const query = { ...search, limit: 50, sort: 'updated_at' as const, direction: 'desc' as const }
  const templates = useRead(TEMPLATES, { query }, { keepsPrevious: true })
  const edit = (campaign: number) =>
    void navigate({
      to: '/p/$project/campaigns/$campaignId/edit',
      params: { project, campaignId: String(campaign) },
      search: { step: 'content' },
    })
  const copy = useWrite(
    (api, campaignId: number) => api.post('/api/client/campaigns/{campaignId}/duplicate', { path: { campaignId } }),
    ['/api/client/campaigns', TEMPLATES],
    ({ id }) => edit(id),
  )
  const create = mayWrite && (
    <AddButton onClick={() => void navigate({ to: '/p/$project/campaigns/new', params: { project } })}>{t('create')}</AddButton>
  )
  const locales = [...new Set([...(search.locale ? [search.locale] : []), ...(templates.data?.results ?? []).map(({ locale }) => locale)])]
  return (
    <>
      {copy.error && <Failed error={copy.error} />}
      <ListPage
        texts="templates"
        request={{ path: TEMPLATES, query }}
        columns={useColumns(mayWrite ? copy : null, view === 'pictures')}
        rows={templates}
        search={search}
        onSearch={(search, replace) => void navigate({ search: { ...search, ...shown }, replace })}
        filters={[
          { id: 'channel', label: t('column.channel'), values: CHANNELS.map((value) => ({ value, label: t(`channel.${value}.name`) })) },
          { id: 'locale', label: t('column.locale'), values: locales.sort().map((value) => ({ value, label: value })) },
        ]}
        tools={
          <TabBar
            label={t('view.label')}
            isSmall
            tabs={(['list', 'pictures'] as const).map((id) => ({ id, label: t(`view.${id}`) }))}
            current={view ?? 'list'}
            onChange={(id) => void navigate({ search: { ...search, ...(id === 'pictures' && { view: 'pictures' }) } })}
          />
        }
        action={create}
      />
    </>
  )
}

type Copy = { mutate: (campaignId: number) => void; isPending: boolean }

function useColumns(copy: Copy | null, hasPictures: boolean): SavedColumn<ListedTemplate>[] {
  const { t } = useTranslation('templates')
  const project = String(useProject().id)
  const columns: SavedColumn<ListedTemplate>[] = [
    {
      id: 'summary',
      label: t('column.summary'),
      text: ({ summary }) => summary || t('unnamed'),
      also: [
        { label: t('column.channel'), text: ({ channel }) => t(`channel.${channel}.name`) },
        { label: t('column.locale'), text: ({ locale }) => locale },
        { label: t('csv.variant'), text: ({ variant }) => variant },
      ],
      cell: ({ campaign_id, locale, variant, summary, channel }) => (
        <>
          <Link
            className="plain"
            to="/p/$project/campaigns/$campaignId/edit"
            params={{ project, campaignId: String(campaign_id) }}
            search={{ step: 'content', locale, variant }}
          >
            {summary || t('unnamed')}
          </Link>
          <span className="r">
            {t(`channel.${channel}.name`)} · {locale}
            {variant !== 'A' && ` · ${t('variant', { variant })}`}
          </span>
        </>
      ),
    },
    {
      id: 'used',
      label: t('column.used'),
      text: ({ campaign_name }) => campaign_name,
      also: [
        { label: t('csv.state'), text: ({ campaign_state }) => campaign_state },
        { label: t('csv.journeys'), text: ({ journeys }) => journeys.map(({ name }) => name).join(', ') },
      ],
      cell: ({ campaign_id, campaign_name, campaign_state, journeys }) => (
        <span className="chips">
          <Link className="plain" to="/p/$project/campaigns/$campaignId" params={{ project, campaignId: String(campaign_id) }}>
            {campaign_name}
          </Link>{' '}
          <Chip state={campaign_state} />
          {journeys.map(({ id, name }) => (
            <Link key={id} className="plain" to="/p/$project/journeys/$journeyId" params={{ project, journeyId: String(id) }}>
              {t('journey', { name })}
            </Link>
          ))}
        </span>
      ),
      isWide: true,
    },
    {
      id: 'edited',
      label: t('column.edited'),
      text: ({ updated_at }) => updated_at,
      isNumber: true,
      isExtra: true,
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
  const picture = {
    id: 'picture',
    label: t('column.picture'),
    hasNoData: true as const,
    isWide: true,
    cell: (template: ListedTemplate) => <Picture template={template} />,
  }
  // The first column is the heading of its row.
  const shown = hasPictures ? columns.toSpliced(1, 0, picture) : columns
  if (!copy) return shown
  return [
    ...shown,
    {
      id: 'actions',
      label: t('column.actions'),
      isUnlabelled: true,
      isNumber: true,
      isWide: true,
      cell: (template) => <Actions template={template} copy={copy} />,
    },
  ]
}

/** What may be done with the campaign of a template. */
function Actions({ template, copy }: { template: ListedTemplate; copy: Copy }) {
  const { t } = useTranslation('templates')
  const { campaign_id, campaign_name, campaign_state, locale } = template
  // A campaign that was launched is archived by those who may launch it.
  const mayArchive = useMay(campaign_state === 'draft' ? 'editor' : 'publisher')
  const [isArchiving, setArchiving] = useState(false)
  return (
    <span className="chips row-acts">
      <Button
        size="xs"
        variant="default"
        loading={copy.isPending}
        aria-label={t('copyOf', { name: campaign_name })}
        onClick={() => copy.mutate(campaign_id)}
      >
        {t('copy')}
      </Button>
      {mayArchive && (
        <Button
          size="xs"
          variant="default"
          aria-label={t('archive.of', { name: campaign_name, locale })}
          onClick={() => setArchiving(true)}
        >
          {t('archive.open')}
        </Button>
      )}
      <Archive template={template} isOpen={isArchiving} onClose={() => setArchiving(false)} />
    </span>
  )
}
