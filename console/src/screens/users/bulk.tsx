import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { said } from '../../parts/toast.ts'
import { AddToList } from './add-to-list.tsx'
import type { User } from './columns.tsx'
import { EraseSeveral } from './erase-several.tsx'
import { addressesOf, Suppress } from './suppress.tsx'
import { UnsubscribeSeveral } from './unsubscribe-several.tsx'

type Props = { users: User[]; onClear: () => void }

/** What can be done with the users who are selected. The selection stays, so that one thing can follow another. */
export function Bulk({ users, onClear }: Props) {
  const { t } = useTranslation('users')
  const [open, setOpen] = useState<'list' | 'unsubscribe' | 'suppress' | 'erase' | null>(null)
  const isEmpty = users.length === 0
  const close = () => setOpen(null)
  const suppress = () => (users.flatMap(addressesOf).length === 0 ? said(t('suppress.none')) : setOpen('suppress'))
  return (
    <div className={isEmpty ? undefined : 'bulk'}>
      {/* Is there before anything is selected, so that screen readers read what changes in it. */}
      <output aria-live="polite" className={isEmpty ? 'vh' : undefined}>
        {!isEmpty && t('bulk.selected', { count: users.length })}
      </output>
      {!isEmpty && (
        <div className="acts">
          <Button size="xs" variant="default" onClick={() => setOpen('list')}>
            {t('toList.open')}
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpen('unsubscribe')}>
            {t('unsubscribe.open')}
          </Button>
          <Button size="xs" variant="default" onClick={suppress}>
            {t('suppress.open')}
          </Button>
          <Button size="xs" variant="outline" color="ember" onClick={() => setOpen('erase')}>
            {t('eraseSeveral.open')}
          </Button>
          <Button size="xs" variant="subtle" onClick={onClear}>
            {t('bulk.clear')}
          </Button>
        </div>
      )}
      <AddToList users={users} isOpen={open === 'list'} onClose={close} />
      <UnsubscribeSeveral users={users} isOpen={open === 'unsubscribe'} onClose={close} />
      <Suppress users={users} isOpen={open === 'suppress'} onClose={close} />
      <EraseSeveral users={users} isOpen={open === 'erase'} onClose={close} onErased={onClear} />
    </div>
  )
}
