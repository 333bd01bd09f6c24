import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { useMay } from '../../session/project.tsx'
import { SubscriptionForm } from './form.tsx'

type Subscription = components['schemas']['Subscription']

const route = getRouteApi('/member/p/$project/subscriptions')
const PATH = '/api/client/subscriptions'

/** The subscription types: what users can agree to. */
export function SubscriptionTypes() {
  const { t } = useTranslation('subscriptions')
  const search = route.useSearch()
  const mayChange = useMay('admin')
  const [edited, setEdited] = useState<Subscription | 'new' | null>(null)
  const query = { ...search, limit: 50 }
  const types = useRead(PATH, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        texts="subscriptions"
        request={{ path: PATH, query }}
        columns={useColumns(mayChange, setEdited)}
        rows={types}
        search={search}
        action={mayChange && <AddButton onClick={() => setEdited('new')}>{t('create.open')}</AddButton>}
      />
      <SubscriptionForm edited={edited} onClose={() => setEdited(null)} />
    </>
  )
}

function useColumns(mayChange: boolean, onEdit: (subscription: Subscription) => void): SavedColumn<Subscription>[] {
  const { t } = useTranslation('subscriptions')
  const edit: SavedColumn<Subscription> = {
    id: 'edit',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    cell: (subscription) => (
      <Button size="xs" variant="default" aria-label={t('edit.of', { name: subscription.name })} onClick={() => onEdit(subscription)}>
        {t('edit.open')}
      </Button>
    ),
  }
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [{ label: t('csv.description'), text: ({ description }) => description }],
      cell: ({ name, description }) => (
        <>
          {name}
          {description && <span className="r">{description}</span>}
        </>
      ),
    },
    { id: 'channel', label: t('column.channel'), text: ({ channel }) => t(`channel.${channel}.name`), isExtra: true },
    {
      id: 'begins',
      label: t('column.begins'),
      text: ({ default_state }) => (default_state === 1 ? 'subscribed' : 'unsubscribed'),
      cell: ({ default_state }) => <Chip state={default_state === 1 ? 'subscribed' : 'unsubscribed'} />,
      isExtra: true,
    },
    {
      id: 'kind',
      label: t('column.kind'),
      isWide: true,
      text: ({ is_public, is_transactional, requires_confirmation }) =>
        [
          t(is_public ? 'kind.public' : 'kind.private'),
          ...(is_transactional ? [t('kind.transactional')] : []),
          ...(requires_confirmation ? [t('kind.confirmed')] : []),
        ].join(' · '),
    },
    ...(mayChange ? [edit] : []),
  ]
}
