import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSetTitle } from '../parts/title.ts'
import { call } from '../session/api.ts'
import { queryClient } from '../session/query-client.ts'

/** What a member sees who has no role in any project. */
export function NoProject() {
  const { t } = useTranslation()
  useSetTitle(t('noProject.title'))
  const signOut = async () => {
    await call('POST', 'sign-out').catch(() => undefined)
    queryClient.clear()
    location.assign('/sign-in')
  }
  return (
    <main className="alone">
      <h1>{t('noProject.title')}</h1>
      <p className="quiet">{t('noProject.about')}</p>
      <Button variant="default" onClick={() => void signOut()}>
        {t('account.signOut')}
      </Button>
    </main>
  )
}
