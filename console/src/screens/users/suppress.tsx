import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { ConfirmWrite } from '../../parts/confirm-write.tsx'
import type { User } from './columns.tsx'

type Input = components['schemas']['SuppressionInput']

const SUPPRESSIONS = '/api/client/suppressions'

/** The addresses of a user that can be suppressed. */
export const addressesOf = ({ email, phone }: User): Input[] => [
  ...(email ? [{ channel: 'email' as const, address: email }] : []),
  ...(phone ? [{ channel: 'text' as const, address: phone }] : []),
]

type Props = { users: User[]; isOpen: boolean; onClose: () => void }

/** Suppresses every address of some users: all of them or none. A page of users has no more addresses than one request takes. */
export function Suppress({ users, isOpen, onClose }: Props) {
  const { t } = useTranslation('users')
  const addresses = users.flatMap(addressesOf)
  const without = users.filter((user) => addressesOf(user).length === 0).length
  const left = without > 0 ? ` ${t('suppress.without', { count: without })}` : ''
  return (
    <ConfirmWrite
      isOpen={isOpen}
      onClose={onClose}
      title={t('suppress.title', { count: users.length })}
      action={t('suppress.action', { count: addresses.length })}
      write={(api) => api.post(SUPPRESSIONS, { body: addresses })}
      changes={[SUPPRESSIONS, '/api/client/users']}
      done={t('suppress.done', { done: users.length - without, count: users.length }) + left}
    >
      <p>
        {t('suppress.about')}
        {left}
      </p>
    </ConfirmWrite>
  )
}
