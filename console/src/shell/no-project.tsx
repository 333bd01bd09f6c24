import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSetTitle } from '../parts/title.ts'
import { queryClient } from '../session/query-client.ts'
import { signOut } from '../session/single-sign-on.ts'

/** The page for a member who has no role in any project. */
export function NoProject() {
  const { t } = useTranslation()
  useSetTitle(t('noProject.title'))
  const leave = async () => {
    const to = await signOut()
    queryClient.clear()
    location.assign(to)
  }
  return (
    <main className="alone">
      <h1>{t('noProject.title')}</h1>
      <p className="quiet">{t('noProject.about')}</p>
      <Button variant="default" onClick={() => void leave()}>
        {t('account.signOut')}
      </Button>
    </main>
  )
}
