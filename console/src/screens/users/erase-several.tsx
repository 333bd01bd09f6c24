import { CarillonError } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import type { User } from './columns.tsx'
import { forEach } from './several.ts'

type Props = { users: User[]; isOpen: boolean; onClose: () => void; onErased: () => void }

/** One that is erased already is what was wanted. */
const isGone = (error: unknown) => error instanceof CarillonError && error.status === 404

/** Erases several users. It cannot be undone, so their number is typed first. */
export function EraseSeveral({ users, isOpen, onClose, onErased }: Props) {
  const { t } = useTranslation('users')
  const erase = useWrite(
    (api, users: User[]) =>
      forEach(users, ({ external_id: userId }) =>
        api.delete('/api/client/users/{userId}', { path: { userId } }).catch((error: unknown) => {
          if (!isGone(error)) throw error
        }),
      ),
    ['/api/client/users'],
    ({ done, error }, { length: count }) => {
      said(t('eraseSeveral.done', { done: done.length, count }))
      if (error !== undefined) return
      onClose()
      onErased()
    },
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('eraseSeveral.title', { count: users.length })}
      action={t('eraseSeveral.action', { count: users.length })}
      typed={String(users.length)}
      isPending={erase.isPending}
      error={erase.error ?? erase.data?.error}
      onConfirm={() => erase.mutate(users)}
    >
      <p>{t('eraseSeveral.about')}</p>
    </Confirm>
  )
}
