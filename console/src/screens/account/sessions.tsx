import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useConsoleRead, useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { call } from '../../session/api.ts'
import { browserName } from './browser-name.ts'

type Listed = {
  id: number
  is_current: boolean
  address: string
  user_agent: string
  created_at: string
  used_at: string
  expires_at: string
}

/** Where the member is signed in, and the way to end each session. */
export function Sessions() {
  const { t } = useTranslation('account')
  const { data, error, isPending, refetch } = useConsoleRead<{ results: Listed[] }>('sessions')
  const end = useConsoleWrite((id: number) => call('DELETE', `sessions/${id}`))
  return (
    <Card title={t('sessions.heading')} className="after">
      {isPending && <Loading />}
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {end.error && <Failed error={end.error} />}
      {data && (
        <table className="rows" aria-label={t('sessions.heading')}>
          <thead>
            <tr>
              <th scope="col">{t('sessions.browser')}</th>
              <th scope="col">{t('sessions.address')}</th>
              <th scope="col">{t('sessions.used')}</th>
              <th scope="col">
                <span className="vh">{t('sessions.end')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.results.map(({ id, is_current, address, user_agent, used_at }) => (
              <tr key={id}>
                <th scope="row">{browserName(user_agent)}</th>
                <td>
                  <code>{address}</code>
                </td>
                <td>
                  <Time at={used_at} />
                </td>
                <td className="num">
                  {is_current ? (
                    <span className="quiet">{t('sessions.current')}</span>
                  ) : (
                    <Button size="xs" variant="default" onClick={() => end.mutate(id)}>
                      {t('sessions.end')}
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
