import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { AddSuppressions } from './add.tsx'

type Suppression = components['schemas']['Suppression']

const route = getRouteApi('/member/p/$project/suppressions')
const PATH = '/api/client/suppressions'

/** The addresses that get no messages, with the reason of each. */
export function Suppressions() {
  const { t } = useTranslation('suppressions')
  const search = route.useSearch()
  const mayAdd = useMay('editor')
  const [isAdding, setAdding] = useState(false)
  const [lifted, setLifted] = useState<Suppression | null>(null)
  const query = { ...search, limit: 50 }
  const suppressions = useRead(PATH, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        texts="suppressions"
        request={{ path: PATH, query }}
        columns={useColumns(setLifted)}
        rows={suppressions}
        search={search}
        action={mayAdd && <AddButton onClick={() => setAdding(true)}>{t('add.open')}</AddButton>}
      />
      <AddSuppressions isOpen={isAdding} onClose={() => setAdding(false)} />
      <Lift lifted={lifted} onClose={() => setLifted(null)} />
    </>
  )
}

/** What caused a suppression, as names with their values. */
const sourceOf = ({ source }: Suppression) =>
  Object.entries(source)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

function useColumns(onLift: (suppression: Suppression) => void): SavedColumn<Suppression>[] {
  const { t } = useTranslation('suppressions')
  const mayLift = useMay('admin')
  const lift: SavedColumn<Suppression> = {
    id: 'lift',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    cell: (suppression) => (
      <Button
        size="xs"
        variant="default"
        aria-label={t('lift.of', { address: suppression.address ?? t('erased') })}
        onClick={() => onLift(suppression)}
      >
        {t('lift.open')}
      </Button>
    ),
  }
  return [
    {
      id: 'address',
      label: t('column.address'),
      text: ({ address }) => address ?? t('erased'),
      also: [{ label: t('column.channel'), text: ({ channel }) => t(`channel.${channel}.name`) }],
      cell: ({ address, channel }) => (
        <>
          {address ?? t('erased')}
          <span className="r">{t(`channel.${channel}.name`)}</span>
        </>
      ),
    },
    {
      id: 'reason',
      label: t('column.reason'),
      text: ({ reason }) => reason,
      isWide: true,
      cell: ({ reason, stops_transactional }) => (
        <>
          <code>{reason}</code>
          <span className="r">
            {t(`reason.${reason}`)}
            {stops_transactional === false && ` ${t('transactional')}`}
          </span>
        </>
      ),
    },
    {
      id: 'source',
      label: t('column.source'),
      text: sourceOf,
      isExtra: true,
      cell: (suppression) => <span className="quiet xs">{sourceOf(suppression)}</span>,
    },
    {
      id: 'created',
      label: t('column.created'),
      text: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
      isExtra: true,
    },
    ...(mayLift ? [lift] : []),
  ]
}

/** Lifting a suppression lets messages leave again, so it is confirmed. */
function Lift({ lifted, onClose }: { lifted: Suppression | null; onClose: () => void }) {
  const { t } = useTranslation('suppressions')
  const address = lifted?.address ?? t('erased')
  const lift = useWrite(
    (api, { id }: Suppression) => api.delete('/api/client/suppressions/{suppressionId}', { path: { suppressionId: id } }),
    [PATH],
    () => {
      onClose()
      said(t('lift.done', { address }))
    },
  )
  return (
    <Confirm
      isOpen={lifted !== null}
      onClose={onClose}
      title={t('lift.title', { address })}
      action={t('lift.action')}
      isPending={lift.isPending}
      error={lift.error}
      onConfirm={() => lifted && lift.mutate(lifted)}
    >
      <p>{t('lift.about')}</p>
    </Confirm>
  )
}
