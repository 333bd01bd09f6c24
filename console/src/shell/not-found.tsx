import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

/** The page for a URL that does not exist. */
export function NotFound() {
  const { t } = useTranslation()
  return (
    <div className="alone">
      <h1>{t('notFound.title')}</h1>
      <p className="quiet">{t('notFound.about')}</p>
      <Button component={Link} to="/" variant="default">
        {t('notFound.home')}
      </Button>
    </div>
  )
}
