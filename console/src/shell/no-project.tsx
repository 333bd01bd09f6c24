import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useSignOut } from '../parts/sign-out.ts'
import { useSetTitle } from '../parts/title.ts'

/** The page for a member who has no role in any project. */
export function NoProject() {
  const { t } = useTranslation()
  useSetTitle(t('noProject.title'))
  const leave = useSignOut()
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
