import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { call } from '../../session/api.ts'
import { addPasskey, canUsePasskeys } from '../../session/passkeys.ts'
import { useAccountRead, useAccountWrite } from './data.ts'

type Passkey = { id: number; name: string; created_at: string; used_at: string | null }

/** The passkeys of the member. */
export function Passkeys() {
  const { t } = useTranslation('account')
  const { data, error } = useAccountRead<{ results: Passkey[] }>('passkeys')
  const add = useAccountWrite(() => addPasskey(navigator.platform || t('passkeys.unnamed')))
  const remove = useAccountWrite((id: number) => call('DELETE', `passkeys/${id}`))
  const failed = error ?? add.error ?? remove.error
  return (
    <Card title={t('passkeys.heading')}>
      {failed && <Failed error={failed} />}
      <ul className="lines">
        {data?.results.map(({ id, name, created_at }) => (
          <li key={id}>
            <span>
              {name}
              <span className="r">
                {t('passkeys.added')} <Time at={created_at} />
              </span>
            </span>
            <Button size="xs" variant="default" onClick={() => remove.mutate(id)} aria-label={t('passkeys.remove', { name })}>
              {t('remove')}
            </Button>
          </li>
        ))}
      </ul>
      <div className="pad form">
        <p className="quiet sm">{t(canUsePasskeys() ? 'passkeys.about' : 'passkeys.none')}</p>
        {canUsePasskeys() && (
          <div>
            <Button variant="default" loading={add.isPending} onClick={() => add.mutate(undefined)}>
              {t('passkeys.add')}
            </Button>
          </div>
        )}
      </div>
    </Card>
  )
}
