import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { Paging } from '../../parts/paging.ts'
import { Time } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { JOURNEYS, type Journey, VERSIONS } from './search.ts'

type Version = components['schemas']['JourneyVersion']

/** The versions of the journey: how many users are on each, how they differ, and a button that publishes an earlier one again. */
export function Versions({ journey: { id } }: { journey: Journey }) {
  const { t } = useTranslation('journeys')
  const [paging, setPaging] = useState<Paging>({})
  const [compared, setCompared] = useState<number>()
  const [again, setAgain] = useState<number>()
  const versions = useRead(VERSIONS, { path: { journeyId: id }, query: { ...paging, limit: 50 } })
  const publish = useWrite(
    (api, from_version: number) =>
      api.post('/api/client/journeys/{journeyId}/publish', { path: { journeyId: id }, body: { from_version } }),
    [JOURNEYS],
    ({ version }) => {
      setAgain(undefined)
      said(t('publish.done', { version }))
    },
  )
  return (
    <div className={compared === undefined ? 'cols' : 'cols main-side'}>
      <Card title={t('versions.heading')}>
        <DataTable
          label={t('versions.heading')}
          columns={useColumns({ onCompare: (version) => setCompared(version === compared ? undefined : version), onAgain: setAgain })}
          query={versions}
          rowKey={({ version }) => version}
          selected={compared}
          empty={<Empty>{t('versions.empty')}</Empty>}
          onPage={setPaging}
        />
      </Card>
      {compared !== undefined && <Difference key={compared} journeyId={id} version={compared} />}
      <Confirm
        isOpen={again !== undefined}
        onClose={() => setAgain(undefined)}
        title={t('versions.againTitle', { version: again ?? '' })}
        action={t('versions.again')}
        isDanger={false}
        isPending={publish.isPending}
        error={publish.error}
        onConfirm={() => again !== undefined && publish.mutate(again)}
      >
        <p>{t('versions.againAbout')}</p>
      </Confirm>
    </div>
  )
}

type Acts = { onCompare: (version: number) => void; onAgain: (version: number) => void }

function useColumns({ onCompare, onAgain }: Acts): Column<Version>[] {
  const { t } = useTranslation('journeys')
  const mayPublish = useMay('publisher')
  return [
    {
      id: 'version',
      label: t('versions.version'),
      cell: ({ version, status, note }) => (
        <>
          {version} <Chip state={status} />
          {note !== undefined && <span className="r">{note}</span>}
        </>
      ),
    },
    { id: 'users', label: t('versions.users'), isNumber: true, cell: ({ users }) => <Num value={users} /> },
    { id: 'moving', label: t('versions.moving'), isNumber: true, isExtra: true, cell: ({ moving }) => <Num value={moving} /> },
    {
      id: 'at',
      label: t('versions.at'),
      isNumber: true,
      isExtra: true,
      cell: ({ published_at, created_at }) => <Time at={published_at ?? created_at} />,
    },
    {
      id: 'actions',
      label: t('versions.actions'),
      isUnlabelled: true,
      isWide: true,
      cell: ({ version, status }) => (
        <span className="acts">
          <Button size="xs" variant="default" aria-label={t('versions.compareOf', { version })} onClick={() => onCompare(version)}>
            {t('versions.compare')}
          </Button>
          {mayPublish && status === 'past' && (
            <Button size="xs" variant="default" aria-label={t('versions.againOf', { version })} onClick={() => onAgain(version)}>
              {t('versions.again')}
            </Button>
          )}
        </span>
      ),
    },
  ]
}

/** How a version differs from the newest: the draft, or the live version. */
function Difference({ journeyId, version }: { journeyId: number; version: number }) {
  const { t } = useTranslation('journeys')
  const { data: newest } = useRead(VERSIONS, { path: { journeyId }, query: { limit: 1 } })
  const to = String(newest?.results[0]?.version ?? version)
  const { data, error } = useRead(
    '/api/client/journeys/{journeyId}/diff',
    { path: { journeyId }, query: { from: String(version), to } },
    { enabled: newest !== undefined, staleTime: 0 },
  )
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  const { added, removed, changed } = data
  return (
    <Card title={t('versions.difference', { from: version, to })}>
      {added.length + removed.length + changed.length === 0 && <p className="pad quiet sm">{t('versions.same')}</p>}
      <ul className="lines">
        {added.map((key) => (
          <li key={`+${key}`}>
            <code>{key}</code> <span className="tg">{t('versions.added')}</span>
          </li>
        ))}
        {removed.map((key) => (
          <li key={`-${key}`}>
            <code>{key}</code> <span className="tb">{t('versions.removed')}</span>
          </li>
        ))}
        {changed.map(({ step, at, from, to }) => (
          <li key={`${step} ${at}`}>
            <code>{[step, at].filter(Boolean).join('.')}</code>
            <span className="quiet">
              {JSON.stringify(from) ?? '–'} → {JSON.stringify(to) ?? '–'}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
